/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.c: keeps a few old snapshots by revision, so that the next page of a list does not have to
 * undo events again. If all slots are in use, the least recently used snapshot is dropped. A
 * snapshot that was not used during the event age is dropped too: its continue token has expired.
 * Each snapshot has a hold (holds.c), so all of them share one byte budget.
 *
 * Any thread. The last reference to a snapshot may free many nodes, so it is dropped outside the
 * lock.
 */
#include "apiserver/store/store_internal.h"

void kc__store_kept_init(kc__store_kept *kept)
{
    kc_mutex_init(&kept->keeping);
}

static void entry_done(kc__store_kept_entry *entry)
{
    kc__cow_snapshot_unref(entry->snapshot);
    kc__store_hold_release(entry->hold);
    *entry = (kc__store_kept_entry){0};
}

void kc__store_kept_done(kc__store_kept *kept)
{
    for (size_t i = 0; i < KC__STORE_MAX_KEPT; i++)
        entry_done(&kept->entries[i]);
    kc_mutex_done(&kept->keeping);
}

/* The slot for a revision: its own, a free one, or the least recently used. */
static kc__store_kept_entry *place_for(kc__store_kept *kept, uint64_t revision)
{
    kc__store_kept_entry *best = &kept->entries[0];
    for (size_t i = 0; i < KC__STORE_MAX_KEPT; i++) {
        kc__store_kept_entry *entry = &kept->entries[i];
        if (entry->snapshot && entry->revision == revision)
            return entry;
        if (best->snapshot && (!entry->snapshot || entry->used < best->used))
            best = entry;
    }
    return best;
}

void kc__store_kept_put(kc__store_kept *kept, uint64_t revision, kc__cow_snapshot *snapshot,
                        kc__store_hold *hold, int64_t now)
{
    kc__store_kept_entry old = {0};
    kc_locked (&kept->keeping) {
        kc__store_kept_entry *entry = place_for(kept, revision);
        old = *entry;
        *entry = (kc__store_kept_entry){revision, kc__cow_snapshot_ref(snapshot), hold, now};
    }
    entry_done(&old);
}

void kc__store_kept_forget(kc__store_kept *kept, const kc__store_hold *hold)
{
    kc__store_kept_entry old = {0};
    kc_locked (&kept->keeping)
        for (size_t i = 0; i < KC__STORE_MAX_KEPT; i++)
            if (kept->entries[i].hold == hold) {
                old = kept->entries[i];
                kept->entries[i] = (kc__store_kept_entry){0};
            }
    entry_done(&old);
}

kc__cow_snapshot *kc__store_kept_find(kc__store_kept *kept, uint64_t revision, int64_t now,
                                      uint64_t *ret_revision)
{
    kc__cow_snapshot *found = NULL;
    kc_locked (&kept->keeping) {
        kc__store_kept_entry *best = NULL;
        for (size_t i = 0; i < KC__STORE_MAX_KEPT; i++) {
            kc__store_kept_entry *entry = &kept->entries[i];
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

void kc__store_kept_sweep(kc__store_kept *kept, int64_t before)
{
    kc__store_kept_entry old[KC__STORE_MAX_KEPT] = {0};
    kc_locked (&kept->keeping)
        for (size_t i = 0; i < KC__STORE_MAX_KEPT; i++)
            if (kept->entries[i].used < before) {
                old[i] = kept->entries[i];
                kept->entries[i] = (kc__store_kept_entry){0};
            }
    for (size_t i = 0; i < KC__STORE_MAX_KEPT; i++)
        entry_done(&old[i]);
}
