/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_informers.c: informers on demand, counted.
 *
 * One informer for a kind serves everybody. There are two of a kind only when somebody wanted
 * metadata first and somebody else the objects later. The count of users is the cache's to guard;
 * who brings it to zero takes the informer out under the mutex and ends it outside. An informer
 * that a read has started has the cache as a user, and so stays.
 */
#include "runtime/cache_internal.h"
#include "runtime/informer_internal.h"

kc_informer *kc__cache_find(const kc_cache *cache, const kc_kind *kind, kc__cache_want want)
{
    kc_informer *second = NULL;
    const bool enough = want == KC__WANT_METADATA || kc__cache_kind_opts(cache, kind).metadata_only;
    kc_vec_each (&cache->informers, it) {
        if (!kc__same_kind(kc_informer_kind(*it), kind))
            continue;
        if (!kc__informer_metadata_only(*it))
            return *it;
        second = *it;
    }
    return enough ? second : NULL;
}

/* Under the mutex. */
static kc_informer *make(kc_cache *cache, const kc_kind *kind, bool metadata_only, kc_error *err)
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
            .stall = o->stall,
            .plain_lists = o->plain_lists,
            .clock = o->clock,
            .rand = kc_rand_split(&cache->rand),
            .log = cache->log,
            .metrics = o->metrics,
        },
        err);
}

int kc__cache_start_informer(kc_cache *cache, kc_informer *informer, kc_error *err)
{
    kc__index_defs defs = {0};
    kc__cache_indexes_of(cache, kc_informer_kind(informer), &defs);
    int failed = kc__informer_start(informer, defs.items, defs.n, err);
    kc_vec_done(&defs);
    return failed;
}

/* Under the mutex. A new one has no user yet. */
static kc_informer *add(kc_cache *cache, const kc_kind *kind, kc__cache_want want, kc_error *err)
{
    if (cache->stopped) {
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the cache was stopped");
        return NULL;
    }
    kc_informer *informer = make(cache, kind, want == KC__WANT_METADATA, err);
    if (!informer)
        return NULL;
    if (cache->started && kc__cache_start_informer(cache, informer, err) < 0)
        return kc__informer_free(informer);
    kc_vec_push(&cache->informers, informer);
    return informer;
}

kc_informer *kc__informer_use(kc_informer *informer)
{
    if (informer)
        informer->users++;
    return informer;
}

static kc_informer *informer_for(kc_cache *cache, const kc_kind *kind, kc__cache_want want,
                                 kc_error *err)
{
    kc_informer *informer = NULL;
    kc_locked (&cache->mutex) {
        informer = kc__cache_find(cache, kind, want);
        if (!informer)
            informer = add(cache, kind, want, err);
        kc__informer_use(informer);
    }
    return informer;
}

kc_informer *kc_cache_informer(kc_cache *cache, const kc_kind *kind, kc_error *err)
{
    return informer_for(cache, kind, KC__WANT_OBJECTS, err);
}

kc_informer *kc_cache_metadata_informer(kc_cache *cache, const kc_kind *kind, kc_error *err)
{
    return informer_for(cache, kind, KC__WANT_METADATA, err);
}

/* Under the mutex. True when nobody uses it any more: then it is the caller's. */
static bool leave(kc_cache *cache, kc_informer *informer)
{
    if (--informer->users)
        return false;
    for (size_t at = 0; at < cache->informers.n; at++)
        if (cache->informers.items[at] == informer) {
            kc_vec_remove(&cache->informers, at);
            break;
        }
    return true;
}

kc_informer *kc_informer_release(kc_informer *informer)
{
    bool last = false;
    if (!informer)
        return NULL;
    kc_cache *cache = kc__informer_cache(informer);
    kc_locked (&cache->mutex)
        last = leave(cache, informer);
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
        if (!informer) /* With a use of the cache's own: what was read once will be again. */
            informer = kc__informer_use(add(cache, kind, want, err));
        kc__informer_use(informer);
    }
    return informer;
}
