/* SPDX-License-Identifier: Apache-2.0 */
/* address_rules.h: addresses and networks, beyond whether a text is one. */
#ifndef KC_APISERVER_ADDRESS_RULES_H
#define KC_APISERVER_ADDRESS_RULES_H

#include "apiserver/kinds/place.h"

typedef struct kc__network {
    bool six; /* IPv6. */
    unsigned char address[16];
    int bits;
} kc__network;

/* "10.0.0.0/8"; bits behind the prefix may be set. */
bool kc__network_parse(kc_str text, kc__network *ret);
/* Whether `outer` has all addresses of `inner`, and more. */
bool kc__network_within(const kc__network *outer, const kc__network *inner);
bool kc__address_valid(kc_str text);
bool kc__address_is_v6(kc_str text);

/* A network in this form. */
void kc__check_cidr(const kc__place *network);
/* An address that is no special one: not of this machine, nor of this wire. */
void kc__check_ordinary_ip(const kc__place *ip);

#endif
