/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cow_snapshot.c: the readers' side of the copy-on-write tree: an immutable version.
 *
 * All range operations work on ranks. A range is an interval of ranks: the rank of its first entry
 * and the rank of the first entry behind it. Each bound is found by one descent from the root,
 * which adds up the counts of the children it passes, so counting a range is a subtraction. An
 * iterator walks a leaf entry by entry and descends from the root again, by rank, for the next
 * leaf: it needs no stack of parents, and one descent per leaf costs next to nothing.
 *
 * To add a condition to kc__cow_range: translate it into a bound in ranks_of, and add a
 * kc__cow_side if no existing kind of bound fits.
 *
 * Threads: everything reachable from a snapshot is constant, except reference counts.
 */
#include "apiserver/store/cow_internal.h"

struct kc__cow_snapshot {
    kc_ref refs;
    kc__cow_node *root; /* NULL if empty. */
    size_t count;
    uint64_t revision;
    kc__cow_counts counts;
};

kc__cow_snapshot *kc__cow_snapshot_new(kc__cow_node *root, size_t count, uint64_t revision,
                                       kc__cow_counts counts)
{
    kc__cow_snapshot *snapshot = kc_new(kc__cow_snapshot);
    kc_ref_init(&snapshot->refs);
    snapshot->root = kc__cow_node_ref(root);
    snapshot->count = count;
    snapshot->revision = revision;
    snapshot->counts = counts;
    return snapshot;
}

kc__cow_snapshot *kc__cow_snapshot_ref(kc__cow_snapshot *snapshot)
{
    if (snapshot)
        kc_ref_add(&snapshot->refs);
    return snapshot;
}

kc__cow_snapshot *kc__cow_snapshot_unref(kc__cow_snapshot *snapshot)
{
    if (snapshot && kc_ref_drop(&snapshot->refs)) {
        kc__cow_node_unref(snapshot->root);
        free(snapshot);
    }
    return NULL;
}

kc__cow_node *kc__cow_snapshot_root(const kc__cow_snapshot *snapshot)
{
    return snapshot->root;
}

kc__cow_counts kc__cow_snapshot_counts(const kc__cow_snapshot *snapshot)
{
    return snapshot->counts;
}

uint64_t kc__cow_snapshot_revision(const kc__cow_snapshot *snapshot)
{
    return snapshot->revision;
}

size_t kc__cow_snapshot_count(const kc__cow_snapshot *snapshot)
{
    return snapshot->count;
}

const kc_object *kc__cow_snapshot_get(const kc__cow_snapshot *snapshot, kc_str key)
{
    return kc__cow_get(snapshot->root, key);
}

/* ---- ranges ---- */

/* An interval of ranks: from `first` up to, but not including, `end`. */
typedef struct cow_run {
    size_t first, end;
} cow_run;

/* Number of entries before the position. */
static size_t rank_of(const kc__cow_node *node, kc_str key, kc__cow_side side)
{
    size_t rank = 0;
    if (!node)
        return 0;
    while (node->height) {
        size_t at = kc__cow_child_find(node, key, side);
        for (size_t i = 0; i < at; i++)
            rank += node->counts[i];
        node = node->slots[at].child;
    }
    return rank + kc__cow_leaf_find(node, key, side);
}

/* An empty key sorts before all others and therefore sets no bound. */
static void start_at(cow_run *ranks, const kc__cow_node *root, kc_str key, kc__cow_side side)
{
    if (key.n)
        ranks->first = KC_MAX(ranks->first, rank_of(root, key, side));
}

static cow_run ranks_of(const kc__cow_snapshot *snapshot, const kc__cow_range *range)
{
    cow_run ranks = {0, snapshot->count};
    if (!range)
        return ranks;
    if (range->prefix.n)
        ranks.end = rank_of(snapshot->root, range->prefix, KC__COW_PAST_PREFIX);
    start_at(&ranks, snapshot->root, range->prefix, KC__COW_BEFORE);
    start_at(&ranks, snapshot->root, range->from, KC__COW_BEFORE);
    start_at(&ranks, snapshot->root, range->after, KC__COW_AFTER);
    ranks.end = KC_MAX(ranks.first, ranks.end);
    return ranks;
}

size_t kc__cow_snapshot_count_in(const kc__cow_snapshot *snapshot, const kc__cow_range *range)
{
    cow_run ranks = ranks_of(snapshot, range);
    return ranks.end - ranks.first;
}

/* ---- walking ---- */

kc__cow_iter kc__cow_iter_start(const kc__cow_snapshot *snapshot, const kc__cow_range *range)
{
    cow_run ranks = ranks_of(snapshot, range);
    return (kc__cow_iter){
        .root = snapshot->root, .rank = ranks.first, .left = ranks.end - ranks.first};
}

/* Descends to the leaf of the next entry, which must exist. */
static void find_leaf(kc__cow_iter *it)
{
    const kc__cow_node *node = it->root;
    size_t rank = it->rank, at = 0;
    for (; node->height; node = node->slots[at].child)
        for (at = 0; rank >= node->counts[at]; at++)
            rank -= node->counts[at];
    it->leaf = node;
    it->at = rank;
}

bool kc__cow_iter_next(kc__cow_iter *it)
{
    if (it->left == 0)
        return false;
    if (!it->leaf || it->at == it->leaf->n)
        find_leaf(it);
    it->key = kc__cow_key(it->leaf, it->at);
    it->object = it->leaf->slots[it->at].object;
    it->at++;
    it->rank++;
    it->left--;
    return true;
}
