/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c: the lifecycle of a cache: options, start, stop, health.
 *
 * A cache is a set of informers, the options they are created with, and the thread pool that runs
 * their steps (executor.h). Informers are stopped without the cache's mutex held, because their
 * event handlers may be reading from the cache.
 */
#include "runtime/cache/cache_internal.h"

#define SYNC_TIMEOUT        (2 * KC_MINUTE)
#define LIST_DEADLINE       (30 * KC_SECOND)
#define WATCH_STALL_TIMEOUT (5 * KC_MINUTE)

/* ---- options ---- */

static const char *dup_text(const char *text)
{
    return text ? kc_strdup(text) : NULL;
}

static const char *const *dup_names(const char *const *names)
{
    size_t n = 0;
    while (names && names[n])
        n++;
    if (!n)
        return NULL;
    const char **copy = kc_calloc(n + 1, sizeof(char *));
    for (size_t k = 0; k < n; k++)
        copy[k] = kc_strdup(names[k]);
    return copy;
}

static void free_names(const char *const *names)
{
    for (size_t k = 0; names && names[k]; k++)
        free((char *)names[k]);
    free((void *)names);
}

static kc_cache_kind_opts *dup_kinds(const kc_cache_kind_opts *kinds, size_t n)
{
    kc_cache_kind_opts *copy = kc_calloc(n, sizeof(*copy));
    for (size_t k = 0; k < n; k++) {
        copy[k] = kinds[k];
        copy[k].namespaces = dup_names(kinds[k].namespaces);
        copy[k].labels = dup_text(kinds[k].labels);
        copy[k].fields = dup_text(kinds[k].fields);
    }
    return copy;
}

static void free_kinds(const kc_cache_kind_opts *kinds, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        free_names(kinds[k].namespaces);
        free((char *)kinds[k].labels);
        free((char *)kinds[k].fields);
    }
    free((void *)kinds);
}

static int64_t or_default(int64_t value, int64_t fallback)
{
    return value > 0 ? value : fallback;
}

static kc_cache_opts completed(const kc_cache_opts *value)
{
    kc_cache_opts opts = *value;
    opts.namespaces = dup_names(value->namespaces);
    opts.kinds = dup_kinds(value->kinds, value->n_kinds);
    opts.transform = value->transform ? value->transform : kc_transform_strip_managed_fields;
    opts.sync_timeout = or_default(value->sync_timeout, SYNC_TIMEOUT);
    opts.list_deadline = or_default(value->list_deadline, LIST_DEADLINE);
    opts.watch_stall_timeout = or_default(value->watch_stall_timeout, WATCH_STALL_TIMEOUT);
    opts.clock = value->clock ? value->clock : kc_client_clock(value->client);
    return opts;
}

kc__executor *kc__cache_executor(kc_cache *cache)
{
    return cache->executor;
}

bool kc__cache_same_kind(const kc_kind *a, const kc_kind *b)
{
    return a == b || kc_gvk_eq(kc_kind_gvk(a), kc_kind_gvk(b));
}

kc_cache_kind_opts kc__cache_kind_opts(const kc_cache *cache, const kc_kind *kind)
{
    for (size_t k = 0; k < cache->opts.n_kinds; k++)
        if (kc__cache_same_kind(cache->opts.kinds[k].kind, kind))
            return cache->opts.kinds[k];
    return (kc_cache_kind_opts){0};
}

/* ---- lifecycle ---- */

kc_cache *kc_cache_new(const kc_cache_opts *opts)
{
    kc_cache *cache = kc_new(kc_cache);
    cache->opts = completed(opts);
    cache->client = kc_client_ref(opts->client);
    cache->log = kc_log_child(opts->log, "cache");
    cache->reader.ops = &kc__cache_reader_ops;
    cache->executor = kc__executor_new(&(kc__executor_opts){.clock = cache->opts.clock});
    kc_mutex_init(&cache->mutex);
    if (opts->rand)
        cache->rand = kc_rand_split(opts->rand);
    else
        kc_rand_seed_os(&cache->rand);
    return cache;
}

int kc_cache_start(kc_cache *cache, kc_error *err)
{
    kc_locked (&cache->mutex) {
        if (cache->stopped)
            return kc_error_set(err, KC_CONFLICT, "the cache was stopped");
        if (cache->started)
            break;
        cache->started = true;
        kc_vec_each (&cache->informers, informer)
            kc__cache_start_informer(cache, *informer);
    }
    return 0;
}

void kc_cache_stop(kc_cache *cache)
{
    KC_VEC(kc_informer *) all = {0};
    kc_locked (&cache->mutex) {
        cache->stopped = true;
        kc_vec_each (&cache->informers, informer)
            kc_vec_push(&all, kc__informer_use(*informer));
    }
    kc_vec_each (&all, informer) {
        kc__informer_stop(*informer);
        kc_informer_release(*informer);
    }
    kc_vec_done(&all);
}

kc_cache *kc_cache_free(kc_cache *cache)
{
    if (!cache)
        return NULL;
    kc_cache_stop(cache);
    kc_vec_each (&cache->informers, informer)
        kc__informer_free(*informer);
    kc_vec_done(&cache->informers);
    kc__executor_free(cache->executor);
    kc__cache_indexes_done(cache);
    kc__cache_written_done(cache);
    free_names(cache->opts.namespaces);
    free_kinds(cache->opts.kinds, cache->opts.n_kinds);
    kc_log_free(cache->log);
    kc_client_unref(cache->client);
    kc_mutex_done(&cache->mutex);
    free(cache);
    return NULL;
}

/* ---- waiting and health ---- */

/* The informer at an index, with a use added; NULL past the end. Informers that are added during
 * the iteration are visited too. */
static kc_informer *informer_at(kc_cache *cache, size_t at)
{
    kc_informer *informer = NULL;
    kc_locked (&cache->mutex)
        if (at < cache->informers.n)
            informer = kc__informer_use(cache->informers.items[at]);
    return informer;
}

bool kc_cache_wait_synced(kc_cache *cache, int64_t deadline, kc_cancel *cancel)
{
    for (size_t at = 0;; at++) {
        kc_auto(kc_informer) *informer = informer_at(cache, at);
        if (!informer)
            return true;
        if (!kc_informer_wait_synced(informer, deadline, cancel))
            return false;
    }
}

int kc_cache_check(kc_cache *cache, kc_error *err)
{
    for (size_t at = 0;; at++) {
        kc_auto(kc_informer) *informer = informer_at(cache, at);
        if (!informer)
            return 0;
        if (kc__informer_started(informer) && kc__informer_check(informer, err) < 0)
            return kc_error_result(err);
    }
}
