/* SPDX-License-Identifier: Apache-2.0 */
/* tls_client.h: client-side TLS with OpenSSL: settings from files, one connection. */
#ifndef KC_GRPC_TLS_CLIENT_H
#define KC_GRPC_TLS_CLIENT_H

#include "grpc/grpc.h"

#include <openssl/ssl.h>

/* Reads the files and creates the settings of connections. NULL on error, which names the file. */
SSL_CTX *kc__grpc_tls_new(const kc__grpc_tls *tls, kc_error *err);
/* Creates the client side of a connection over a socket, which the caller still owns; it verifies
 * this name or address. NULL if out of memory. */
SSL *kc__grpc_tls_connect(SSL_CTX *ctx, const BIO_METHOD *bio, int fd, const char *name);
/* Returns whether the handshake has selected HTTP/2. */
bool kc__grpc_tls_is_h2(const SSL *ssl);
/* Appends why a handshake or a read failed, and clears OpenSSL's errors. */
void kc__grpc_tls_failure(const SSL *ssl, kc_buf *out);

#endif
