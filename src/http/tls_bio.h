/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_bio.h: how OpenSSL reads and writes the socket of a connection.
 *
 * OpenSSL's own socket BIO calls read and write, which go through the file layer, and sends each
 * record at once. This one calls recv and send, and lets the transport say that more records follow
 * (MSG_MORE): the kernel then sends several records as one packet.
 */
#ifndef KC_HTTP_TLS_BIO_H
#define KC_HTTP_TLS_BIO_H

#include <openssl/ssl.h>
#include <stdbool.h>

/* Creates the method of such BIOs; all connections share it, and it is freed after the last of
 * them. NULL if out of memory. */
BIO_METHOD *kc__tls_bio_method_new(void);

/* Attaches a socket, which the caller still owns, to an SSL. Returns false if out of memory. */
bool kc__tls_bio_attach(SSL *ssl, const BIO_METHOD *method, int fd);

/* Sets whether more data follows the next write at once. */
void kc__tls_bio_more(SSL *ssl, bool more);

#endif
