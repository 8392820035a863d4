/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cert_pool.h: certificate authorities that verify client certificates after the handshake, and can
 * be replaced while the server runs.
 *
 *     kc__cert_pool *pool = kc__cert_pool_new();
 *     if (kc__cert_pool_replace(pool, pem, err) < 0)
 *         return …;                                          the previous authorities stay
 *     …
 *     if (kc__cert_pool_verify(pool, cert->presented, wall, err) < 0)
 *         return …;
 *
 * A server with several kinds of clients has a pool for each kind. The handshake accepts any
 * certificate (kc__tls_opts.verify_later), so that one connection can be judged by each of them,
 * and by the authorities that are valid now.
 */
#ifndef KC_HTTP_CERT_POOL_H
#define KC_HTTP_CERT_POOL_H

#include "kc/clock.h"
#include "kc/error.h"
#include "kc/mem.h"

#include <openssl/ssl.h>

/* How long the result of a verification is kept with the connection. */
#define KC__CERT_VERDICT_TTL (10 * KC_SECOND)

/* Maximum number of certificates between a client's and the authority's. */
#define KC__CERT_MAX_DEPTH 8

typedef struct kc__cert_pool kc__cert_pool;

/* The certificates that a client presented. Belongs to a connection; on its loop only. */
typedef struct kc__cert_presented kc__cert_presented;

/* An empty pool, which verifies nothing. */
kc__cert_pool *kc__cert_pool_new(void);
/* NULL is allowed; returns NULL. */
kc__cert_pool *kc__cert_pool_free(kc__cert_pool *pool);
KC_AUTO_DEFINE(kc__cert_pool, kc__cert_pool_free)

/* Trusts the certificates of a PEM text instead of the previous ones. KC_INVALID, and no change, if
 * the text has none, or one that cannot be parsed. Any thread. */
int kc__cert_pool_replace(kc__cert_pool *pool, kc_str pem, kc_error *err);

/*
 * Verifies the chain of a client certificate at this time (nanoseconds since 1970): 0, or negative
 * with an error that says why. As in Go: every certificate of the pool is a trust anchor, and every
 * certificate of the chain that has extended key usages must allow client authentication. Keeps the
 * result for KC__CERT_VERDICT_TTL; about 0.2 ms otherwise. Does not block.
 */
int kc__cert_pool_verify(kc__cert_pool *pool, kc__cert_presented *presented, int64_t wall,
                         kc_error *err);

/* The certificates of a handshake; NULL if the client presented none. The caller frees it. */
kc__cert_presented *kc__cert_presented_of(const SSL *ssl);
/* NULL is allowed; returns NULL. */
kc__cert_presented *kc__cert_presented_free(kc__cert_presented *presented);

#endif
