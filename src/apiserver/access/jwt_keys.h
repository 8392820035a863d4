/* SPDX-License-Identifier: Apache-2.0 */
/* jwt_keys.h: the public keys of an issuer, as it publishes them now. */
#ifndef KC_APISERVER_JWT_KEYS_H
#define KC_APISERVER_JWT_KEYS_H

#include "apiserver/access/jwt_config.h"
#include "apiserver/jose/jws.h"

#include <stdatomic.h>

/* Keys that are tried for a token without a key id. */
#define KC__JWT_MAX_TRIED_KEYS 8

/* Immutable and counted. */
typedef struct kc__jwt_keys {
    kc_ref refs;
    kc__jose_keys set;
} kc__jwt_keys;

kc__jwt_keys *kc__jwt_keys_ref(kc__jwt_keys *keys);
/* NULL is allowed; returns NULL. */
kc__jwt_keys *kc__jwt_keys_unref(kc__jwt_keys *keys);
KC_AUTO_DEFINE(kc__jwt_keys, kc__jwt_keys_unref)

/*
 * Fetches the discovery document of an issuer, and the keys that it names. NULL on error. Ends soon
 * after *abort becomes true. Blocks for as long as the issuer takes, 30 s for each document at
 * most.
 */
kc__jwt_keys *kc__jwt_keys_fetch(const kc__jwt_issuer_config *issuer, const _Atomic bool *abort,
                                 kc_error *err);

/* Whether one of the keys signed the token. May take a millisecond. */
bool kc__jwt_keys_verify(const kc__jwt_keys *keys, const kc__jws *jws);

#endif
