/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwk.h: public keys as JSON Web Key Sets (RFC 7517): what a server publishes so that others can
 * verify its tokens.
 *
 *     {"keys":[{"use":"sig","kty":"RSA","kid":"…","alg":"RS256","n":"…","e":"AQAB"}]}
 */
#ifndef KC_APISERVER_JWK_H
#define KC_APISERVER_JWK_H

#include "apiserver/jose/jose_key.h"

/* Maximum size of a key set that is parsed. */
#define KC__JWK_MAX_BYTES ((size_t)1 << 20)

/* Appends the public parts of the keys, members in the order of kube-apiserver. */
int kc__jwk_set_write(const kc__jose_keys *keys, kc_buf *out, kc_error *err);

/*
 * Adds the keys of a set that verify signatures. Keys of another type, curve, algorithm or use are
 * skipped, as RFC 7517 requires. KC_INVALID for text that is not a key set, or beyond
 * KC__JOSE_MAX_KEYS; KC_TOO_LARGE above KC__JWK_MAX_BYTES.
 */
int kc__jwk_set_parse(kc_str json, kc__jose_keys *keys, kc_error *err);

#endif
