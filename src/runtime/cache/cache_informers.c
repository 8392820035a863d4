/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_informers.c: creates informers on demand and counts their users.
 *
 * All users of a kind share one informer. A kind has two informers only if metadata was requested
 * first and full objects later. The number of users grows, and becomes zero, under the cache's
 * mutex; the caller that drops the last use removes the informer under the mutex and frees it after
 * unlocking. Other uses are dropped without the mutex. An informer that a read started has the
 * cache itself as a user and therefore stays.
 */
#include "runtime/cache/cache_internal.h"
#include "runtime/cache/informer_internal.h"

kc_informer *kc__cache_find(const kc_cache *cache, const kc_kind *kind, kc__cache_want want)
{
    kc_informer *second = NULL;
    const bool enough =
        want == KC__CACHE_WANT_METADATA || kc__cache_kind_opts(cache, kind).metadata_only;
    kc_vec_each (&cache->informers, it) {
        if (!kc__cache_same_kind(kc_informer_kind(*it), kind))
            continue;
        if (!kc__informer_metadata_only(*it))
            return *it;
        second = *it;
    }
    return enough ? second : NULL;
}

/* Call it with the mutex held. */
static kc_informer *cache_informers_make(kc_cache *cache, const kc_kind *kind, bool metadata_only,
                                         kc_error *err)
{
    const kc_cache_opts *o = &cache->opts;
    const kc_cache_kind_opts own = kc__cache_kind_opts(cache, kind);
    return kc__informer_new(
        &(kc__informer_opts){
            .cache = cache,
            .client = cache->client,
            .kind = kind,
            .namespaces = own.namespaces ? own.namespaces : o->namespaces,
            .labels = own.labels,
            .fields = own.fields,
            .transform = own.transform ? own.transform : o->transform,
            .transform_user = own.transform ? own.transform_user : o->transform_user,
            .metadata_only = metadata_only || own.metadata_only,
            .not_older = kc__cache_written(cache, kind),
            .resync = o->resync,
            .list_deadline = o->list_deadline,
            .watch_stall_timeout = o->watch_stall_timeout,
            .plain_lists = o->plain_lists,
            .clock = o->clock,
            .rand = kc_rand_split(&cache->rand),
            .log = cache->log,
            .metrics = o->metrics,
        },
        err);
}

void kc__cache_start_informer(kc_cache *cache, kc_informer *informer)
{
    kc__index_defs defs = {0};
    kc__cache_indexes_of(cache, kc_informer_kind(informer), &defs);
    kc__informer_start(informer, cache->executor, defs.items, defs.n);
    kc_vec_done(&defs);
}

/* Call it with the mutex held. A new informer has no user yet. */
static kc_informer *cache_informers_add(kc_cache *cache, const kc_kind *kind, kc__cache_want want,
                                        kc_error *err)
{
    if (cache->stopped) {
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the cache was stopped");
        return NULL;
    }
    kc_informer *informer = cache_informers_make(cache, kind, want == KC__CACHE_WANT_METADATA, err);
    if (!informer)
        return NULL;
    if (cache->started)
        kc__cache_start_informer(cache, informer);
    kc_vec_push(&cache->informers, informer);
    return informer;
}

kc_informer *kc__informer_use(kc_informer *informer)
{
    if (informer)
        atomic_fetch_add(&informer->users, 1);
    return informer;
}

static kc_informer *informer_for(kc_cache *cache, const kc_kind *kind, kc__cache_want want,
                                 kc_error *err)
{
    kc_informer *informer = NULL;
    kc_locked (&cache->mutex) {
        informer = kc__cache_find(cache, kind, want);
        if (!informer)
            informer = cache_informers_add(cache, kind, want, err);
        kc__informer_use(informer);
    }
    return informer;
}

kc_informer *kc_cache_informer(kc_cache *cache, const kc_kind *kind, kc_error *err)
{
    return informer_for(cache, kind, KC__CACHE_WANT_OBJECTS, err);
}

kc_informer *kc_cache_metadata_informer(kc_cache *cache, const kc_kind *kind, kc_error *err)
{
    return informer_for(cache, kind, KC__CACHE_WANT_METADATA, err);
}

/* Call it with the mutex held. True when no user is left: then the caller owns the informer. */
static bool cache_informers_leave(kc_cache *cache, kc_informer *informer)
{
    if (atomic_fetch_sub(&informer->users, 1) > 1)
        return false;
    for (size_t at = 0; at < cache->informers.n; at++)
        if (cache->informers.items[at] == informer) {
            kc_vec_remove(&cache->informers, at);
            break;
        }
    return true;
}

/* Drops a use that is not the last one, without the mutex: every read of the cache ends here. */
static bool leave_to_others(kc_informer *informer)
{
    unsigned users = atomic_load(&informer->users);
    while (users > 1)
        if (atomic_compare_exchange_weak(&informer->users, &users, users - 1))
            return true;
    return false;
}

kc_informer *kc_informer_release(kc_informer *informer)
{
    bool last = false;
    if (!informer || leave_to_others(informer))
        return NULL;
    kc_cache *cache = kc__informer_cache(informer);
    kc_locked (&cache->mutex)
        last = cache_informers_leave(cache, informer);
    if (last)
        kc__informer_free(informer);
    return NULL;
}

static int check_readable(const kc_cache *cache, kc_error *err)
{
    return cache->started
               ? 0
               : kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the cache has not been started");
}

kc_informer *kc__cache_use(kc_cache *cache, const kc_kind *kind, kc__cache_want want, kc_error *err)
{
    kc_informer *informer = NULL;
    kc_locked (&cache->mutex) {
        if (check_readable(cache, err) < 0)
            return NULL;
        informer = kc__cache_find(cache, kind, want);
        if (!informer && cache->opts.fail_on_missing) {
            kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the cache has no informer of %s",
                         kind->plural);
            return NULL;
        }
        if (!informer) /* The cache itself becomes a user: a kind that was read once will be read
                          again. */
            informer = kc__informer_use(cache_informers_add(cache, kind, want, err));
        kc__informer_use(informer);
    }
    return informer;
}
