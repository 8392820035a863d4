/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cidr.c: see cidr.h. Addresses are read by inet_pton, which takes what the standards say and
 * nothing else: four decimal numbers without leading zeros, IPv6 as RFC 4291 writes it, no zones.
 *
 * An IPv4 address in the clothes of an IPv6 one (::ffff:10.0.0.1) is refused: the same address in
 * two families would make an overlap that nobody sees.
 */
#include "network/service/cidr.h"

#include <arpa/inet.h>
#include <stdio.h>

static size_t width(int family)
{
    return family == AF_INET ? 4 : 16;
}

/* The family, or 0. `ret` is zeroed first. */
static int read_address(kc_str text, unsigned char ret[16])
{
    char terminated[KC__CIDR_TEXT];
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

/* Clears or sets all bits behind the prefix. */
static void fill_behind(unsigned char *address, size_t bytes, int prefix, bool set)
{
    for (size_t i = 0; i < bytes; i++) {
        const int kept = prefix - (int)i * 8;
        const unsigned mask = kept >= 8 ? 0 : kept <= 0 ? 0xff : 0xffu >> kept;
        address[i] = (unsigned char)(set ? address[i] | mask : address[i] & ~mask);
    }
}

static int refuse_bits(const kc__range *range, kc_str text, kc_error *err)
{
    char first[INET6_ADDRSTRLEN] = "";
    inet_ntop(range->family, range->first, first, sizeof(first));
    return kc_error_set(err, KC_INVALID,
                        "cidr \"%.*s\" has bits behind its prefix; did you mean \"%s/%d\"?",
                        KC_ARG(text), first, range->prefix);
}

int kc__range_parse(kc_str text, kc__range *ret, kc_error *err)
{
    kc__range range = {0};
    unsigned char address[16];
    uint64_t prefix = 0;
    kc_str rest = kc_str_sub(text, 0, KC__CIDR_TEXT);
    range.family = text.n < KC__CIDR_TEXT ? read_address(kc_str_cut(&rest, '/'), address) : 0;
    if (!range.family || !kc_str_to_u64(rest, &prefix) || prefix > width(range.family) * 8 ||
        (rest.n > 1 && rest.p[0] == '0'))
        return kc_error_set(err, KC_INVALID,
                            "cidr \"%.*s\" is not a range of addresses, such as 192.168.0.0/16 or "
                            "fd00:7::/64",
                            KC_ARG(kc_str_sub(text, 0, KC__CIDR_TEXT)));
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

static bool is_within(const kc__range *range, const unsigned char *address)
{
    return memcmp(address, range->first, 16) >= 0 && memcmp(address, range->last, 16) <= 0;
}

/* Of IPv4 the first and the last address are nobody's, where there are more than two. */
static bool is_reserved(const kc__range *range, const unsigned char *address)
{
    return range->family == AF_INET && range->prefix < 31 &&
           (!memcmp(address, range->first, 16) || !memcmp(address, range->last, 16));
}

int kc__range_check_gateway(const kc__range *range, kc_str text, kc_error *err)
{
    unsigned char address[16];
    const int family = read_address(text, address);
    const kc_str shown = kc_str_sub(text, 0, KC__CIDR_TEXT);
    if (!family)
        return kc_error_set(err, KC_INVALID, "gateway \"%.*s\" is not an address", KC_ARG(shown));
    if (family != range->family || !is_within(range, address))
        return kc_error_set(err, KC_INVALID, "gateway \"%.*s\" is not within the network",
                            KC_ARG(shown));
    if (is_reserved(range, address))
        return kc_error_set(err, KC_INVALID,
                            "gateway \"%.*s\" is the first or the last address of the network, "
                            "which nobody can have",
                            KC_ARG(shown));
    return 0;
}

int kc__range_cmp(const kc__range *a, const kc__range *b)
{
    if (a->family != b->family)
        return a->family == AF_INET ? -1 : 1;
    if (memcmp(a->last, b->first, 16) < 0)
        return -1;
    return memcmp(a->first, b->last, 16) > 0;
}
