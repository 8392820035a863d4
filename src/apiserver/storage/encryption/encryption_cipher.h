/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption_cipher.h: the ciphers of encryption at rest, in the stored form of kube-apiserver. A
 * cipher is a row of a const table; the form of the bytes after its prefix and the name of the key:
 *
 *     aesgcm      nonce (12) │ ciphertext │ tag (16)     authenticates the storage key, too
 *     aescbc      iv (16)    │ blocks with PKCS#7 padding
 *     secretbox   nonce (24) │ tag (16) │ ciphertext
 *
 * Stores are exchanged with kube-apiserver: these forms must never change. Any thread.
 */
#ifndef KC_APISERVER_ENCRYPTION_CIPHER_H
#define KC_APISERVER_ENCRYPTION_CIPHER_H

#include "kc/buf.h"

enum { KC__ENCRYPTION_MAX_KEY = 32, KC__ENCRYPTION_MAX_NONCE = 24 };

/* A key in locked memory. */
typedef struct kc__encryption_secret {
    const unsigned char *bytes;
    size_t n;
} kc__encryption_secret;

typedef struct kc__encryption_cipher {
    const char *name;     /* "aesgcm", the member of a provider in the configuration. */
    const char *prefix;   /* "k8s:enc:aesgcm:v1:" */
    const char *no_key;   /* The error if no key has the name that the value states. */
    size_t key_sizes[4];  /* Ends with 0. */
    const char *key_text; /* The same for messages: "[16 24 32]". */
    size_t nonce;         /* Bytes of the nonce, at the beginning of the stored form. */
    /* Appends nonce and sealed bytes. `context` is the authenticated data. False: the library
     * failed. */
    bool (*seal)(kc__encryption_secret key, const unsigned char *nonce, kc_str context,
                 kc_str plain, kc_buf *out);
    /* Appends the plain bytes. Returns NULL, or the error in kube-apiserver's words. */
    const char *(*open)(kc__encryption_secret key, kc_str sealed, kc_str context, kc_buf *out);
} kc__encryption_cipher;

/* The cipher of this name, or NULL. */
const kc__encryption_cipher *kc__encryption_cipher_named(kc_str name);

#endif
