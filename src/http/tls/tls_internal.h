/* SPDX-License-Identifier: Apache-2.0 */
/* tls_internal.h: what a transport needs from TLS. */
#ifndef KC_HTTP_TLS_INTERNAL_H
#define KC_HTTP_TLS_INTERNAL_H

#include "http/server/exchange.h"
#include "http/tls/tls.h"

#include <openssl/ssl.h>

/* Creates the server side of a connection over a socket, which the caller still owns. NULL if
 * out of memory. */
SSL *kc__tls_accept(kc__tls *tls, int fd);

/* Returns the negotiated protocol; empty: none. After the handshake. */
kc_str kc__tls_protocol(const SSL *ssl);

/* Returns the identity in the client's certificate; NULL if the client presented none. The
 * caller frees it. */
kc__conn_client_cert *kc__tls_client_cert(const SSL *ssl);
kc__conn_client_cert *kc__tls_client_cert_free(kc__conn_client_cert *cert);

#endif
