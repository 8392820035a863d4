/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_results.c: results by review, in the order of their last use. A result that has
 * expired is dropped when it is looked up, or when it is the least recently used one.
 */
#include "apiserver/authz/webhook_results.h"

#include "kc/dlist.h"
#include "kc/map.h"
#include "kc/ref.h"
#include "kc/thread.h"

/* ---- results ---- */

struct kc__authz_result {
    kc_ref refs;
    kc__authz_decision decision;
    size_t reason_length, error_length;
    char text[]; /* The reason, then the error. */
};

kc__authz_result *kc__authz_result_new(kc__authz_decision decision, kc_str reason, kc_str error)
{
    kc__authz_result *result = kc_calloc(1, sizeof(*result) + reason.n + error.n);
    kc_ref_init(&result->refs);
    result->decision = decision;
    result->reason_length = reason.n;
    result->error_length = error.n;
    if (reason.n)
        memcpy(result->text, reason.p, reason.n);
    if (error.n)
        memcpy(result->text + reason.n, error.p, error.n);
    return result;
}

kc__authz_result *kc__authz_result_ref(kc__authz_result *result)
{
    kc_ref_add(&result->refs);
    return result;
}

kc__authz_result *kc__authz_result_unref(kc__authz_result *result)
{
    if (result && kc_ref_drop(&result->refs))
        free(result);
    return NULL;
}

kc__authz_decision kc__authz_result_decision(const kc__authz_result *result)
{
    return result->decision;
}

kc_str kc__authz_result_reason(const kc__authz_result *result)
{
    return kc_str_of(result->text, result->reason_length);
}

kc_str kc__authz_result_error(const kc__authz_result *result)
{
    return kc_str_of(result->text + result->reason_length, result->error_length);
}

/* ---- the cache ---- */

typedef struct cached_access {
    kc_dlist_link used;
    kc__authz_result *result;
    int64_t expires; /* Monotonic. */
    size_t length;
    char review[];
} cached_access;

struct kc__authz_result_cache {
    const kc_clock *clock;
    kc_mutex mutex; /* Guards the fields below. A leaf lock. */
    kc_map by_review;
    kc_dlist used; /* The least recently used one first. */
    size_t bytes;
};

kc__authz_result_cache *kc__authz_result_cache_new(const kc_clock *clock)
{
    kc__authz_result_cache *cache = kc_new(kc__authz_result_cache);
    cache->clock = clock ? clock : kc_clock_real();
    kc_mutex_init(&cache->mutex);
    kc_dlist_init(&cache->used);
    return cache;
}

static size_t cached_bytes(const cached_access *entry)
{
    return sizeof(*entry) + entry->length + sizeof(*entry->result) + entry->result->reason_length +
           entry->result->error_length;
}

/* Call it with the mutex held. */
static void drop_cached(kc__authz_result_cache *cache, cached_access *entry)
{
    cache->bytes -= cached_bytes(entry);
    kc_map_remove(&cache->by_review, kc_str_of(entry->review, entry->length));
    kc_dlist_remove(&entry->used);
    kc__authz_result_unref(entry->result);
    free(entry);
}

kc__authz_result_cache *kc__authz_result_cache_free(kc__authz_result_cache *cache)
{
    if (!cache)
        return NULL;
    kc_dlist_each (&cache->used, cached_access, used, entry)
        drop_cached(cache, entry);
    kc_map_done(&cache->by_review);
    kc_mutex_done(&cache->mutex);
    free(cache);
    return NULL;
}

/* Call it with the mutex held. */
static kc__authz_result *find_cached(kc__authz_result_cache *cache, kc_str review)
{
    cached_access *entry = kc_map_get(&cache->by_review, review);
    if (!entry)
        return NULL;
    if (entry->expires <= kc_clock_now(cache->clock)) {
        drop_cached(cache, entry);
        return NULL;
    }
    kc_dlist_remove(&entry->used);
    kc_dlist_push(&cache->used, &entry->used);
    return kc__authz_result_ref(entry->result);
}

kc__authz_result *kc__authz_result_cache_get(kc__authz_result_cache *cache, kc_str review)
{
    kc__authz_result *result = NULL;
    kc_locked (&cache->mutex)
        result = find_cached(cache, review);
    return result;
}

static cached_access *cached_access_new(kc_str review, kc__authz_result *result, int64_t expires)
{
    cached_access *entry = kc_calloc(1, sizeof(*entry) + review.n);
    entry->result = kc__authz_result_ref(result);
    entry->expires = expires;
    entry->length = review.n;
    memcpy(entry->review, review.p, review.n);
    return entry;
}

/* Call it with the mutex held. */
static void add_cached(kc__authz_result_cache *cache, cached_access *entry)
{
    const kc_str review = kc_str_of(entry->review, entry->length);
    cached_access *before = kc_map_get(&cache->by_review, review);
    if (before)
        drop_cached(cache, before);
    kc_map_put(&cache->by_review, review, entry);
    kc_dlist_push(&cache->used, &entry->used);
    cache->bytes += cached_bytes(entry);
    while (cache->by_review.n > KC__AUTHZ_MAX_CACHED_RESULTS ||
           cache->bytes > KC__AUTHZ_MAX_CACHED_BYTES)
        drop_cached(cache, kc_container_of(kc_dlist_first(&cache->used), cached_access, used));
}

void kc__authz_result_cache_put(kc__authz_result_cache *cache, kc_str review,
                                kc__authz_result *result, int64_t ttl)
{
    if (ttl <= 0)
        return;
    cached_access *entry = cached_access_new(review, result, kc_clock_deadline(cache->clock, ttl));
    kc_locked (&cache->mutex)
        add_cached(cache, entry);
}
