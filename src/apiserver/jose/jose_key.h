/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jose_key.h: keys that sign and verify tokens (RFC 7517, RFC 7518).
 *
 *     kc_scoped(kc__jose_keys) keys = {0};
 *     if (kc__jose_keys_read("sa.pub", &keys, err) < 0)
 *         return …;
 *     const kc__jose_key *key = kc__jose_keys_find(&keys, kid);
 *
 * A key is an RSA key or an elliptic-curve key on P-256, P-384 or P-521. The type of a key decides
 * which algorithms it accepts, so a token cannot select an algorithm that the key is not meant for.
 *
 * Keys are immutable; any thread may use them.
 */
#ifndef KC_APISERVER_JOSE_KEY_H
#define KC_APISERVER_JOSE_KEY_H

#include "kc/buf.h"
#include "kc/error.h"

#include <openssl/evp.h>

/* Maximum number of keys of one set, and the accepted sizes of RSA keys in bits. */
#define KC__JOSE_MAX_KEYS     64
#define KC__JOSE_MIN_RSA_BITS 2048
#define KC__JOSE_MAX_RSA_BITS 8192

/* Maximum length of a key id. */
#define KC__JOSE_MAX_KEY_ID 256

/* JWS algorithm, type of its keys, digest, size of a coordinate (0: RSA), RSA-PSS. */
#define KC__JOSE_ALGORITHMS(X)            \
    X(RS256, RSA, "SHA2-256", 0, false)   \
    X(RS384, RSA, "SHA2-384", 0, false)   \
    X(RS512, RSA, "SHA2-512", 0, false)   \
    X(PS256, RSA, "SHA2-256", 0, true)    \
    X(PS384, RSA, "SHA2-384", 0, true)    \
    X(PS512, RSA, "SHA2-512", 0, true)    \
    X(ES256, P256, "SHA2-256", 32, false) \
    X(ES384, P384, "SHA2-384", 48, false) \
    X(ES512, P521, "SHA2-512", 66, false)

typedef enum kc__jose_algorithm {
#define KC__JOSE_ALGORITHM_ENUM(name, type, digest, size, pss) KC__JOSE_##name,
    KC__JOSE_ALGORITHMS(KC__JOSE_ALGORITHM_ENUM)
#undef KC__JOSE_ALGORITHM_ENUM
} kc__jose_algorithm;

typedef enum kc__jose_key_type {
    KC__JOSE_RSA,
    KC__JOSE_P256,
    KC__JOSE_P384,
    KC__JOSE_P521
} kc__jose_key_type;

typedef struct kc__jose_key {
    EVP_PKEY *pkey;
    kc__jose_key_type type;
    bool is_private;              /* The key can sign. */
    char *id;                     /* As Kubernetes derives it; or the "kid" of a JWK. */
    kc__jose_algorithm algorithm; /* What the key signs with: RS256, ES256, ES384 or ES512. */
} kc__jose_key;

/* Zero is an empty set. */
typedef struct kc__jose_keys {
    kc__jose_key *items[KC__JOSE_MAX_KEYS];
    size_t n;
} kc__jose_keys;

/* Frees the keys and empties the set. */
void kc__jose_keys_done(kc__jose_keys *keys);

/*
 * Adds the keys of a PEM text, in order: public keys, private keys, and the keys of certificates.
 * Other blocks are skipped. KC_INVALID without a key, for a key of another type or size, for an
 * encrypted key, and beyond KC__JOSE_MAX_KEYS; the set may then contain some of the keys.
 */
int kc__jose_keys_parse(kc_str pem, kc__jose_keys *keys, kc_error *err);
/* The same from a file; the error names it. The text is wiped from memory. Blocks. */
int kc__jose_keys_read(const char *path, kc__jose_keys *keys, kc_error *err);

/* Adds a key of which the caller has a reference, which passes to the set. An empty id is derived
 * from the key. KC_INVALID for a key of another type or size, or if the set is full; the key is
 * then freed. */
int kc__jose_keys_add(kc__jose_keys *keys, EVP_PKEY *pkey, bool is_private, kc_str id,
                      kc_error *err);

/* Drops keys whose id an earlier key of the set has. */
void kc__jose_keys_unique(kc__jose_keys *keys);
/* The key with this id, or NULL. */
const kc__jose_key *kc__jose_keys_find(const kc__jose_keys *keys, kc_str id);

/* The algorithm of this name; false if it is not one of KC__JOSE_ALGORITHMS: "none" and HMAC are
 * not. */
bool kc__jose_algorithm_parse(kc_str name, kc__jose_algorithm *ret);
const char *kc__jose_algorithm_name(kc__jose_algorithm algorithm);
/* The type of the keys of an algorithm, its digest (an OpenSSL name), the size of a coordinate in
 * bytes (0: RSA), and whether it pads with RSA-PSS. */
kc__jose_key_type kc__jose_algorithm_key_type(kc__jose_algorithm algorithm);
const char *kc__jose_algorithm_digest(kc__jose_algorithm algorithm);
size_t kc__jose_algorithm_size(kc__jose_algorithm algorithm);
bool kc__jose_algorithm_is_pss(kc__jose_algorithm algorithm);

/* Writes a new private key on P-256 as PEM (PKCS #8). The caller wipes the buffer. Takes less than
 * a millisecond; an RSA key would delay the first start by half a second. */
int kc__jose_key_generate(kc_buf *out, kc_error *err);

#endif
