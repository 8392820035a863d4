/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.c: the state of a resource at an earlier revision.
 *
 * The store does not keep old versions in advance. It creates a tree from a newer version, which is
 * O(1), and undoes the events since in it, newest first: an added object is removed, a changed or
 * deleted object gets its previous state back. The tree shares everything that did not change with
 * the newer version. The starting point is the latest state, or a cached snapshot that is nearer.
 *
 * Correct while the committer continues: a tree is published after its events are in the ring, so
 * the ring contains every event up to the snapshot's revision; only those are read, although the
 * ring may be ahead. If the ring drops events between two reads, the revision is reported as
 * expired.
 */
#include "apiserver/store/store_internal.h"

static void undo(kc__cow_tree *tree, const kc__store_event *event, kc__cow_counts *then)
{
    then->changes--;
    then->replaced -= event->previous ? kc_object_size(event->previous) : 0;
    kc_str key = kc__store_event_key(event);
    kc_auto(kc_object) *replaced = event->previous ? kc__cow_tree_put(tree, key, event->previous)
                                                   : kc__cow_tree_remove(tree, key);
}

/* Undoes every event after `revision`. Returns false if the ring does not reach back that far. */
static bool undo_all(kc__watch_cache *cache, kc__cow_tree *tree, uint64_t from, uint64_t revision)
{
    kc__store_ring_part part;
    kc__cow_counts then = *kc__cow_tree_counts(tree);
    while (from > revision) {
        if (!kc__store_ring_read_back(&cache->ring, revision, from, &part))
            return false;
        for (size_t i = 0; i < part.n; i++) {
            undo(tree, part.events[i], &then);
            kc__store_event_unref(part.events[i]);
        }
        from = part.reached;
    }
    then.bytes = kc__cow_tree_counts(tree)->bytes;
    *kc__cow_tree_counts(tree) =
        then; /* The counts at `revision`, without the changes made by undoing. */
    return true;
}

static int too_large(uint64_t revision, uint64_t newest, kc_error *err)
{
    int code =
        kc_error_set(err, KC_TIMEOUT, "Timeout: Too large resource version: %llu, current: %llu",
                     (unsigned long long)revision, (unsigned long long)newest);
    if (err) {
        kc_error_add_cause(err, "ResourceVersionTooLarge", (kc_str){0},
                           KC_STR("Too large resource version"));
        err->retry_after_seconds = 1;
    }
    return code;
}

/* The nearest state from which events can be undone, and its revision. */
static kc__cow_snapshot *start_of(kc__watch_cache *cache, uint64_t revision, uint64_t *ret_revision)
{
    const int64_t now = kc_clock_now(cache->store->opts.clock);
    kc__cow_snapshot *cached =
        kc__store_snapshot_cache_find(&cache->snapshots, revision, now, ret_revision);
    return cached ? cached : kc__watch_cache_snapshot(cache, ret_revision);
}

kc__cow_snapshot *kc__watch_cache_snapshot_at(kc__watch_cache *cache, uint64_t revision,
                                              kc_error *err)
{
    uint64_t from = 0;
    kc_auto(kc__cow_snapshot) *start = start_of(cache, revision, &from);
    if (revision > from) {
        too_large(revision, from, err);
        return NULL;
    }
    if (revision == from)
        return kc_take(start);
    kc_auto(kc__cow_tree) *tree = kc__cow_tree_of(start);
    if (!undo_all(cache, tree, from, revision)) {
        kc_error_set(err, KC_EXPIRED, "The resourceVersion for the provided list is too old.");
        return NULL;
    }
    kc__cow_tree_publish(tree, revision);
    return kc__cow_tree_snapshot(tree);
}

void kc__watch_cache_keep(kc__watch_cache *cache, uint64_t revision, kc__cow_snapshot *snapshot)
{
    kc__store_snapshot_cache_put(&cache->snapshots, revision, snapshot,
                                 kc__store_hold_new(cache, snapshot),
                                 kc_clock_now(cache->store->opts.clock));
}
