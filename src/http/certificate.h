/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate.h: making, reading and judging certificates and their keys, over OpenSSL.
 */
#ifndef KC_HTTP_CERTIFICATE_H
#define KC_HTTP_CERTIFICATE_H

#include "kc/clock.h"
#include "kc/error.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

/* A certificate and its private key; each may be NULL. */
typedef struct kc__keypair {
    X509 *cert;
    EVP_PKEY *key;
} kc__keypair;

void kc__keypair_done(kc__keypair *pair);

typedef enum kc__cert_use { KC__CERT_AUTHORITY, KC__CERT_SERVER, KC__CERT_CLIENT } kc__cert_use;

/* What a certificate is to say. */
typedef struct kc__cert_spec {
    kc__cert_use use;
    const char *common_name;
    const char *organization; /* Defaults to none. */
    const char *const *names; /* Addresses and DNS names, the subject's alternative ones. */
    size_t n_names;
    int64_t lifetime; /* Nanoseconds. */
} kc__cert_spec;

/* How long before it was made a certificate's validity begins. */
#define KC__CERT_BACKDATED (5 * KC_MINUTE)

/* Makes a key (ECDSA, P-256) and a certificate for it, valid from a little before `wall` on, signed
 * by `issuer`, or by itself where that is NULL. The caller releases it. */
int kc__keypair_make(const kc__cert_spec *spec, const kc__keypair *issuer, int64_t wall,
                     kc__keypair *ret, kc_error *err);

/* From PEM. The first certificate of the text, or its private key; KC_INVALID when there is none
 * (or only a key with a password). */
int kc__cert_parse(kc_str pem, X509 **ret, kc_error *err);
int kc__key_parse(kc_str pem, EVP_PKEY **ret, kc_error *err);
/* Calls `each` for every certificate of a text, which may keep it with X509_up_ref; false from it
 * ends the walk. Returns how many there were. What is no certificate is passed over. */
size_t kc__certs_each(kc_str pem, bool (*each)(X509 *cert, void *user), void *user);

/* Appends PEM. A key's buffer is to be wiped. */
int kc__cert_write(X509 *cert, kc_buf *out, kc_error *err);
int kc__key_write(EVP_PKEY *key, kc_buf *out, kc_error *err);

/* Overwrites what it held, then frees it: for secrets. */
void kc__wipe(kc_buf *buf);

/* Seconds since 1970. */
int64_t kc__cert_not_before(const X509 *cert);
int64_t kc__cert_not_after(const X509 *cert);

/* Does a certificate name this address or DNS name? */
bool kc__cert_names(X509 *cert, const char *name);
/* The names it has, as kc__cert_spec takes them. */
void kc__cert_each_name(const X509 *cert, void (*each)(const char *name, void *user), void *user);
/* Was it signed by this authority? */
bool kc__cert_is_of(X509 *cert, X509 *authority);
/* Is it for this private key? */
bool kc__cert_has_key(X509 *cert, EVP_PKEY *key);

#endif
