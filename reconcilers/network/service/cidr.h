/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cidr.h: ranges of addresses: "192.168.0.0/16", "fd00:7::/64".
 *
 *     kc__range range;
 *     if (kc__range_parse(KC_STR("10.0.0.0/8"), &range, err) < 0)
 *         …
 */
#ifndef KC_NETWORK_CIDR_H
#define KC_NETWORK_CIDR_H

#include "kc/error.h"

enum { KC__CIDR_TEXT = 64 }; /* Longer text is neither a range nor an address. */

/* Its first and last address, both of it, in network order; the unused bytes are 0. */
typedef struct kc__range {
    int family; /* AF_INET or AF_INET6. */
    int prefix;
    unsigned char first[16], last[16];
} kc__range;

/* KC_INVALID with a sentence: no range, or one whose address has bits behind its prefix. */
int kc__range_parse(kc_str text, kc__range *ret, kc_error *err);
/* Is `text` an address that a gateway of the range may have? KC_INVALID with why not. */
int kc__range_check_gateway(const kc__range *range, kc_str text, kc_error *err);

/* Wholly before (<0) or behind (>0); 0: they overlap. IPv4 stands before IPv6. */
int kc__range_cmp(const kc__range *a, const kc__range *b);

#endif
