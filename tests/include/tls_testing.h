/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_testing.h: certificates created for a test, in its own directory, and clients that use them.
 */
#ifndef TLS_TESTING_H
#define TLS_TESTING_H

#include "http_testing.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

typedef struct identity {
    X509 *cert;
    EVP_PKEY *key;
} identity;

static inline void identity_done(identity *id)
{
    X509_free(id->cert);
    EVP_PKEY_free(id->key);
}

static inline void add_name(X509_NAME *name, int what, const char *text)
{
    X509_NAME_add_entry_by_NID(name, what, MBSTRING_UTF8, (const unsigned char *)text, -1, -1, 0);
}

/* Signed by `ca`, or self-signed. Organizations are NULL-terminated. */
static inline identity identity_new(const char *cn, const char *const *organizations,
                                    const identity *ca)
{
    identity id = {X509_new(), EVP_EC_gen("P-256")};
    X509_NAME *name = X509_NAME_new();
    for (; organizations && *organizations; organizations++)
        add_name(name, NID_organizationName, *organizations);
    add_name(name, NID_commonName, cn);
    X509_set_version(id.cert, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(id.cert), (long)strlen(cn) + 1);
    X509_gmtime_adj(X509_getm_notBefore(id.cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(id.cert), 3600);
    X509_set_subject_name(id.cert, name);
    X509_set_issuer_name(id.cert, ca ? X509_get_subject_name(ca->cert) : name);
    X509_set_pubkey(id.cert, id.key);
    if (!ca) {
        X509_EXTENSION *is_ca =
            X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");
        X509_add_ext(id.cert, is_ca, -1);
        X509_EXTENSION_free(is_ca);
    }
    X509_sign(id.cert, ca ? ca->key : id.key, EVP_sha256());
    X509_NAME_free(name);
    return id;
}

static inline void write_cert(const identity *id, const char *path)
{
    FILE *file = fopen(path, "w");
    PEM_write_X509(file, id->cert);
    fclose(file);
}

static inline void write_key(const identity *id, const char *path)
{
    FILE *file = fopen(path, "w");
    PEM_write_PrivateKey(file, id->key, NULL, NULL, 0, NULL, NULL);
    fclose(file);
}

typedef struct tls_client_opts {
    const identity *identity; /* Client certificate, sent when requested. */
    const char *alpn;         /* In wire format: "\x08http/1.1". */
    int version;              /* The only TLS version allowed. */
    SSL_SESSION *session;     /* Session to resume. */
} tls_client_opts;

static inline int accept_any(int ok, X509_STORE_CTX *store)
{
    (void)ok;
    (void)store;
    return 1;
}

/* NULL if the handshake fails. */
static inline client *client_connect_tls(int port, tls_client_opts opts)
{
    client *c = client_connect(port);
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, accept_any);
    if (opts.version) {
        SSL_CTX_set_min_proto_version(ctx, opts.version);
        SSL_CTX_set_max_proto_version(ctx, opts.version);
        SSL_CTX_set_security_level(ctx, 0);
    }
    if (opts.identity) {
        SSL_CTX_use_certificate(ctx, opts.identity->cert);
        SSL_CTX_use_PrivateKey(ctx, opts.identity->key);
    }
    if (opts.alpn)
        SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)opts.alpn, (unsigned)strlen(opts.alpn));
    c->ssl = SSL_new(ctx);
    SSL_CTX_free(ctx);
    if (opts.session)
        SSL_set_session(c->ssl, opts.session);
    SSL_set_fd(c->ssl, c->fd);
    int connected;
    do {
        errno = 0;
        connected = SSL_connect(c->ssl);
    } while (client_interrupted(c, connected));
    if (connected == 1)
        return c;
    client_free(c);
    return NULL;
}

#endif
