/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_cache.c: caches a few old snapshots by revision, so that the next page of a list does
 * not have to undo events again. If all slots are in use, the least recently used snapshot is
 * dropped. A snapshot that was not used during the event age is dropped too: its continue token has
 * expired.
 * Each snapshot has a hold (holds.c), so all of them share one byte budget.
 *
 * Any thread. The last reference to a snapshot may free many nodes, so it is dropped outside the
 * lock.
 */
#include "apiserver/store/store_internal.h"

void kc__store_snapshot_cache_init(kc__store_snapshot_cache *cache)
{
    kc_mutex_init(&cache->mutex);
}

static void entry_done(kc__store_cached_snapshot *entry)
{
    kc__cow_snapshot_unref(entry->snapshot);
    kc__store_hold_release(entry->hold);
    *entry = (kc__store_cached_snapshot){0};
}

void kc__store_snapshot_cache_done(kc__store_snapshot_cache *cache)
{
    for (size_t i = 0; i < KC__STORE_MAX_CACHED_SNAPSHOTS; i++)
        entry_done(&cache->entries[i]);
    kc_mutex_done(&cache->mutex);
}

/* The slot for a revision: its own, a free one, or the least recently used. */
static kc__store_cached_snapshot *place_for(kc__store_snapshot_cache *cache, uint64_t revision)
{
    kc__store_cached_snapshot *best = &cache->entries[0];
    for (size_t i = 0; i < KC__STORE_MAX_CACHED_SNAPSHOTS; i++) {
        kc__store_cached_snapshot *entry = &cache->entries[i];
        if (entry->snapshot && entry->revision == revision)
            return entry;
        if (best->snapshot && (!entry->snapshot || entry->used < best->used))
            best = entry;
    }
    return best;
}

void kc__store_snapshot_cache_put(kc__store_snapshot_cache *cache, uint64_t revision,
                                  kc__cow_snapshot *snapshot, kc__store_hold *hold, int64_t now)
{
    kc__store_cached_snapshot old = {0};
    kc_locked (&cache->mutex) {
        kc__store_cached_snapshot *entry = place_for(cache, revision);
        old = *entry;
        *entry = (kc__store_cached_snapshot){revision, kc__cow_snapshot_ref(snapshot), hold, now};
    }
    entry_done(&old);
}

void kc__store_snapshot_cache_drop(kc__store_snapshot_cache *cache, const kc__store_hold *hold)
{
    kc__store_cached_snapshot old = {0};
    kc_locked (&cache->mutex)
        for (size_t i = 0; i < KC__STORE_MAX_CACHED_SNAPSHOTS; i++)
            if (cache->entries[i].hold == hold) {
                old = cache->entries[i];
                cache->entries[i] = (kc__store_cached_snapshot){0};
            }
    entry_done(&old);
}

kc__cow_snapshot *kc__store_snapshot_cache_find(kc__store_snapshot_cache *cache, uint64_t revision,
                                                int64_t now, uint64_t *ret_revision)
{
    kc__cow_snapshot *found = NULL;
    kc_locked (&cache->mutex) {
        kc__store_cached_snapshot *best = NULL;
        for (size_t i = 0; i < KC__STORE_MAX_CACHED_SNAPSHOTS; i++) {
            kc__store_cached_snapshot *entry = &cache->entries[i];
            if (entry->snapshot && entry->revision >= revision &&
                (!best || entry->revision < best->revision))
                best = entry;
        }
        if (best) {
            best->used = now;
            found = kc__cow_snapshot_ref(best->snapshot);
            *ret_revision = best->revision;
        }
    }
    return found;
}

void kc__store_snapshot_cache_sweep(kc__store_snapshot_cache *cache, int64_t before)
{
    kc__store_cached_snapshot old[KC__STORE_MAX_CACHED_SNAPSHOTS] = {0};
    kc_locked (&cache->mutex)
        for (size_t i = 0; i < KC__STORE_MAX_CACHED_SNAPSHOTS; i++)
            if (cache->entries[i].used < before) {
                old[i] = cache->entries[i];
                cache->entries[i] = (kc__store_cached_snapshot){0};
            }
    for (size_t i = 0; i < KC__STORE_MAX_CACHED_SNAPSHOTS; i++)
        entry_done(&old[i]);
}
