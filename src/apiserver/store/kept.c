/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.c: a few snapshots of the past, by revision, so that the next page of a list does not have
 * to undo history again. When all places are taken, the longest unused goes. What nobody asked for
 * during the age of events goes too: a token that old has expired.
 *
 * Any thread. A snapshot's last reference may free a lot, so it is dropped outside of the lock.
 */
#include "apiserver/store/store_internal.h"

void kc__kept_init(kc__kept *kept)
{
    kc_mutex_init(&kept->keeping);
}

void kc__kept_done(kc__kept *kept)
{
    for (size_t i = 0; i < KC__KEPT; i++)
        kc_cow_snapshot_unref(kept->entries[i].snapshot);
    kc_mutex_done(&kept->keeping);
}

/* The place of a revision: its own, a free one, or the longest unused. */
static kc__kept_entry *place_for(kc__kept *kept, uint64_t revision)
{
    kc__kept_entry *best = &kept->entries[0];
    for (size_t i = 0; i < KC__KEPT; i++) {
        kc__kept_entry *entry = &kept->entries[i];
        if (entry->snapshot && entry->revision == revision)
            return entry;
        if (best->snapshot && (!entry->snapshot || entry->used < best->used))
            best = entry;
    }
    return best;
}

void kc__kept_put(kc__kept *kept, uint64_t revision, kc_cow_snapshot *snapshot, int64_t now)
{
    kc_cow_snapshot *old = NULL;
    kc_locked (&kept->keeping) {
        kc__kept_entry *entry = place_for(kept, revision);
        old = entry->snapshot;
        *entry = (kc__kept_entry){revision, kc_cow_snapshot_ref(snapshot), now};
    }
    kc_cow_snapshot_unref(old);
}

kc_cow_snapshot *kc__kept_find(kc__kept *kept, uint64_t revision, int64_t now,
                               uint64_t *ret_revision)
{
    kc_cow_snapshot *found = NULL;
    kc_locked (&kept->keeping) {
        kc__kept_entry *best = NULL;
        for (size_t i = 0; i < KC__KEPT; i++) {
            kc__kept_entry *entry = &kept->entries[i];
            if (entry->snapshot && entry->revision >= revision &&
                (!best || entry->revision < best->revision))
                best = entry;
        }
        if (best) {
            best->used = now;
            found = kc_cow_snapshot_ref(best->snapshot);
            *ret_revision = best->revision;
        }
    }
    return found;
}

void kc__kept_sweep(kc__kept *kept, int64_t before)
{
    kc_cow_snapshot *old[KC__KEPT] = {0};
    kc_locked (&kept->keeping)
        for (size_t i = 0; i < KC__KEPT; i++)
            if (kept->entries[i].used < before)
                old[i] = kc_take(kept->entries[i].snapshot);
    for (size_t i = 0; i < KC__KEPT; i++)
        kc_cow_snapshot_unref(old[i]);
}
