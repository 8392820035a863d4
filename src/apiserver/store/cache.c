/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c: the objects of one resource in memory, and reading them.
 *
 * What a list may claim. The committer publishes the trees of a batch, then steps the store's
 * revision. A reader takes the revision R first and the snapshot S after it. So S holds every
 * change up to R; and when S is newer than that, it holds every change of this resource up to its
 * own. The larger of the two is the exact revision of what the reader sees.
 */
#include "apiserver/store/store_internal.h"

kc_str kc__cache_prefix_of(kc_str stored_key)
{
    size_t slashes = 0;
    for (size_t i = 0; i < stored_key.n; i++)
        if (stored_key.p[i] == '/' && ++slashes == 4)
            return kc_str_sub(stored_key, 0, i + 1);
    return (kc_str){0};
}

kc__cache *kc__cache_new(kc__store *store, kc_str prefix, size_t number)
{
    kc__cache *cache = kc_calloc(1, sizeof(*cache) + prefix.n);
    memcpy(cache + 1, prefix.p, prefix.n);
    cache->prefix = kc_str_of((const char *)(cache + 1), prefix.n);
    cache->store = store;
    cache->number = number;
    cache->tree = kc_cow_tree_new();
    kc__ring_init(&cache->ring, store->oldest);
    kc__kept_init(&cache->kept);
    return cache;
}

kc__cache *kc__cache_free(kc__cache *cache)
{
    if (!cache)
        return NULL;
    kc__kept_done(&cache->kept);
    kc__ring_done(&cache->ring);
    kc_cow_tree_free(cache->tree);
    kc_vec_done(&cache->audience);
    free(cache);
    return NULL;
}

kc__cache *kc__store_cache(kc__store *store, kc_str prefix)
{
    assert(prefix.n && kc_str_eq(kc__cache_prefix_of(prefix), prefix));
    kc__cache *cache = NULL;
    kc_locked (&store->naming) {
        cache = kc_map_get(&store->caches, prefix);
        if (!cache) {
            cache = kc__cache_new(store, prefix, store->by_number.n);
            kc_map_put(&store->caches, cache->prefix, cache);
            kc_vec_push(&store->by_number, cache);
        }
    }
    return cache;
}

kc_object *kc__cache_get(kc__cache *cache, kc_str key)
{
    kc_auto(kc_cow_snapshot) *now = kc_cow_tree_snapshot(cache->tree);
    const kc_object *object = kc_cow_snapshot_get(now, key);
    return object ? kc_object_ref(object) : NULL;
}

kc_cow_snapshot *kc__cache_snapshot(kc__cache *cache, uint64_t *ret_revision)
{
    const uint64_t revision = kc__store_revision(cache->store);
    kc_cow_snapshot *snapshot = kc_cow_tree_snapshot(cache->tree);
    if (ret_revision)
        *ret_revision = KC_MAX(revision, kc_cow_snapshot_revision(snapshot));
    return snapshot;
}

uint64_t kc__cache_oldest(kc__cache *cache)
{
    return kc__ring_oldest(&cache->ring);
}

uint64_t kc__cache_changed_at(const kc__cache *cache)
{
    return atomic_load_explicit(&cache->changed_at, memory_order_acquire);
}
