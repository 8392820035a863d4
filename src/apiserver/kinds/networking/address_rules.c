/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_rules.c: parses and validates networks in CIDR notation, and rejects addresses with a
 * special meaning on every machine, such as loopback, which cannot be those of an endpoint.
 */
#include "apiserver/kinds/networking/address_rules.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* Returns the family, 4 or 6; 0 if the text is no address. */
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

bool kc__validate_address_is_valid(kc_str text)
{
    unsigned char address[16];
    return parse_ip(text, address) != 0;
}

bool kc__validate_address_is_v6(kc_str text)
{
    unsigned char address[16];
    return parse_ip(text, address) == 6;
}

bool kc__cidr_parse(kc_str text, kc__cidr *ret)
{
    kc_str bits = text, address = kc_str_cut(&bits, '/');
    kc__cidr network = {0};
    uint64_t number;
    int family = parse_ip(address, network.address);
    if (!family || !bits.p || !kc_str_to_u64(bits, &number) || number > (family == 6 ? 128 : 32))
        return false;
    network.six = family == 6;
    network.bits = (int)number;
    *ret = network;
    return true;
}

bool kc__cidr_within(const kc__cidr *outer, const kc__cidr *inner)
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

void kc__validate_cidr(const kc__location *network)
{
    kc__cidr parsed;
    if (!kc__cidr_parse(kc__location_text(network), &parsed))
        kc__location_error(network, KC_FIELD_INVALID,
                           "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
}

/* ---- canonical form ---- */

/* Like parse_ip, but an octet may have leading zeros: "010.0.0.1". */
static int parse_sloppy_ip(kc_str text, unsigned char ret[16])
{
    kc_str rest = text;
    int family = parse_ip(text, ret);
    uint64_t octet;
    size_t n = 0;
    if (family || kc_str_find(text, ':') >= 0)
        return family;
    for (; rest.p && n < 4; n++) {
        if (!kc_str_to_u64(kc_str_cut(&rest, '.'), &octet) || octet > 255)
            return 0;
        ret[n] = (unsigned char)octet;
    }
    return n == 4 && !rest.p ? 4 : 0;
}

static bool is_mapped(const unsigned char address[16])
{
    static const unsigned char prefix[12] = {[10] = 0xff, [11] = 0xff};
    return !memcmp(address, prefix, sizeof(prefix));
}

static void print_ip(int family, const unsigned char address[16], char out[INET6_ADDRSTRLEN])
{
    inet_ntop(family == 6 ? AF_INET6 : AF_INET, address, out, INET6_ADDRSTRLEN);
}

void kc__validate_canonical_ip(const kc__location *ip)
{
    unsigned char address[16];
    char text[INET6_ADDRSTRLEN];
    int family = parse_sloppy_ip(kc__location_text(ip), address);
    if (!family) {
        kc__validate_ip(ip);
    } else if (!parse_ip(kc__location_text(ip), address)) {
        kc__location_error(ip, KC_FIELD_INVALID, "must not have leading 0s");
    } else if (family == 6 && is_mapped(address)) {
        kc__location_error(ip, KC_FIELD_INVALID, "must not be an IPv4-mapped IPv6 address");
    } else {
        print_ip(family, address, text);
        if (!kc_str_is(kc__location_text(ip), text))
            kc__location_error(ip, KC_FIELD_INVALID, "must be in canonical form (\"%s\")", text);
    }
}

/* Parses a CIDR, with or without leading zeros; false if it is invalid. */
static bool parse_sloppy_cidr(kc_str text, kc__cidr *ret, bool *ret_zeros)
{
    kc_str bits = text, address = kc_str_cut(&bits, '/');
    kc__cidr network = {0};
    uint64_t number;
    int family = parse_sloppy_ip(address, network.address);
    if (!family || !bits.p || !kc_str_to_u64(bits, &number) || number > (family == 6 ? 128 : 32))
        return false;
    network.six = family == 6;
    network.bits = (int)number;
    *ret_zeros = !kc__validate_address_is_valid(address) || (bits.n > 1 && bits.p[0] == '0');
    *ret = network;
    return true;
}

/* Clears the bits after the prefix; returns whether any was set. */
static bool mask(kc__cidr *network)
{
    bool any = false;
    for (int i = network->bits; i < (network->six ? 128 : 32); i++) {
        int bit = 0x80 >> (i % 8);
        any = any || network->address[i / 8] & bit;
        network->address[i / 8] &= (unsigned char)~bit;
    }
    return any;
}

static void check_cidr_form(const kc__location *location, const kc__cidr *network)
{
    char text[INET6_ADDRSTRLEN], canonical[INET6_ADDRSTRLEN + 8];
    print_ip(network->six ? 6 : 4, network->address, text);
    snprintf(canonical, sizeof(canonical), "%s/%d", text, network->bits);
    if (!kc_str_is(kc__location_text(location), canonical))
        kc__location_error(location, KC_FIELD_INVALID, "must be in canonical form (\"%s\")",
                           canonical);
}

void kc__validate_canonical_cidr(const kc__location *location)
{
    kc__cidr network;
    bool zeros = false;
    if (!parse_sloppy_cidr(kc__location_text(location), &network, &zeros))
        kc__validate_cidr(location);
    else if (zeros)
        kc__location_error(location, KC_FIELD_INVALID,
                           "must not have leading 0s in IP or prefix length");
    else if (network.six && is_mapped(network.address))
        kc__location_error(location, KC_FIELD_INVALID, "must not have an IPv4-mapped IPv6 address");
    else if (mask(&network))
        kc__location_error(location, KC_FIELD_INVALID,
                           "must not have bits set beyond the prefix length");
    else
        check_cidr_form(location, &network);
}

void kc__validate_canonical_interface(const kc__location *location)
{
    kc__cidr network;
    bool zeros = false;
    if (!parse_sloppy_cidr(kc__location_text(location), &network, &zeros))
        kc__location_error(
            location, KC_FIELD_INVALID,
            "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
    else
        check_cidr_form(location, &network);
}

static bool in_network(kc_str ip, const char *network)
{
    kc__cidr outer, inner = {0};
    int family = parse_ip(ip, inner.address);
    inner.six = family == 6;
    inner.bits = 129;
    return family && kc__cidr_parse(kc_cstr(network), &outer) && kc__cidr_within(&outer, &inner);
}

void kc__validate_ordinary_ip(const kc__location *ip)
{
    static const struct {
        const char *four, *six, *why;
    } special[] = {
        {"127.0.0.0/8", "::1/128", "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
        {"169.254.0.0/16", "fe80::/10",
         "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
        {"224.0.0.0/24", "ff02::/16",
         "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"}};
    if (!kc__validate_address_is_valid(kc__location_text(ip))) {
        kc__location_error(ip, KC_FIELD_INVALID, "must be a valid IP address");
        return;
    }
    if (kc__location_text_is(ip, "0.0.0.0") || kc__location_text_is(ip, "::"))
        kc__location_error(ip, KC_FIELD_INVALID, "may not be unspecified (%.*s)",
                           KC_ARG(kc__location_text(ip)));
    for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
        if (in_network(kc__location_text(ip), special[i].four) ||
            in_network(kc__location_text(ip), special[i].six))
            kc__location_error(ip, KC_FIELD_INVALID, "%s", special[i].why);
}
