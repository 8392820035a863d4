/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.c: the state of a resource as it was at a revision.
 *
 * Nobody keeps old versions in advance. A tree is made of a newer version, which costs nothing, and
 * the events since are undone in it, newest first: what was added is removed, what was changed or
 * deleted gets its previous object back. It shares with the newer version all that did not change.
 * The start is the newest state, or a kept snapshot that is nearer.
 *
 * Right while the committer goes on: a tree is published after the ring has its events, so the ring
 * holds everything up to a snapshot's revision; and it is asked for that only, though it may be
 * ahead. It may drop events between two parts, which shows as expired.
 */
#include "apiserver/store/store_internal.h"

static void undo(kc_cow_tree *tree, const kc__event *event)
{
    kc_str key = kc__event_key(event);
    kc_auto(kc_object) *replaced = event->previous ? kc_cow_tree_put(tree, key, event->previous)
                                                   : kc_cow_tree_remove(tree, key);
}

/* Undoes everything after `revision`. False when the ring does not reach back so far. */
static bool undo_all(kc__cache *cache, kc_cow_tree *tree, uint64_t from, uint64_t revision)
{
    kc__ring_part part;
    while (from > revision) {
        if (!kc__ring_read_back(&cache->ring, revision, from, &part))
            return false;
        for (size_t i = 0; i < part.n; i++) {
            undo(tree, part.events[i]);
            kc__event_unref(part.events[i]);
        }
        from = part.reached;
    }
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

/* The nearest state from which the events can be undone, and what revision it is of. */
static kc_cow_snapshot *start_of(kc__cache *cache, uint64_t revision, uint64_t *ret_revision)
{
    const int64_t now = kc_clock_now(cache->store->opts.clock);
    kc_cow_snapshot *kept = kc__kept_find(&cache->kept, revision, now, ret_revision);
    return kept ? kept : kc__cache_snapshot(cache, ret_revision);
}

kc_cow_snapshot *kc__cache_snapshot_at(kc__cache *cache, uint64_t revision, kc_error *err)
{
    uint64_t from = 0;
    kc_auto(kc_cow_snapshot) *start = start_of(cache, revision, &from);
    if (revision > from) {
        too_large(revision, from, err);
        return NULL;
    }
    if (revision == from)
        return kc_take(start);
    kc_auto(kc_cow_tree) *tree = kc_cow_tree_of(start);
    if (!undo_all(cache, tree, from, revision)) {
        kc_error_set(err, KC_EXPIRED, "The resourceVersion for the provided list is too old.");
        return NULL;
    }
    kc_cow_tree_publish(tree, revision);
    return kc_cow_tree_snapshot(tree);
}

void kc__cache_keep(kc__cache *cache, uint64_t revision, kc_cow_snapshot *snapshot)
{
    kc__kept_put(&cache->kept, revision, snapshot, kc_clock_now(cache->store->opts.clock));
}
