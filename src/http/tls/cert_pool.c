/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cert_pool.c: verifies client certificates against authorities that can change.
 *
 * OpenSSL builds and checks the chain; the rules for key usages are those of Go, which differ: a
 * missing extension and anyExtendedKeyUsage allow every use, authorities with an extension restrict
 * what they issue, and the extension keyUsage is not checked.
 *
 * A connection keeps the result for each pool for ten seconds, or until the pool changes. So a
 * busy connection pays for one signature in ten seconds, and a certificate that expires, or whose
 * authority is removed, loses its access on open connections, too.
 *
 * The pool has a lock for the pointer of its store; OpenSSL counts references to the store, so a
 * verification in progress keeps the store that it began with.
 */
#include "http/tls/cert_pool.h"

#include "http/tls/certificate.h"
#include "kc/thread.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

/* Pools whose results a connection keeps: one for users, one for proxies. */
enum { MAX_VERDICTS = 2 };

struct kc__cert_pool {
    kc_mutex mutex;    /* Guards store and generation. */
    X509_STORE *store; /* NULL: empty. */
    uint64_t generation;
};

typedef struct cert_verdict {
    const kc__cert_pool *pool; /* NULL: unused. */
    uint64_t generation;
    int64_t until; /* Wall time. */
    int code;      /* X509_V_OK, or why the certificate is not valid. */
} cert_verdict;

struct kc__cert_presented {
    X509 *leaf;
    STACK_OF(X509) * others; /* NULL: none. */
    cert_verdict verdicts[MAX_VERDICTS];
};

/* ---- pools ---- */

static bool add_to_store(X509 *cert, void *user)
{
    return X509_STORE_add_cert(user, cert) == 1;
}

/* Blocks of a PEM text that claim to be certificates. */
static size_t count_cert_blocks(kc_str pem)
{
    static const kc_str begin = KC_STR_INIT("-----BEGIN CERTIFICATE-----");
    size_t n = 0;
    for (size_t i = 0; i + begin.n <= pem.n; i++)
        n += pem.p[i] == '-' && !memcmp(pem.p + i, begin.p, begin.n);
    return n;
}

static X509_STORE *store_of_pem(kc_str pem, kc_error *err)
{
    X509_STORE *store = X509_STORE_new();
    const size_t n = store ? kc__cert_each(pem, add_to_store, store) : 0;
    if (n && n == count_cert_blocks(pem))
        return store;
    X509_STORE_free(store);
    kc_error_set(err, KC_INVALID,
                 n ? "a certificate cannot be parsed"
                   : "data does not contain any valid RSA or ECDSA certificates");
    return NULL;
}

kc__cert_pool *kc__cert_pool_new(void)
{
    kc__cert_pool *pool = kc_new(kc__cert_pool);
    kc_mutex_init(&pool->mutex);
    return pool;
}

kc__cert_pool *kc__cert_pool_free(kc__cert_pool *pool)
{
    if (!pool)
        return NULL;
    X509_STORE_free(pool->store);
    kc_mutex_done(&pool->mutex);
    free(pool);
    return NULL;
}

int kc__cert_pool_replace(kc__cert_pool *pool, kc_str pem, kc_error *err)
{
    X509_STORE *store = store_of_pem(pem, err), *old = NULL;
    if (!store)
        return kc_error_result(err);
    kc_locked (&pool->mutex) {
        old = pool->store;
        pool->store = store;
        pool->generation++;
    }
    X509_STORE_free(old);
    return 0;
}

/* The store, with a reference, or NULL. */
static X509_STORE *current_store(kc__cert_pool *pool, uint64_t *ret_generation)
{
    X509_STORE *store = NULL;
    kc_locked (&pool->mutex) {
        store = pool->store;
        *ret_generation = pool->generation;
        if (store)
            X509_STORE_up_ref(store);
    }
    return store;
}

/* ---- verification ---- */

static bool allows_clients(X509 *cert)
{
    const uint32_t uses = X509_get_extended_key_usage(cert);
    return uses == UINT32_MAX || uses & (XKU_SSL_CLIENT | XKU_ANYEKU);
}

static int check_chain_uses(const STACK_OF(X509) * chain)
{
    for (int i = 0; i < sk_X509_num(chain); i++)
        if (!allows_clients(sk_X509_value(chain, i)))
            return X509_V_ERR_INVALID_PURPOSE;
    return X509_V_OK;
}

static void set_verification(X509_STORE_CTX *ctx, int64_t wall)
{
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(ctx);
    X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
    X509_VERIFY_PARAM_set_purpose(param, X509_PURPOSE_ANY);
    X509_VERIFY_PARAM_set_auth_level(param, 1);
    X509_VERIFY_PARAM_set_depth(param, KC__CERT_MAX_DEPTH);
    X509_VERIFY_PARAM_set_time(param, (time_t)(wall / KC_SECOND));
}

static int verify_in_store(X509_STORE *store, const kc__cert_presented *presented, int64_t wall)
{
    int code = X509_V_ERR_UNSPECIFIED;
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    if (ctx && X509_STORE_CTX_init(ctx, store, presented->leaf, presented->others) == 1) {
        set_verification(ctx, wall);
        code = X509_verify_cert(ctx) == 1 ? check_chain_uses(X509_STORE_CTX_get0_chain(ctx))
                                          : X509_STORE_CTX_get_error(ctx);
    }
    X509_STORE_CTX_free(ctx);
    ERR_clear_error();
    return code;
}

/* The slot of this pool, or the one to use for it. */
static cert_verdict *verdict_slot(kc__cert_presented *presented, const kc__cert_pool *pool)
{
    for (size_t i = 0; i < MAX_VERDICTS; i++)
        if (!presented->verdicts[i].pool || presented->verdicts[i].pool == pool)
            return &presented->verdicts[i];
    return &presented->verdicts[0];
}

static bool is_fresh(const cert_verdict *verdict, const kc__cert_pool *pool, uint64_t generation,
                     int64_t wall)
{
    return verdict->pool == pool && verdict->generation == generation && wall < verdict->until &&
           verdict->until - wall <= KC__CERT_VERDICT_TTL;
}

int kc__cert_pool_verify(kc__cert_pool *pool, kc__cert_presented *presented, int64_t wall,
                         kc_error *err)
{
    uint64_t generation = 0;
    cert_verdict *verdict = verdict_slot(presented, pool);
    X509_STORE *store = current_store(pool, &generation);
    if (store && !is_fresh(verdict, pool, generation, wall))
        *verdict = (cert_verdict){.pool = pool,
                                  .generation = generation,
                                  .until = wall + KC__CERT_VERDICT_TTL,
                                  .code = verify_in_store(store, presented, wall)};
    const int code = store ? verdict->code : X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;
    X509_STORE_free(store);
    if (code == X509_V_OK)
        return 0;
    return kc_error_set(err, KC_UNAUTHORIZED, "verifying certificate failed: %s",
                        X509_verify_cert_error_string(code));
}

/* ---- certificates of a connection ---- */

kc__cert_presented *kc__cert_presented_of(const SSL *ssl)
{
    X509 *leaf = SSL_get1_peer_certificate(ssl);
    if (!leaf)
        return NULL;
    kc__cert_presented *presented = kc_new(kc__cert_presented);
    presented->leaf = leaf;
    const STACK_OF(X509) *others = SSL_get_peer_cert_chain(ssl);
    if (others)
        presented->others = X509_chain_up_ref((STACK_OF(X509) *)others);
    return presented;
}

kc__cert_presented *kc__cert_presented_free(kc__cert_presented *presented)
{
    if (!presented)
        return NULL;
    X509_free(presented->leaf);
    sk_X509_pop_free(presented->others, X509_free);
    free(presented);
    return NULL;
}
