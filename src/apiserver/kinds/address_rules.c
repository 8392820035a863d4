/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_rules.c: networks as addresses with the length of a prefix, and addresses that mean
 * something on every machine and so cannot be somewhere else.
 */
#include "apiserver/kinds/address_rules.h"

#include <arpa/inet.h>
#include <string.h>

/* 4 or 6; 0: it is none. */
static int parse_ip(kc_str text, unsigned char ret[16])
{
    char copy[INET6_ADDRSTRLEN];
    if (!text.n || text.n >= sizeof(copy))
        return 0;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    if (inet_pton(AF_INET, copy, ret) == 1)
        return 4;
    return inet_pton(AF_INET6, copy, ret) == 1 ? 6 : 0;
}

bool kc__address_valid(kc_str text)
{
    unsigned char address[16];
    return parse_ip(text, address) != 0;
}

bool kc__address_is_v6(kc_str text)
{
    unsigned char address[16];
    return parse_ip(text, address) == 6;
}

bool kc__network_parse(kc_str text, kc__network *ret)
{
    kc_str bits = text, address = kc_str_cut(&bits, '/');
    kc__network network = {0};
    uint64_t number;
    int family = parse_ip(address, network.address);
    if (!family || !bits.p || !kc_str_to_u64(bits, &number) || number > (family == 6 ? 128 : 32))
        return false;
    network.six = family == 6;
    network.bits = (int)number;
    *ret = network;
    return true;
}

bool kc__network_within(const kc__network *outer, const kc__network *inner)
{
    if (outer->six != inner->six || outer->bits >= inner->bits)
        return false;
    for (int i = 0; i < outer->bits; i++) {
        int mask = 0x80 >> (i % 8);
        if ((outer->address[i / 8] & mask) != (inner->address[i / 8] & mask))
            return false;
    }
    return true;
}

void kc__check_cidr(const kc__place *network)
{
    kc__network parsed;
    if (!kc__network_parse(kc__text(network), &parsed))
        kc__wrong(network, KC_FIELD_INVALID,
                  "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
}

static bool in_network(kc_str ip, const char *network)
{
    kc__network outer, inner = {0};
    int family = parse_ip(ip, inner.address);
    inner.six = family == 6;
    inner.bits = 129;
    return family && kc__network_parse(kc_cstr(network), &outer) &&
           kc__network_within(&outer, &inner);
}

void kc__check_ordinary_ip(const kc__place *ip)
{
    static const struct {
        const char *four, *six, *why;
    } special[] = {
        {"127.0.0.0/8", "::1/128", "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
        {"169.254.0.0/16", "fe80::/10",
         "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
        {"224.0.0.0/24", "ff02::/16",
         "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"}};
    if (!kc__address_valid(kc__text(ip))) {
        kc__wrong(ip, KC_FIELD_INVALID, "must be a valid IP address");
        return;
    }
    if (kc__text_is(ip, "0.0.0.0") || kc__text_is(ip, "::"))
        kc__wrong(ip, KC_FIELD_INVALID, "may not be unspecified (%.*s)", KC_ARG(kc__text(ip)));
    for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
        if (in_network(kc__text(ip), special[i].four) || in_network(kc__text(ip), special[i].six))
            kc__wrong(ip, KC_FIELD_INVALID, "%s", special[i].why);
}
