/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cidr.h: CIDR ranges: "192.168.0.0/16", "fd00:7::/64".
 *
 *     kc__network_range range;
 *     if (kc__network_range_parse(KC_STR("10.0.0.0/8"), &range, err) < 0)
 *         …
 */
#ifndef KC_NETWORK_CIDR_H
#define KC_NETWORK_CIDR_H

#include "kc/error.h"

enum { KC__NETWORK_CIDR_TEXT = 64 }; /* Maximum length of a range or address. */

/* First and last address, inclusive, in network order; unused bytes are 0. */
typedef struct kc__network_range {
    int family; /* AF_INET or AF_INET6. */
    int prefix;
    unsigned char first[16], last[16];
} kc__network_range;

/* KC_INVALID with a message: not a CIDR, or host bits are set. */
int kc__network_range_parse(kc_str text, kc__network_range *ret, kc_error *err);
/* Whether `text` is a valid gateway of the range. KC_INVALID with the reason. */
int kc__network_range_check_gateway(const kc__network_range *range, kc_str text, kc_error *err);

/* Wholly before (<0) or after (>0); 0: they overlap. IPv4 sorts before IPv6. */
int kc__network_range_cmp(const kc__network_range *a, const kc__network_range *b);

#endif
