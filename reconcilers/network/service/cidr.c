/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cidr.c: see cidr.h. inet_pton parses addresses strictly: four decimal numbers without leading
 * zeros, IPv6 as in RFC 4291, no zones.
 *
 * IPv4-mapped IPv6 addresses (::ffff:10.0.0.1) are refused: the same address in two families would
 * hide an overlap.
 */
#include "network/service/cidr.h"

#include <arpa/inet.h>
#include <stdio.h>

static size_t width(int family)
{
    return family == AF_INET ? 4 : 16;
}

/* The address family, or 0. Zeroes `ret` first. */
static int read_address(kc_str text, unsigned char ret[16])
{
    char terminated[KC__NETWORK_CIDR_TEXT];
    memset(ret, 0, 16);
    if (!text.n || text.n >= sizeof(terminated) || memchr(text.p, 0, text.n))
        return 0;
    memcpy(terminated, text.p, text.n);
    terminated[text.n] = '\0';
    const int family = memchr(text.p, ':', text.n) ? AF_INET6 : AF_INET;
    if (inet_pton(family, terminated, ret) != 1)
        return 0;
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    return family == AF_INET6 && !memcmp(ret, mapped, sizeof(mapped)) ? 0 : family;
}

/* Clears or sets all bits after the prefix. */
static void fill_behind(unsigned char *address, size_t bytes, int prefix, bool set)
{
    for (size_t i = 0; i < bytes; i++) {
        const int kept = prefix - (int)i * 8;
        const unsigned mask = kept >= 8 ? 0 : kept <= 0 ? 0xff : 0xffu >> kept;
        address[i] = (unsigned char)(set ? address[i] | mask : address[i] & ~mask);
    }
}

static int refuse_bits(const kc__network_range *range, kc_str text, kc_error *err)
{
    char first[INET6_ADDRSTRLEN] = "";
    inet_ntop(range->family, range->first, first, sizeof(first));
    return kc_error_set(err, KC_INVALID, "cidr \"%.*s\" has host bits set; did you mean \"%s/%d\"?",
                        KC_ARG(text), first, range->prefix);
}

int kc__network_range_parse(kc_str text, kc__network_range *ret, kc_error *err)
{
    kc__network_range range = {0};
    unsigned char address[16];
    uint64_t prefix = 0;
    kc_str rest = kc_str_sub(text, 0, KC__NETWORK_CIDR_TEXT);
    range.family =
        text.n < KC__NETWORK_CIDR_TEXT ? read_address(kc_str_cut(&rest, '/'), address) : 0;
    if (!range.family || !kc_str_to_u64(rest, &prefix) || prefix > width(range.family) * 8 ||
        (rest.n > 1 && rest.p[0] == '0'))
        return kc_error_set(err, KC_INVALID,
                            "cidr \"%.*s\" is not a valid CIDR; examples: 192.168.0.0/16, "
                            "fd00:7::/64",
                            KC_ARG(kc_str_sub(text, 0, KC__NETWORK_CIDR_TEXT)));
    range.prefix = (int)prefix;
    memcpy(range.first, address, sizeof(address));
    memcpy(range.last, address, sizeof(address));
    fill_behind(range.first, width(range.family), range.prefix, false);
    fill_behind(range.last, width(range.family), range.prefix, true);
    if (memcmp(range.first, address, sizeof(address)) != 0)
        return refuse_bits(&range, text, err);
    *ret = range;
    return 0;
}

static bool is_within(const kc__network_range *range, const unsigned char *address)
{
    return memcmp(address, range->first, 16) >= 0 && memcmp(address, range->last, 16) <= 0;
}

/* The first and last address of an IPv4 network are reserved, if it has more than two. */
static bool is_reserved(const kc__network_range *range, const unsigned char *address)
{
    return range->family == AF_INET && range->prefix < 31 &&
           (!memcmp(address, range->first, 16) || !memcmp(address, range->last, 16));
}

int kc__network_range_check_gateway(const kc__network_range *range, kc_str text, kc_error *err)
{
    unsigned char address[16];
    const int family = read_address(text, address);
    const kc_str shown = kc_str_sub(text, 0, KC__NETWORK_CIDR_TEXT);
    if (!family)
        return kc_error_set(err, KC_INVALID, "gateway \"%.*s\" is not a valid IP address",
                            KC_ARG(shown));
    if (family != range->family || !is_within(range, address))
        return kc_error_set(err, KC_INVALID, "gateway \"%.*s\" is not within the network",
                            KC_ARG(shown));
    if (is_reserved(range, address))
        return kc_error_set(err, KC_INVALID, "gateway \"%.*s\" is the network or broadcast address",
                            KC_ARG(shown));
    return 0;
}

int kc__network_range_cmp(const kc__network_range *a, const kc__network_range *b)
{
    if (a->family != b->family)
        return a->family == AF_INET ? -1 : 1;
    if (memcmp(a->last, b->first, 16) < 0)
        return -1;
    return memcmp(a->first, b->last, 16) > 0;
}
