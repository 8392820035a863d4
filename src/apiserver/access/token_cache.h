/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_cache.h: tokens whose signature was verified a moment ago.
 *
 *     kc__token_cache_key key;
 *     kc__sa_claims *claims = kc__token_cache_get(cache, token, &key);
 *     if (!claims && (claims = verify(token)))
 *         kc__token_cache_put(cache, &key, claims);
 *
 * The cache keeps the claims of a token and says nothing about its time, audience or account: the
 * caller checks these for every request.
 */
#ifndef KC_APISERVER_TOKEN_CACHE_H
#define KC_APISERVER_TOKEN_CACHE_H

#include "apiserver/access/sa_claims.h"
#include "apiserver/access/siphash.h"
#include "kc/clock.h"
#include "kc/metrics.h"

#define KC__TOKEN_CACHE_ENTRIES 4096
#define KC__TOKEN_CACHE_BYTES   ((size_t)8 << 20)
#define KC__TOKEN_CACHE_TTL     (10 * KC_SECOND)

typedef struct kc__token_cache kc__token_cache;

/* A salted hash of the token: the token itself is not kept. */
typedef kc__siphash_result kc__token_cache_key;

/* NULL if a metric of the same name exists with another definition. `metrics` may be NULL. */
kc__token_cache *kc__token_cache_new(const kc_clock *clock, kc_metrics *metrics, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__token_cache *kc__token_cache_free(kc__token_cache *cache);
KC_AUTO_DEFINE(kc__token_cache, kc__token_cache_free)

/* The claims of a token, with a reference, or NULL. Sets the key, for kc__token_cache_put. Any
 * thread; holds a lock for the time of a look-up. */
kc__sa_claims *kc__token_cache_get(kc__token_cache *cache, kc_str token,
                                   kc__token_cache_key *ret_key);
/* Keeps the claims for KC__TOKEN_CACHE_TTL; drops the oldest entries above the limits. Takes a
 * reference of its own. Any thread. */
void kc__token_cache_put(kc__token_cache *cache, const kc__token_cache_key *key,
                         const kc__sa_claims *claims);
/* Counts a verification after a miss: of a token of this server, valid or not. */
void kc__token_cache_count_fetch(kc__token_cache *cache, bool valid);
/* Number of entries, for tests. */
size_t kc__token_cache_count(kc__token_cache *cache);

#endif
