/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h: server-side TLS: certificates and client authentication.
 */
#ifndef KC_HTTP_TLS_H
#define KC_HTTP_TLS_H

#include "kc/error.h"
#include "kc/mem.h"

typedef struct kc__tls kc__tls;

typedef struct kc__tls_opts {
    const char *cert_file; /* PEM; the certificate chain. */
    const char *key_file;
    kc_str cert, key; /* The same as text instead of files. */
    /* PEM. Clients may present a certificate signed by these CAs; any other is rejected.
     * Defaults to not requesting one. */
    const char *client_ca_file;
    kc_str client_ca; /* The same as text instead of a file. */
    /* The handshake accepts any client certificate and only names these CAs to the client; the
     * application verifies it (cert_pool.h). Defaults to verifying in the handshake. */
    bool verify_later;
} kc__tls_opts;

/* TLS 1.2 and later, ALPN "h2" and "http/1.1". NULL on error, which names the file. */
kc__tls *kc__tls_new(const kc__tls_opts *opts, kc_error *err);
/*
 * Replaces the certificates for new handshakes; open connections are not affected. On failure
 * nothing has changed. Any thread.
 */
int kc__tls_replace(kc__tls *tls, const kc__tls_opts *opts, kc_error *err);
kc__tls *kc__tls_free(kc__tls *tls);
KC_AUTO_DEFINE(kc__tls, kc__tls_free)

#endif
