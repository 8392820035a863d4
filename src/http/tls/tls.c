/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.c: server-side TLS, with OpenSSL 3.
 *
 * OpenSSL releases the buffers of a connection while they are empty, one read returns all available
 * data (read-ahead), a write may be partial and its buffer may move between attempts: this is what
 * a transport with its own non-blocking socket needs. Sessions are resumed by tickets; the server
 * stores nothing for them. A client may present a certificate; an invalid one ends the handshake,
 * unless the application verifies certificates itself (verify_later).
 *
 * Replacing certificates replaces the whole context, so that a handshake uses either all of the old
 * or all of the new configuration; a handshake in progress keeps its context.
 *
 * Threads: all loops share a kc__tls (OpenSSL counts references to its context); an SSL belongs to
 * one loop.
 */
#include "http/tls/tls_internal.h"

#include "http/server/protocols.h"
#include "http/tls/cert_pool.h"
#include "http/tls/certificate.h"
#include "http/tls_bio.h"
#include "kc/thread.h"

#include <openssl/err.h>
#include <openssl/x509.h>

struct kc__tls {
    BIO_METHOD *bio; /* Socket I/O of the connections. */
    kc_mutex mutex;  /* Guards the pointer. */
    SSL_CTX *ctx;
};

static int refuse_tls_setup(kc_error *err, const char *what, const char *file)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    const int result = kc_error_set(err, KC_BAD_REQUEST, "cannot use %s %s: %s", what, file,
                                    reason ? reason : "not readable");
    ERR_clear_error();
    return result;
}

static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_n,
                           const unsigned char *offer, unsigned n, void *user)
{
    (void)ssl;
    (void)user;
    const kc__conn_protocol *chosen = kc__conn_protocol_by_alpn(offer, n);
    if (!chosen)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *ret = (const unsigned char *)chosen->name;
    *ret_n = (unsigned char)strlen(chosen->name);
    return SSL_TLSEXT_ERR_OK;
}

static void set_up(SSL_CTX *ctx)
{
    static const unsigned char context[] = "kubecontroller";
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_session_id_context(ctx, context, sizeof(context) - 1);
    SSL_CTX_set_num_tickets(ctx, 1);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
}

/* The first certificate is the server's own, the others form the chain to its CA. */
static bool use_cert(X509 *cert, void *user)
{
    SSL_CTX *ctx = user;
    if (!SSL_CTX_get0_certificate(ctx))
        return SSL_CTX_use_certificate(ctx, cert) == 1;
    return SSL_CTX_add1_chain_cert(ctx, cert) == 1;
}

static int use_key_text(SSL_CTX *ctx, const kc__tls_opts *opts, kc_error *err)
{
    EVP_PKEY *key = NULL;
    kc__cert_each(opts->cert, use_cert, ctx);
    if (!SSL_CTX_get0_certificate(ctx))
        return kc_error_set(err, KC_INVALID, "no certificate found");
    if (kc__cert_key_parse(opts->key, &key, err) < 0)
        return kc_error_result(err);
    const bool fits = SSL_CTX_use_PrivateKey(ctx, key) == 1 && SSL_CTX_check_private_key(ctx) == 1;
    EVP_PKEY_free(key);
    ERR_clear_error();
    return fits ? 0
                : kc_error_set(err, KC_INVALID, "the private key does not match the certificate");
}

static int use_key_pair(SSL_CTX *ctx, const kc__tls_opts *opts, kc_error *err)
{
    if (!opts->cert_file)
        return use_key_text(ctx, opts, err);
    if (SSL_CTX_use_certificate_chain_file(ctx, opts->cert_file) != 1)
        return refuse_tls_setup(err, "certificate", opts->cert_file);
    if (SSL_CTX_use_PrivateKey_file(ctx, opts->key_file, SSL_FILETYPE_PEM) != 1)
        return refuse_tls_setup(err, "private key", opts->key_file);
    if (SSL_CTX_check_private_key(ctx) != 1)
        return refuse_tls_setup(err, "private key", opts->key_file);
    return 0;
}

static bool trust(X509 *cert, void *user)
{
    SSL_CTX *ctx = user;
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), cert) == 1 &&
           SSL_CTX_add_client_CA(ctx, cert) == 1;
}

/* ---- certificates that the application verifies ---- */

static int accept_unverified(X509_STORE_CTX *ctx, void *user)
{
    (void)user;
    X509_STORE_CTX_set_error(ctx, X509_V_OK);
    return 1;
}

static bool verifies_later(const SSL *ssl)
{
    return SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)) != NULL;
}

/* A ticket holds the client's own certificate, not the others that it presented. */
static int mark_ticket(SSL *ssl, void *user)
{
    (void)user;
    if (SSL_get0_peer_certificate(ssl) && sk_X509_num(SSL_get_peer_cert_chain(ssl)) > 0)
        SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), "", 1);
    return 1;
}

/* Sessions that lack certificates of the chain are not resumed. */
static SSL_TICKET_RETURN check_ticket(SSL *ssl, SSL_SESSION *session, const unsigned char *name,
                                      size_t n_name, SSL_TICKET_STATUS status, void *user)
{
    void *mark = NULL;
    size_t n = 0;
    (void)ssl, (void)name, (void)n_name, (void)user;
    if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW)
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    if (SSL_SESSION_get0_ticket_appdata(session, &mark, &n) == 1 && n)
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

static void verify_later(SSL_CTX *ctx)
{
    static const char mark[] = "verify later";
    SSL_CTX_set_cert_verify_callback(ctx, accept_unverified, NULL);
    SSL_CTX_set_session_ticket_cb(ctx, mark_ticket, check_ticket, NULL);
    SSL_CTX_set_app_data(ctx, (void *)mark);
}

/* ---- client CAs ---- */

static int use_client_ca(SSL_CTX *ctx, const kc__tls_opts *opts, kc_error *err)
{
    const char *file = opts->client_ca_file;
    if (!file && kc_str_empty(opts->client_ca))
        return 0;
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    if (opts->verify_later)
        verify_later(ctx);
    if (!file)
        return kc__cert_each(opts->client_ca, trust, ctx)
                   ? 0
                   : refuse_tls_setup(err, "client CA bundle", "text");
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(file);
    if (!names || SSL_CTX_load_verify_file(ctx, file) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return refuse_tls_setup(err, "client CA bundle", file);
    }
    SSL_CTX_set_client_CA_list(ctx, names);
    return 0;
}

static SSL_CTX *context_new(const kc__tls_opts *opts, kc_error *err)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (!ctx) {
        kc_error_set(err, KC_INTERNAL, "cannot set up TLS");
        return NULL;
    }
    set_up(ctx);
    if (use_key_pair(ctx, opts, err) == 0 && use_client_ca(ctx, opts, err) == 0)
        return ctx;
    SSL_CTX_free(ctx);
    return NULL;
}

kc__tls *kc__tls_new(const kc__tls_opts *opts, kc_error *err)
{
    SSL_CTX *ctx = context_new(opts, err);
    if (!ctx)
        return NULL;
    kc__tls *tls = kc_new(kc__tls);
    kc_mutex_init(&tls->mutex);
    tls->ctx = ctx;
    tls->bio = kc__tls_bio_method_new();
    if (tls->bio)
        return tls;
    kc_error_set(err, KC_INTERNAL, "cannot set up TLS");
    return kc__tls_free(tls);
}

int kc__tls_replace(kc__tls *tls, const kc__tls_opts *opts, kc_error *err)
{
    SSL_CTX *ctx = context_new(opts, err), *old = NULL;
    if (!ctx)
        return kc_error_result(err);
    kc_locked (&tls->mutex) {
        old = tls->ctx;
        tls->ctx = ctx;
    }
    SSL_CTX_free(old);
    return 0;
}

kc__tls *kc__tls_free(kc__tls *tls)
{
    if (!tls)
        return NULL;
    SSL_CTX_free(tls->ctx);
    BIO_meth_free(tls->bio);
    kc_mutex_done(&tls->mutex);
    free(tls);
    return NULL;
}

SSL *kc__tls_accept(kc__tls *tls, int fd)
{
    SSL *ssl = NULL;
    kc_locked (&tls->mutex)
        ssl = SSL_new(tls->ctx);
    if (!ssl || !kc__tls_bio_attach(ssl, tls->bio, fd)) {
        SSL_free(ssl);
        return NULL;
    }
    SSL_set_accept_state(ssl);
    return ssl;
}

kc_str kc__tls_protocol(const SSL *ssl)
{
    const unsigned char *name = NULL;
    unsigned n = 0;
    SSL_get0_alpn_selected(ssl, &name, &n);
    return kc_str_of((const char *)name, n);
}

/* ---- client certificates ---- */

typedef struct owned_cert {
    kc__conn_client_cert cert; /* First: the public part. */
    kc_arena arena;
} owned_cert;

static kc_str tls_text_of(const X509_NAME_ENTRY *entry, kc_arena *arena)
{
    unsigned char *utf8 = NULL;
    int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
    kc_str copy = n < 0 ? (kc_str){0} : kc_arena_str(arena, kc_str_of((char *)utf8, (size_t)n));
    OPENSSL_free(utf8);
    return copy;
}

static bool is_uid_attribute(const X509_NAME_ENTRY *entry)
{
    char oid[64];
    const int n = OBJ_obj2txt(oid, sizeof(oid), X509_NAME_ENTRY_get_object(entry), 1);
    return n > 0 && !strcmp(oid, KC__CONN_CERT_UID);
}

/* As in Go, the last common name is used, and all organizations. */
static void read_subject(owned_cert *owned, const X509_NAME *subject)
{
    int n = X509_NAME_entry_count(subject);
    kc_str *organizations = kc_arena_calloc(&owned->arena, (size_t)n + 1, sizeof(kc_str));
    kc_str *uids = kc_arena_calloc(&owned->arena, (size_t)n + 1, sizeof(kc_str));
    owned->cert.organizations = organizations;
    owned->cert.uids = uids;
    for (int i = 0; i < n; i++) {
        const X509_NAME_ENTRY *entry = X509_NAME_get_entry(subject, i);
        int what = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
        if (what == NID_commonName)
            owned->cert.common_name = tls_text_of(entry, &owned->arena);
        else if (what == NID_organizationName)
            organizations[owned->cert.n_organizations++] = tls_text_of(entry, &owned->arena);
        else if (is_uid_attribute(entry))
            uids[owned->cert.n_uids++] = tls_text_of(entry, &owned->arena);
    }
}

static void write_digest(kc__conn_client_cert *cert, const X509 *x509)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    X509_digest(x509, EVP_sha256(), digest, &n);
    for (unsigned i = 0; i < n && i < 32; i++) {
        cert->sha256[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        cert->sha256[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
}

kc__conn_client_cert *kc__tls_client_cert(const SSL *ssl)
{
    const X509 *x509 = SSL_get0_peer_certificate(ssl);
    if (!x509 || SSL_get_verify_result(ssl) != X509_V_OK)
        return NULL;
    owned_cert *owned = kc_new(owned_cert);
    read_subject(owned, X509_get_subject_name(x509));
    write_digest(&owned->cert, x509);
    if (verifies_later(ssl))
        owned->cert.presented = kc__cert_presented_of(ssl);
    return &owned->cert;
}

kc__conn_client_cert *kc__tls_client_cert_free(kc__conn_client_cert *cert)
{
    owned_cert *owned = (owned_cert *)cert;
    if (!owned)
        return NULL;
    kc__cert_presented_free(owned->cert.presented);
    kc_arena_done(&owned->arena);
    free(owned);
    return NULL;
}
