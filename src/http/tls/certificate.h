/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate.h: creates, parses and inspects certificates and their keys, with OpenSSL.
 */
#ifndef KC_HTTP_CERTIFICATE_H
#define KC_HTTP_CERTIFICATE_H

#include "kc/clock.h"
#include "kc/error.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

/* A certificate and its private key; each may be NULL. */
typedef struct kc__cert_keypair {
    X509 *cert;
    EVP_PKEY *key;
} kc__cert_keypair;

void kc__cert_keypair_done(kc__cert_keypair *pair);

typedef enum kc__cert_use { KC__CERT_AUTHORITY, KC__CERT_SERVER, KC__CERT_CLIENT } kc__cert_use;

/* Content of a certificate to create. */
typedef struct kc__cert_spec {
    kc__cert_use use;
    const char *common_name;
    const char *organization; /* Defaults to none. */
    const char *const *names; /* Subject alternative names: IP addresses and DNS names. */
    size_t n_names;
    int64_t lifetime; /* Nanoseconds. */
} kc__cert_spec;

/* How long before its creation the validity of a certificate begins. */
#define KC__CERT_BACKDATED (5 * KC_MINUTE)

/* Creates a key (ECDSA, P-256) and a certificate for it, valid from KC__CERT_BACKDATED before
 * `wall`, signed by `issuer`, or self-signed if that is NULL. The caller releases it. */
int kc__cert_keypair_generate(const kc__cert_spec *spec, const kc__cert_keypair *issuer,
                              int64_t wall, kc__cert_keypair *ret, kc_error *err);

/* Parses the first certificate, or the private key, of a PEM text. KC_INVALID if there is none
 * (or only an encrypted key). */
int kc__cert_parse(kc_str pem, X509 **ret, kc_error *err);
int kc__cert_key_parse(kc_str pem, EVP_PKEY **ret, kc_error *err);
/* Calls `each` for every certificate of a text; it may keep one with X509_up_ref and ends the
 * iteration by returning false. Returns the number of certificates. Other content is skipped. */
size_t kc__cert_each(kc_str pem, bool (*each)(X509 *cert, void *user), void *user);

/* Appends PEM. The caller must wipe the buffer of a key (kc_buf_wipe). */
int kc__cert_write(X509 *cert, kc_buf *out, kc_error *err);
int kc__cert_key_write(EVP_PKEY *key, kc_buf *out, kc_error *err);

/* Seconds since 1970. */
int64_t kc__cert_not_before(const X509 *cert);
int64_t kc__cert_not_after(const X509 *cert);

/* Returns whether a certificate is valid for this address or DNS name. */
bool kc__cert_names(X509 *cert, const char *name);
/* Calls `each` for every name, in the format of kc__cert_spec. */
void kc__cert_each_name(const X509 *cert, void (*each)(const char *name, void *user), void *user);
/* Returns whether the certificate was signed by this CA. */
bool kc__cert_is_of(X509 *cert, X509 *authority);
/* Returns whether the certificate belongs to this private key. */
bool kc__cert_has_key(X509 *cert, EVP_PKEY *key);

#endif
