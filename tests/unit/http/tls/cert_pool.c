/* SPDX-License-Identifier: Apache-2.0 */
/* Client certificates that are verified after the handshake: chains, key usages, time, replaced
 * authorities. */
#include "http/tls/cert_pool.h"

#include "http/tls/certificate.h"
#include "kc/buf.h"
#include "testing.h"

#include <openssl/x509v3.h>

#define NOW  (1700000000 * KC_SECOND)
#define HOUR KC_HOUR

typedef struct stage {
    kc__cert_keypair ca, other_ca, between, server, client;
    kc__cert_pool *pool;
} stage;

static kc__cert_keypair pair_of(kc__cert_use use, const char *name, const kc__cert_keypair *issuer)
{
    kc__cert_keypair pair = {0};
    const kc__cert_spec spec = {.use = use, .common_name = name, .lifetime = HOUR};
    assert_int_equal(kc__cert_keypair_generate(&spec, issuer, NOW, &pair, NULL), 0);
    return pair;
}

/* The authorities of this project allow none below them; those of this test do. */
static void allow_authorities_below(const kc__cert_keypair *pair, EVP_PKEY *key)
{
    const int at = X509_get_ext_by_NID(pair->cert, NID_basic_constraints, -1);
    X509_EXTENSION *is_ca =
        X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");
    X509_EXTENSION_free(X509_delete_ext(pair->cert, at));
    X509_add_ext(pair->cert, is_ca, -1);
    X509_EXTENSION_free(is_ca);
    assert_true(X509_sign(pair->cert, key, EVP_sha256()) > 0);
}

static kc__cert_keypair authority_below(const kc__cert_keypair *ca)
{
    kc__cert_keypair pair = pair_of(KC__CERT_AUTHORITY, "between", ca);
    allow_authorities_below(ca, ca->key);
    allow_authorities_below(&pair, ca->key);
    return pair;
}

static int trust_cas(kc__cert_pool *pool, const kc__cert_keypair *a, const kc__cert_keypair *b)
{
    kc_scoped(kc_buf) pem = {0};
    assert_int_equal(kc__cert_write(a->cert, &pem, NULL), 0);
    if (b)
        assert_int_equal(kc__cert_write(b->cert, &pem, NULL), 0);
    return kc__cert_pool_replace(pool, kc_buf_str(&pem), NULL);
}

static stage *stage_new(void)
{
    stage *s = kc_new(stage);
    s->ca = pair_of(KC__CERT_AUTHORITY, "ca", NULL);
    s->other_ca = pair_of(KC__CERT_AUTHORITY, "other", NULL);
    s->between = authority_below(&s->ca);
    s->server = pair_of(KC__CERT_SERVER, "server", &s->ca);
    s->client = pair_of(KC__CERT_CLIENT, "client", &s->ca);
    s->pool = kc__cert_pool_new();
    assert_int_equal(trust_cas(s->pool, &s->ca, NULL), 0);
    return s;
}

static void stage_free(stage *s)
{
    kc__cert_keypair_done(&s->ca);
    kc__cert_keypair_done(&s->other_ca);
    kc__cert_keypair_done(&s->between);
    kc__cert_keypair_done(&s->server);
    kc__cert_keypair_done(&s->client);
    kc__cert_pool_free(s->pool);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static int accept_all(X509_STORE_CTX *ctx, void *user)
{
    (void)ctx;
    (void)user;
    return 1;
}

/* A handshake in memory: what the server then knows about the client. */
static kc__cert_presented *presented_by(const stage *s, const kc__cert_keypair *client,
                                        const kc__cert_keypair *between)
{
    SSL_CTX *here = SSL_CTX_new(TLS_server_method()), *there = SSL_CTX_new(TLS_client_method());
    SSL_CTX_use_certificate(here, s->server.cert);
    SSL_CTX_use_PrivateKey(here, s->server.key);
    SSL_CTX_use_certificate(there, client->cert);
    SSL_CTX_use_PrivateKey(there, client->key);
    if (between)
        SSL_CTX_add1_chain_cert(there, between->cert);
    SSL_CTX_set_verify(here, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(here, accept_all, NULL);
    SSL *a = SSL_new(here), *b = SSL_new(there);
    BIO *one = NULL, *two = NULL;
    BIO_new_bio_pair(&one, 0, &two, 0);
    SSL_set_bio(a, one, one);
    SSL_set_bio(b, two, two);
    SSL_set_accept_state(a);
    SSL_set_connect_state(b);
    for (int i = 0; i < 20; i++) {
        SSL_do_handshake(b);
        SSL_do_handshake(a);
    }
    assert_true(SSL_is_init_finished(a));
    kc__cert_presented *presented = kc__cert_presented_of(a);
    SSL_free(a);
    SSL_free(b);
    SSL_CTX_free(here);
    SSL_CTX_free(there);
    assert_non_null(presented);
    return presented;
}

static bool is_valid(stage *s, kc__cert_presented *presented, int64_t wall)
{
    kc_scoped(kc_error) err = {0};
    const bool valid = kc__cert_pool_verify(s->pool, presented, wall, &err) == 0;
    if (!valid)
        assert_int_equal(err.reason, KC_UNAUTHORIZED);
    return valid;
}

static void certificate_of_the_pool_is_valid(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc__cert_presented *presented = presented_by(s, &s->client, NULL);
    assert_true(is_valid(s, presented, NOW));
    kc__cert_presented_free(presented);
}

static void empty_pool_verifies_nothing(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_auto(kc__cert_pool) *empty = kc__cert_pool_new();
    kc__cert_presented *presented = presented_by(s, &s->client, NULL);
    assert_true(kc__cert_pool_verify(empty, presented, NOW, NULL) < 0);
    kc__cert_presented_free(presented);
}

static void certificate_of_another_authority_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc__cert_keypair foreign = pair_of(KC__CERT_CLIENT, "client", &s->other_ca);
    kc__cert_presented *presented = presented_by(s, &foreign, &s->other_ca);
    assert_false(is_valid(s, presented, NOW));
    kc__cert_presented_free(presented);
    kc__cert_keypair_done(&foreign);
}

static void certificate_for_servers_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc__cert_presented *presented = presented_by(s, &s->server, NULL);
    assert_false(is_valid(s, presented, NOW));
    kc__cert_presented_free(presented);
}

static void chain_needs_the_certificate_between(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc__cert_keypair deep = pair_of(KC__CERT_CLIENT, "deep", &s->between);
    kc__cert_presented *whole = presented_by(s, &deep, &s->between);
    kc__cert_presented *alone = presented_by(s, &deep, NULL);
    assert_true(is_valid(s, whole, NOW));
    assert_false(is_valid(s, alone, NOW));
    kc__cert_presented_free(whole);
    kc__cert_presented_free(alone);
    kc__cert_keypair_done(&deep);
}

static void certificate_expires_on_an_open_connection(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc__cert_presented *presented = presented_by(s, &s->client, NULL);
    const int64_t end = kc__cert_not_after(s->client.cert) * KC_SECOND;
    assert_true(is_valid(s, presented, end - KC_SECOND));
    assert_false(is_valid(s, presented, end + KC__CERT_VERDICT_TTL));
    assert_false(is_valid(s, presented, NOW - HOUR));
    assert_true(is_valid(s, presented, NOW));
    kc__cert_presented_free(presented);
}

static void replaced_authorities_decide_at_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc__cert_presented *presented = presented_by(s, &s->client, NULL);
    assert_true(is_valid(s, presented, NOW));
    assert_int_equal(trust_cas(s->pool, &s->other_ca, NULL), 0);
    assert_false(is_valid(s, presented, NOW));
    assert_int_equal(trust_cas(s->pool, &s->other_ca, &s->ca), 0);
    assert_true(is_valid(s, presented, NOW));
    kc__cert_presented_free(presented);
}

static void broken_authorities_change_nothing(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) pem = {0};
    kc__cert_presented *presented = presented_by(s, &s->client, NULL);
    assert_true(kc__cert_pool_replace(s->pool, KC_STR("nothing"), &err) < 0);
    assert_error(&err, KC_INVALID, "data does not contain any valid RSA or ECDSA certificates");
    assert_int_equal(kc__cert_write(s->other_ca.cert, &pem, NULL), 0);
    kc_buf_puts(&pem, "-----BEGIN CERTIFICATE-----\nhalf");
    assert_true(kc__cert_pool_replace(s->pool, kc_buf_str(&pem), &err) < 0);
    assert_error(&err, KC_INVALID, "a certificate cannot be parsed");
    assert_true(is_valid(s, presented, NOW));
    kc__cert_presented_free(presented);
}

static void two_pools_judge_one_connection(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_auto(kc__cert_pool) *proxies = kc__cert_pool_new();
    assert_int_equal(trust_cas(proxies, &s->other_ca, NULL), 0);
    kc__cert_presented *presented = presented_by(s, &s->client, NULL);
    for (int i = 0; i < 3; i++) {
        assert_true(is_valid(s, presented, NOW));
        assert_true(kc__cert_pool_verify(proxies, presented, NOW, NULL) < 0);
    }
    kc__cert_presented_free(presented);
}

TESTS(certificate_of_the_pool_is_valid, empty_pool_verifies_nothing,
      certificate_of_another_authority_is_refused, certificate_for_servers_is_refused,
      chain_needs_the_certificate_between, certificate_expires_on_an_open_connection,
      replaced_authorities_decide_at_once, broken_authorities_change_nothing,
      two_pools_judge_one_connection)
