/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cow_snapshot.c: the readers' side of the copy-on-write tree: a version that never changes.
 *
 * Everything goes by rank. A range is a run of ranks: where its first entry stands among all, and
 * where the first one behind it does; each is found by one way down, adding up the counts of the
 * children passed. So counting a range is a subtraction. Walking one is going through a leaf entry
 * by entry, and down from the root again, by rank, for the next leaf: the walk needs no stack of
 * parents, and a way down once in a leaf costs next to nothing.
 *
 * To add another condition to kc_cow_range: give it a bound in ranks_of, and, if no kind of bound
 * fits, one more kc__cow_side.
 *
 * Threads: all that is reachable from a snapshot is constant, save reference counts.
 */
#include "apiserver/store/cow_internal.h"

struct kc_cow_snapshot {
    kc_ref refs;
    kc__cow_node *root; /* NULL: empty. */
    size_t count;
    uint64_t revision;
};

kc_cow_snapshot *kc__cow_snapshot_new(kc__cow_node *root, size_t count, uint64_t revision)
{
    kc_cow_snapshot *snapshot = kc_new(kc_cow_snapshot);
    kc_ref_init(&snapshot->refs);
    snapshot->root = kc__cow_node_ref(root);
    snapshot->count = count;
    snapshot->revision = revision;
    return snapshot;
}

kc_cow_snapshot *kc_cow_snapshot_ref(kc_cow_snapshot *snapshot)
{
    if (snapshot)
        kc_ref_add(&snapshot->refs);
    return snapshot;
}

kc_cow_snapshot *kc_cow_snapshot_unref(kc_cow_snapshot *snapshot)
{
    if (snapshot && kc_ref_drop(&snapshot->refs)) {
        kc__cow_node_unref(snapshot->root);
        free(snapshot);
    }
    return NULL;
}

kc__cow_node *kc__cow_snapshot_root(const kc_cow_snapshot *snapshot)
{
    return snapshot->root;
}

uint64_t kc_cow_snapshot_revision(const kc_cow_snapshot *snapshot)
{
    return snapshot->revision;
}

size_t kc_cow_snapshot_count(const kc_cow_snapshot *snapshot)
{
    return snapshot->count;
}

const kc_object *kc_cow_snapshot_get(const kc_cow_snapshot *snapshot, kc_str key)
{
    return kc__cow_get(snapshot->root, key);
}

/* ---- ranges ---- */

/* A run of ranks: from `first` up to, not including, `end`. */
typedef struct run {
    size_t first, end;
} run;

/* How many entries stand before the place. */
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

/* An empty key stands before all others, and so bounds nothing. */
static void start_at(run *ranks, const kc__cow_node *root, kc_str key, kc__cow_side side)
{
    if (key.n)
        ranks->first = KC_MAX(ranks->first, rank_of(root, key, side));
}

static run ranks_of(const kc_cow_snapshot *snapshot, const kc_cow_range *range)
{
    run ranks = {0, snapshot->count};
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

size_t kc_cow_snapshot_count_in(const kc_cow_snapshot *snapshot, const kc_cow_range *range)
{
    run ranks = ranks_of(snapshot, range);
    return ranks.end - ranks.first;
}

/* ---- walking ---- */

kc_cow_iter kc_cow_iter_start(const kc_cow_snapshot *snapshot, const kc_cow_range *range)
{
    run ranks = ranks_of(snapshot, range);
    return (kc_cow_iter){
        .root = snapshot->root, .rank = ranks.first, .left = ranks.end - ranks.first};
}

/* Goes to the leaf of the next entry, which is there. */
static void find_leaf(kc_cow_iter *it)
{
    const kc__cow_node *node = it->root;
    size_t rank = it->rank, at = 0;
    for (; node->height; node = node->slots[at].child)
        for (at = 0; rank >= node->counts[at]; at++)
            rank -= node->counts[at];
    it->leaf = node;
    it->at = rank;
}

bool kc_cow_iter_next(kc_cow_iter *it)
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
