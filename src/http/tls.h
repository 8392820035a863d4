/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h: the server's side of TLS: certificates and what is allowed.
 */
#ifndef KC_HTTP_TLS_H
#define KC_HTTP_TLS_H

#include "kc/error.h"
#include "kc/mem.h"

typedef struct kc__tls kc__tls;

typedef struct kc__tls_opts {
    const char *cert_file; /* PEM; the chain. */
    const char *key_file;
    kc_str cert, key; /* The same as text, instead of files. */
    /* PEM. Clients may show a certificate of these authorities; one of another is refused. Defaults
     * to not asking. */
    const char *client_ca_file;
    kc_str client_ca; /* The same as text, instead of a file. */
} kc__tls_opts;

/* TLS 1.2 and later, ALPN "h2" and "http/1.1". NULL on error, with the file's name. */
kc__tls *kc__tls_new(const kc__tls_opts *opts, kc_error *err);
/*
 * The same with other certificates, for handshakes that begin from now on; connections go on as
 * they are. On failure nothing has changed. Any thread.
 */
int kc__tls_replace(kc__tls *tls, const kc__tls_opts *opts, kc_error *err);
kc__tls *kc__tls_free(kc__tls *tls);
KC_AUTO_DEFINE(kc__tls, kc__tls_free)

#endif
