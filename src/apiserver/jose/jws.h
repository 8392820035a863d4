/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jws.h: signed tokens in compact serialization (RFC 7515): header.payload.signature.
 *
 *     kc_scoped(kc__jws) jws = {0};
 *     if (kc__jws_parse(token, &jws, err) < 0)
 *         return …;
 *     const kc__jose_key *key = kc__jose_keys_find(&keys, jws.key_id);
 *     if (!key || !kc__jws_verify(&jws, key))
 *         return …;
 *     use(jws.payload)                              JSON text, now trusted
 *
 * Nothing of a parsed token is trusted before kc__jws_verify has returned true.
 */
#ifndef KC_APISERVER_JWS_H
#define KC_APISERVER_JWS_H

#include "apiserver/jose/jose_key.h"

/* Limits: bytes of a token and of its header, depth of header and payload. */
#define KC__JWS_MAX_BYTES  ((size_t)64 << 10)
#define KC__JWS_MAX_HEADER ((size_t)4 << 10)
#define KC__JWS_MAX_DEPTH  16

/* Slices of `token` live as long as the token; the others belong to the struct. */
typedef struct kc__jws {
    kc_str signed_text; /* "header.payload", a slice of the token. */
    kc__jose_algorithm algorithm;
    kc_str key_id;  /* The header's "kid"; empty if absent. */
    kc_str payload; /* Decoded. */
    kc_str signature;
    kc_buf text; /* Holds the decoded parts. */
} kc__jws;

void kc__jws_done(kc__jws *jws);

/*
 * Splits and decodes a token, and parses its header. KC_INVALID if it is not a token in compact
 * serialization, if its algorithm is not one of KC__JOSE_ALGORITHMS, if it has critical header
 * parameters ("crit"), which this server does not know, or duplicate ones; KC_TOO_LARGE above the
 * limits. Messages contain no part of the token. Any thread; does not block.
 */
int kc__jws_parse(kc_str token, kc__jws *ret, kc_error *err);

/* Returns whether the key signed the token. False if the token's algorithm does not belong to the
 * type of the key. 30 to 500 us, by the type of the key. Any thread. */
bool kc__jws_verify(const kc__jws *jws, const kc__jose_key *key);

/* Appends the token of a payload, signed with key->algorithm; its header is {"alg","kid"}. The key
 * must be private. KC_TOO_LARGE if the token would exceed KC__JWS_MAX_BYTES. Any thread. */
int kc__jws_sign(const kc__jose_key *key, kc_str payload, kc_buf *out, kc_error *err);

#endif
