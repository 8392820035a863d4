/* SPDX-License-Identifier: Apache-2.0 */
/* tls_internal.h: what a transport needs of TLS. */
#ifndef KC_HTTP_TLS_INTERNAL_H
#define KC_HTTP_TLS_INTERNAL_H

#include "http/exchange.h"
#include "http/tls.h"

#include <openssl/ssl.h>

/* The server's side of a connection over a socket, which stays the caller's. NULL when memory is
 * short. */
SSL *kc__tls_accept(kc__tls *tls, int fd);

/* The protocol that was agreed on; empty: none. After the handshake. */
kc_str kc__tls_protocol(const SSL *ssl);

/* Who the client's certificate names; NULL when it showed none. The caller frees it. */
kc__client_cert *kc__tls_client_cert(const SSL *ssl);
kc__client_cert *kc__tls_client_cert_free(kc__client_cert *cert);

#endif
