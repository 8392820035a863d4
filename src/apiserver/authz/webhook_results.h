/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_results.h: results of an authorization webhook, and a cache of them. Both may be used on
 * any thread.
 */
#ifndef KC_APISERVER_AUTHZ_WEBHOOK_RESULTS_H
#define KC_APISERVER_AUTHZ_WEBHOOK_RESULTS_H

#include "apiserver/authz/authz.h"
#include "kc/clock.h"

/* Limits of a cache: results, and bytes of reviews and results. */
#define KC__AUTHZ_MAX_CACHED_RESULTS 8192
#define KC__AUTHZ_MAX_CACHED_BYTES   ((size_t)16 << 20)

/* Immutable and reference-counted. */
typedef struct kc__authz_result kc__authz_result;

/* `reason` and `error` may be empty. */
kc__authz_result *kc__authz_result_new(kc__authz_decision decision, kc_str reason, kc_str error);
kc__authz_result *kc__authz_result_ref(kc__authz_result *result);
/* NULL is allowed; returns NULL. */
kc__authz_result *kc__authz_result_unref(kc__authz_result *result);

kc__authz_decision kc__authz_result_decision(const kc__authz_result *result);
kc_str kc__authz_result_reason(const kc__authz_result *result);
/* Why the call failed; empty: it did not. */
kc_str kc__authz_result_error(const kc__authz_result *result);

typedef struct kc__authz_result_cache kc__authz_result_cache;

kc__authz_result_cache *kc__authz_result_cache_new(const kc_clock *clock);
/* NULL is allowed; returns NULL. */
kc__authz_result_cache *kc__authz_result_cache_free(kc__authz_result_cache *cache);
/* The result of a review with a reference; NULL: none is cached, or it has expired. */
kc__authz_result *kc__authz_result_cache_get(kc__authz_result_cache *cache, kc_str review);
/* Caches a result for a time; drops the least recently used ones above the limits. */
void kc__authz_result_cache_put(kc__authz_result_cache *cache, kc_str review,
                                kc__authz_result *result, int64_t ttl);

#endif
