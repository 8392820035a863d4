/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caches.c: the watch caches of a store, by prefix, and how long they live.
 *
 * Built-in resources have a cache for as long as the store. A custom resource is deleted with its
 * CRD, and its name may never come back; so its cache is freed when nothing needs it any more:
 *
 *     references    catalogs that serve the resource, hence all calls that read, write or watch
 *     objects       of its tree, and stored ones that cannot be read
 *     events        of its ring, and list pages
 *
 * Its number is then free for another cache. Whoever indexes by number either holds a reference or
 * runs on the committer's thread, which is the one that frees, with one exception: a delivery to a
 * hub may still be under way. Its events are older than every watcher of the next cache with that
 * number, and watchers skip older events (hub.c).
 *
 * The events that left the ring of a freed cache are unknown to a later cache with the same prefix:
 * `oldest` of the store covers them.
 */
#include "apiserver/storage/stored_key.h"
#include "apiserver/store/store_internal.h"

/* ---- looking up ---- */

/* Call it with `naming` locked. */
static size_t free_number(kc__store *store)
{
    size_t number = 0;
    if (store->caches.n == store->by_number.n) {
        kc_vec_push(&store->by_number, NULL);
        return store->by_number.n - 1;
    }
    while (store->by_number.items[number])
        number++;
    return number;
}

/* The cache; created if necessary. Call it with `naming` of the same store locked. */
static kc__watch_cache *cache_at(kc__store *store, kc_str prefix)
{
    kc__watch_cache *cache = kc_map_get(&store->caches, prefix);
    if (cache)
        return cache;
    assert(prefix.n && kc_str_eq(kc__storage_key_prefix(prefix), prefix));
    cache = kc__watch_cache_new(store, prefix, free_number(store));
    kc_map_put(&store->caches, cache->prefix, cache);
    return store->by_number.items[cache->number] = cache;
}

/* The store that has the resource: this one, or one of its overrides. */
static kc__store *owner_of(kc__store *store, kc_str prefix)
{
    kc__store *other = kc_map_get(&store->elsewhere, prefix);
    return other ? other : store;
}

kc__watch_cache *kc__store_find_cache(kc__store *store, kc_str prefix)
{
    kc__watch_cache *cache = NULL;
    kc_locked (&store->naming)
        cache = cache_at(store, prefix);
    return cache;
}

kc__watch_cache *kc__store_watch_cache(kc__store *store, kc_str prefix)
{
    kc__store *owner = owner_of(store, prefix);
    kc__watch_cache *cache = NULL;
    kc_locked (&owner->naming) {
        cache = cache_at(owner, prefix);
        cache->permanent = true;
    }
    return cache;
}

kc__watch_cache *kc__store_watch_cache_ref(kc__store *store, kc_str prefix)
{
    kc__store *owner = owner_of(store, prefix);
    kc__watch_cache *cache = NULL;
    kc_locked (&owner->naming)
        cache = kc__watch_cache_ref(cache_at(owner, prefix));
    return cache;
}

kc__watch_cache *kc__watch_cache_ref(kc__watch_cache *cache)
{
    kc_ref_add(&cache->refs);
    return cache;
}

/* The table has the last reference, unless the store is closed. */
kc__watch_cache *kc__watch_cache_unref(kc__watch_cache *cache)
{
    if (cache && kc_ref_drop(&cache->refs))
        free(cache);
    return NULL;
}

kc__watch_cache *kc__store_next_cache(kc__store *store, size_t *at)
{
    kc__watch_cache *cache = NULL;
    kc_locked (&store->naming)
        while (!cache && *at < store->by_number.n)
            cache = store->by_number.items[(*at)++];
    return cache;
}

/* ---- freeing ---- */

static bool has_holds(kc__watch_cache *cache)
{
    bool any = false;
    kc_locked (&cache->store->holding)
        any = !kc_dlist_empty(&cache->holds);
    return any;
}

/* Whether only the table has the cache. Call it with `naming` locked: no reference can be added. */
static bool is_unused(kc__watch_cache *cache)
{
    return !cache->permanent && kc_ref_count(&cache->refs) == 1 && !cache->changed &&
           !kc__cow_tree_count(cache->tree) && !cache->ring.n &&
           !atomic_load(&cache->n_unreadable) && !has_holds(cache);
}

/* Removes the cache from the table if it is unused. */
static bool remove_unused(kc__store *store, kc__watch_cache *cache)
{
    bool unused = false;
    kc_locked (&store->naming) {
        unused = is_unused(cache);
        if (unused) {
            kc_map_remove(&store->caches, cache->prefix);
            store->by_number.items[cache->number] = NULL;
            store->oldest = KC_MAX(store->oldest, cache->ring.oldest);
        }
    }
    return unused;
}

void kc__store_free_unused_caches(kc__store *store)
{
    kc__watch_cache *cache;
    if (store->recovery.open) /* Its changes are in no tree and no ring. */
        return;
    for (size_t i = 0; (cache = kc__store_next_cache(store, &i));)
        if (remove_unused(store, cache))
            kc__watch_cache_discard(cache);
    kc_locked (&store->naming)
        kc_gauge_set(store->metrics.watch_caches, (double)store->caches.n);
}
