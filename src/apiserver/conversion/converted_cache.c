/* SPDX-License-Identifier: Apache-2.0 */
/*
 * converted_cache.c: a map of entries and a queue of those that may be evicted.
 *
 *     map: key ──▶ entry { object, pins, used }
 *     idle: oldest ── entry ── entry ── newest          only entries without pins
 *
 * Eviction takes the oldest idle entry; an entry that was used since it was queued gets a second
 * chance (CLOCK), so a read sets a flag and moves nothing. A pinned entry is not in the queue: what
 * responses in progress need is never evicted, and eviction never walks over it. Pinned entries
 * count, so the cache may exceed its budget by what responses hold.
 *
 * The mutex guards everything; each operation is a lookup and a few assignments.
 */
#include "apiserver/conversion/converted_cache.h"

#include "kc/map.h"
#include "kc/thread.h"

typedef struct cache_entry {
    kc__remote_converted converted; /* First: a pin is a pointer to it. */
    kc__converted_cache *cache;
    kc_dlist_link link; /* In `idle`, while it has no pins. */
    size_t pins, bytes;
    bool used;
    kc_str key;
    char text[]; /* Of the key. */
} cache_entry;

struct kc__converted_cache {
    size_t limit;
    kc__memory_account *memory;
    kc_gauge *kept_bytes;
    kc_counter *evicted;
    kc_mutex mutex; /* Guards the fields below and all entries. Taken last. */
    kc_map entries;
    kc_dlist idle;
    size_t bytes;
};

static int register_cache_metrics(kc__converted_cache *cache, kc_metrics *metrics, kc_error *err)
{
    kc_metric *bytes = kc_metrics_gauge(
        metrics,
        &(kc_metric_opts){.name = "kc_conversion_kept_bytes",
                          .help = "Bytes of objects that conversion webhooks have converted, kept "
                                  "for reuse."},
        err);
    kc_metric *evicted = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "kc_conversion_evictions_total",
                          .help = "Kept conversions that were dropped to stay within the budget."},
        err);
    if (!bytes || !evicted)
        return kc_error_result(err);
    cache->kept_bytes = kc_metric_gauge(bytes);
    cache->evicted = kc_metric_counter(evicted);
    return 0;
}

kc__converted_cache *kc__converted_cache_new(size_t limit, kc__memory_account *memory,
                                             kc_metrics *metrics, kc_error *err)
{
    kc__converted_cache *cache = kc_new(kc__converted_cache);
    cache->limit = limit;
    cache->memory = memory;
    kc_mutex_init(&cache->mutex);
    kc_dlist_init(&cache->idle);
    return register_cache_metrics(cache, metrics, err) < 0 ? kc__converted_cache_free(cache)
                                                           : cache;
}

/* ---- with the mutex held ---- */

static void count_kept(kc__converted_cache *cache, int64_t bytes)
{
    cache->bytes += (size_t)bytes;
    kc_gauge_add(cache->kept_bytes, (double)bytes);
    kc__memory_add(cache->memory, KC__MEMORY_CACHES, bytes);
}

static void evict_entry(kc__converted_cache *cache, cache_entry *entry)
{
    kc_dlist_remove(&entry->link);
    kc_map_remove(&cache->entries, entry->key);
    count_kept(cache, -(int64_t)entry->bytes);
    kc_object_unref(entry->converted.object);
    free(entry);
}

/* Evicts idle entries until the budget is met or none is left. Each turn evicts an entry or clears
 * a flag, so a call costs no more than the reads since the last one. */
static void shrink(kc__converted_cache *cache)
{
    kc_dlist_link *oldest;
    while (cache->bytes > cache->limit && (oldest = kc_dlist_first(&cache->idle))) {
        cache_entry *entry = kc_container_of(oldest, cache_entry, link);
        if (entry->used) {
            entry->used = false;
            kc_dlist_remove(&entry->link);
            kc_dlist_push(&cache->idle, &entry->link);
            continue;
        }
        evict_entry(cache, entry);
        kc_counter_inc(cache->evicted);
    }
}

static kc__remote_converted *pin_entry(cache_entry *entry)
{
    if (!entry->pins++)
        kc_dlist_remove(&entry->link);
    return &entry->converted;
}

static void unpin_entry(kc__remote_converted *converted)
{
    cache_entry *entry = kc_container_of(converted, cache_entry, converted);
    kc__converted_cache *cache = entry->cache;
    kc_locked (&cache->mutex) {
        if (!--entry->pins)
            kc_dlist_push(&cache->idle, &entry->link);
        shrink(cache);
    }
}

static cache_entry *keep_entry(kc__converted_cache *cache, kc_str key, const kc_object *object)
{
    cache_entry *entry = kc_calloc(1, sizeof(*entry) + key.n + 1);
    memcpy(entry->text, key.p, key.n);
    entry->key = kc_str_of(entry->text, key.n);
    entry->cache = cache;
    entry->converted =
        (kc__remote_converted){.unpin = unpin_entry, .object = kc_object_ref(object)};
    entry->bytes = sizeof(*entry) + key.n + kc_object_size(object);
    kc_dlist_push(&cache->idle, &entry->link);
    kc_map_put(&cache->entries, entry->key, entry);
    count_kept(cache, (int64_t)entry->bytes);
    return entry;
}

/* ---- any thread ---- */

kc_object *kc__converted_cache_get(kc__converted_cache *cache, kc_str key)
{
    kc_object *object = NULL;
    kc_locked (&cache->mutex) {
        cache_entry *entry = kc_map_get(&cache->entries, key);
        if (entry) {
            entry->used = true;
            object = kc_object_ref(entry->converted.object);
        }
    }
    return object;
}

kc__remote_converted *kc__converted_cache_pin(kc__converted_cache *cache, kc_str key)
{
    kc__remote_converted *pin = NULL;
    kc_locked (&cache->mutex) {
        cache_entry *entry = kc_map_get(&cache->entries, key);
        pin = entry ? pin_entry(entry) : NULL;
        if (entry)
            entry->used = true;
    }
    return pin;
}

kc__remote_converted *kc__converted_cache_add(kc__converted_cache *cache, kc_str key,
                                              const kc_object *object)
{
    kc__remote_converted *pin = NULL;
    kc_locked (&cache->mutex) {
        cache_entry *entry = kc_map_get(&cache->entries, key);
        pin = pin_entry(entry ? entry : keep_entry(cache, key, object));
        shrink(cache);
    }
    return pin;
}

/* Evicts some idle entries. False: none is left. */
static bool clear_some(kc__converted_cache *cache)
{
    enum { AT_ONCE = 64 };
    size_t n = 0;
    kc_locked (&cache->mutex) {
        for (kc_dlist_link *link; n < AT_ONCE && (link = kc_dlist_first(&cache->idle)); n++)
            evict_entry(cache, kc_container_of(link, cache_entry, link));
    }
    return n == AT_ONCE;
}

void kc__converted_cache_clear(kc__converted_cache *cache)
{
    while (clear_some(cache))
        ;
}

kc__converted_cache *kc__converted_cache_free(kc__converted_cache *cache)
{
    if (!cache)
        return NULL;
    kc__converted_cache_clear(cache);
    kc_map_done(&cache->entries);
    kc_mutex_done(&cache->mutex);
    free(cache);
    return NULL;
}
