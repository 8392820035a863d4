/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_client.c: the client side of TLS: which servers are trusted, the client's own certificate,
 * and the name that the server's certificate must have.
 *
 * The settings are created for each connection from the files, so that renewed certificates take
 * effect when a connection is opened; a channel opens few. ALPN offers h2 only: a server that
 * speaks another protocol ends the handshake or is refused.
 *
 * OpenSSL's errors belong to the thread: each failure clears them, or the next connection would
 * report them.
 */
#include "grpc/tls_client.h"

#include "http/tls_bio.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

static int refuse_tls_file(kc_error *err, const char *what, const char *file)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    const int result = kc_error_set(err, KC_BAD_REQUEST, "cannot use %s %s: %s", what, file,
                                    reason ? reason : "not readable");
    ERR_clear_error();
    return result;
}

static int use_trusted_ca(SSL_CTX *ctx, const char *file, kc_error *err)
{
    if (!file)
        SSL_CTX_set_default_verify_paths(ctx);
    else if (SSL_CTX_load_verify_file(ctx, file) != 1)
        return refuse_tls_file(err, "CA bundle", file);
    return 0;
}

static int use_client_cert(SSL_CTX *ctx, const kc__grpc_tls *tls, kc_error *err)
{
    if (!tls->cert_file && !tls->key_file)
        return 0;
    if (!tls->cert_file || !tls->key_file)
        return kc_error_set(err, KC_BAD_REQUEST, "a client certificate needs both files, %s and %s",
                            "certificate", "private key");
    if (SSL_CTX_use_certificate_chain_file(ctx, tls->cert_file) != 1)
        return refuse_tls_file(err, "client certificate", tls->cert_file);
    if (SSL_CTX_use_PrivateKey_file(ctx, tls->key_file, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(ctx) != 1)
        return refuse_tls_file(err, "private key", tls->key_file);
    return 0;
}

static void set_up_client(SSL_CTX *ctx)
{
    static const unsigned char h2[] = {2, 'h', '2'};
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_alpn_protos(ctx, h2, sizeof(h2));
}

SSL_CTX *kc__grpc_tls_new(const kc__grpc_tls *tls, kc_error *err)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    if (!ctx) {
        kc_error_set(err, KC_INTERNAL, "cannot set up TLS");
        return NULL;
    }
    set_up_client(ctx);
    if (use_trusted_ca(ctx, tls->ca_file, err) == 0 && use_client_cert(ctx, tls, err) == 0)
        return ctx;
    SSL_CTX_free(ctx);
    return NULL;
}

static bool is_ip_address(const char *name)
{
    struct in6_addr address;
    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

/* The server's name is sent in the handshake (SNI) only if it is one of DNS. */
static bool expect_name(SSL *ssl, const char *name)
{
    if (is_ip_address(name))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    return SSL_set1_host(ssl, name) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

SSL *kc__grpc_tls_connect(SSL_CTX *ctx, const BIO_METHOD *bio, int fd, const char *name)
{
    SSL *ssl = SSL_new(ctx);
    if (!ssl || !expect_name(ssl, name) || !kc__tls_bio_attach(ssl, bio, fd)) {
        SSL_free(ssl);
        ERR_clear_error();
        return NULL;
    }
    SSL_set_connect_state(ssl);
    return ssl;
}

bool kc__grpc_tls_is_h2(const SSL *ssl)
{
    const unsigned char *name = NULL;
    unsigned n = 0;
    SSL_get0_alpn_selected(ssl, &name, &n);
    return kc_str_is(kc_str_of((const char *)name, n), "h2");
}

void kc__grpc_tls_failure(const SSL *ssl, kc_buf *out)
{
    const long verified = SSL_get_verify_result(ssl);
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    if (verified != X509_V_OK)
        kc_buf_puts(out, X509_verify_cert_error_string(verified));
    else
        kc_buf_puts(out, reason ? reason : "connection closed");
    ERR_clear_error();
}
