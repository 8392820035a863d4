/* SPDX-License-Identifier: Apache-2.0 */
/* address_rules.h: addresses and networks: parsing, canonical form, special addresses. */
#ifndef KC_APISERVER_ADDRESS_RULES_H
#define KC_APISERVER_ADDRESS_RULES_H

#include "apiserver/kinds/location.h"

typedef struct kc__cidr {
    bool six; /* IPv6. */
    unsigned char address[16];
    int bits;
} kc__cidr;

/* Parses a CIDR: "10.0.0.0/8"; bits after the prefix may be set. */
bool kc__cidr_parse(kc_str text, kc__cidr *ret);
/* Whether `outer` contains `inner` and is larger. */
bool kc__cidr_within(const kc__cidr *outer, const kc__cidr *inner);
bool kc__validate_address_is_valid(kc_str text);
bool kc__validate_address_is_v6(kc_str text);

/* Validates a network in this notation. */
void kc__validate_cidr(const kc__location *network);
/* The same for kinds that accept only the canonical form: no leading zeros, IPv6 as in RFC 5952,
 * no bits set after the prefix. */
void kc__validate_canonical_ip(const kc__location *ip);
void kc__validate_canonical_cidr(const kc__location *network);
/* Validates an address with a prefix length; bits after the prefix may be set. */
void kc__validate_canonical_interface(const kc__location *address);
/* The address must not be special: not unspecified, loopback or link-local (multicast). */
void kc__validate_ordinary_ip(const kc__location *ip);

#endif
