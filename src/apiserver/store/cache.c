/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c: reads the objects of one resource from memory.
 *
 * The revision of a list. The committer publishes the trees of a batch, then advances the store's
 * revision. A reader loads the revision R first and takes the snapshot S afterwards. So S contains
 * every change up to R; if S was published at a later revision, it contains every change of this
 * resource up to that one. The larger of the two is the exact revision of what the reader sees.
 */
#include "apiserver/store/store_internal.h"

kc__watch_cache *kc__watch_cache_new(kc__store *store, kc_str prefix, size_t number)
{
    kc__watch_cache *cache = kc_calloc(1, sizeof(*cache) + prefix.n);
    memcpy(cache + 1, prefix.p, prefix.n);
    cache->prefix = kc_str_of((const char *)(cache + 1), prefix.n);
    cache->store = store;
    cache->number = number;
    kc_ref_init(&cache->refs);
    cache->tree = kc__cow_tree_new();
    kc__store_ring_init(&cache->ring, store->oldest);
    kc__store_snapshot_cache_init(&cache->snapshots);
    kc_dlist_init(&cache->holds);
    cache->kind = store->opts.format ? store->opts.format->kind_of(cache->prefix) : NULL;
    cache->resource = store->opts.resource_of ? store->opts.resource_of(cache->prefix)
                                              : (kc__encryption_resource){.name = cache->prefix};
    return cache;
}

void kc__watch_cache_discard(kc__watch_cache *cache)
{
    kc__store_snapshot_cache_done(&cache->snapshots);
    kc__store_ring_done(&cache->ring);
    kc__cow_tree_free(cache->tree);
    kc_vec_done(&cache->audience);
    kc__store_forms_done(cache);
    kc__store_values_done(cache);
    kc__watch_cache_unref(cache);
}

kc_object *kc__watch_cache_get(kc__watch_cache *cache, kc_str key)
{
    kc_auto(kc__cow_snapshot) *now = kc__cow_tree_snapshot(cache->tree);
    const kc_object *object = kc__cow_snapshot_get(now, key);
    return object ? kc_object_ref(object) : NULL;
}

kc__cow_snapshot *kc__watch_cache_snapshot(kc__watch_cache *cache, uint64_t *ret_revision)
{
    const uint64_t revision = kc__store_revision(cache->store);
    kc__cow_snapshot *snapshot = kc__cow_tree_snapshot(cache->tree);
    if (ret_revision)
        *ret_revision = KC_MAX(revision, kc__cow_snapshot_revision(snapshot));
    return snapshot;
}

kc__store *kc__watch_cache_store(const kc__watch_cache *cache)
{
    return cache->store;
}

uint64_t kc__watch_cache_revision(const kc__watch_cache *cache)
{
    return kc__store_revision(cache->store);
}

uint64_t kc__watch_cache_oldest(kc__watch_cache *cache)
{
    return kc__store_ring_oldest(&cache->ring);
}

uint64_t kc__watch_cache_changed_at(const kc__watch_cache *cache)
{
    return atomic_load_explicit(&cache->changed_at, memory_order_acquire);
}
