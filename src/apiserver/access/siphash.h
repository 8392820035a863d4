/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siphash.h: SipHash-2-4 with a result of 128 bits: a keyed hash that is fast for short texts. Who
 * does not know the key cannot predict results, nor find two texts with the same one.
 */
#ifndef KC_APISERVER_SIPHASH_H
#define KC_APISERVER_SIPHASH_H

#include "kc/str.h"

typedef struct kc__siphash_key {
    uint64_t k0, k1;
} kc__siphash_key;

typedef struct kc__siphash_result {
    uint64_t words[2]; /* As numbers of this machine. */
} kc__siphash_result;

kc__siphash_result kc__siphash_of(const kc__siphash_key *key, kc_str text);

#endif
