/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cow_tree.c: the writer's side of the copy-on-write tree: a B+ tree (entries in leaves only; see
 * the picture in cow_internal.h). A change takes ownership of each node on its path before it
 * modifies the node.
 *
 * Balance. A full node that must take one more entry is split in the middle. At the right edge of
 * the tree it stays full and gets a new right sibling instead, so that loading in key order fills
 * every node. After a removal, two siblings (children of one node) are merged if together they fill
 * at most half a node. So, in any tree:
 *
 *     no node is empty (an empty tree has no root), and
 *     two adjacent siblings together hold more than half a node,
 *
 * which bounds the height by the logarithm of the number of entries, and the memory by about four
 * times that of full nodes. Merging later than textbooks do avoids repeated splits and merges when
 * entries are added and removed at a boundary.
 *
 * The keys of inner nodes are as short as possible: "b" separates "a/web" from "b/api".
 *
 * Threads: `root`, `count` and `counts` belong to the writer; readers see only `published`.
 */
#include "apiserver/store/cow_internal.h"
#include "kc/thread.h"

struct kc__cow_tree {
    kc__cow_node *root; /* NULL if empty. */
    size_t count;
    kc__cow_counts counts;
    kc_mutex
        mutex; /* Guards the pointer `published`. A leaf lock: no other lock is taken under it. */
    kc__cow_snapshot *published;
};

kc__cow_tree *kc__cow_tree_new(void)
{
    kc_auto(kc__cow_snapshot) *empty = kc__cow_snapshot_new(NULL, 0, 0, (kc__cow_counts){0});
    return kc__cow_tree_of(empty);
}

kc__cow_tree *kc__cow_tree_of(kc__cow_snapshot *snapshot)
{
    kc__cow_tree *tree = kc_new(kc__cow_tree);
    kc_mutex_init(&tree->mutex);
    tree->root = kc__cow_node_ref(kc__cow_snapshot_root(snapshot));
    tree->count = kc__cow_snapshot_count(snapshot);
    tree->counts = kc__cow_snapshot_counts(snapshot);
    tree->published = kc__cow_snapshot_ref(snapshot);
    return tree;
}

kc__cow_tree *kc__cow_tree_free(kc__cow_tree *tree)
{
    if (!tree)
        return NULL;
    kc__cow_snapshot_unref(tree->published);
    kc__cow_node_unref(tree->root);
    kc_mutex_done(&tree->mutex);
    free(tree);
    return NULL;
}

/* ---- publishing ---- */

void kc__cow_tree_publish(kc__cow_tree *tree, uint64_t revision)
{
    kc__cow_snapshot *old = NULL,
                     *new = kc__cow_snapshot_new(tree->root, tree->count, revision, tree->counts);
    kc_locked (&tree->mutex) {
        old = tree->published;
        tree->published = new;
    }
    kc__cow_snapshot_unref(old); /* May free many nodes: not under the lock. */
}

kc__cow_snapshot *kc__cow_tree_snapshot(kc__cow_tree *tree)
{
    kc__cow_snapshot *snapshot = NULL;
    kc_locked (&tree->mutex)
        snapshot = kc__cow_snapshot_ref(tree->published);
    return snapshot;
}

/* ---- reading ---- */

const kc_object *kc__cow_tree_get(const kc__cow_tree *tree, kc_str key)
{
    return kc__cow_get(tree->root, key);
}

size_t kc__cow_tree_count(const kc__cow_tree *tree)
{
    return tree->count;
}

kc__cow_counts *kc__cow_tree_counts(kc__cow_tree *tree)
{
    return &tree->counts;
}

/* Either object may be NULL. */
static void count_change(kc__cow_counts *counts, const kc_object *added, const kc_object *replaced)
{
    const uint64_t gone = replaced ? kc_object_size(replaced) : 0;
    counts->changes++;
    counts->replaced += gone;
    counts->bytes += (added ? kc_object_size(added) : 0) - gone;
}

/* ---- putting ---- */

/* State of a put during its descent. */
typedef struct putting {
    kc_str key;
    const kc_object *object;
    const kc_object *replaced; /* The object that the put replaced. */
} putting;

/* The new right half of a split node, or none. */
typedef struct half {
    kc__cow_node *node; /* NULL if the node was not split. */
    kc_str separator;   /* Points into the node. */
} half;

/* The shortest key that is above the last key of `left` and at most the first key of `right`. */
static kc_str shortest_separator(const kc__cow_node *left, const kc__cow_node *right)
{
    kc_str low = kc__cow_key(left, left->n - 1u), high = kc__cow_key(right, 0);
    size_t same = 0;
    while (same < low.n && low.p[same] == high.p[same])
        same++;
    return kc_str_sub(high, 0, same + 1);
}

/* Inserts an entry at an index of a node and splits the node if it is full. `at_edge`: the node is
 * the rightmost of its level. */
static half insert_or_split(kc__cow_node *node, size_t at, kc_str key, kc__cow_slot slot,
                            bool at_edge)
{
    if (node->n < KC__COW_MAX) {
        kc__cow_insert_at(node, at, key, slot);
        return (half){0};
    }
    bool appended = at_edge && at == KC__COW_MAX;
    size_t cut = appended ? KC__COW_MAX : KC__COW_MAX / 2;
    kc__cow_node *right = kc__cow_split(node, cut);
    if (appended || at > cut)
        kc__cow_insert_at(right, at - cut, key, slot);
    else
        kc__cow_insert_at(node, at, key, slot);
    return (half){right, node->height ? kc__cow_key(right, 0) : shortest_separator(node, right)};
}

static half put_in_leaf(kc__cow_node *leaf, putting *put, bool at_edge)
{
    size_t at = kc__cow_leaf_find(leaf, put->key, KC__COW_BEFORE);
    kc__cow_slot slot = {.object = kc_object_ref(put->object)};
    if (at == leaf->n || !kc_str_eq(kc__cow_key(leaf, at), put->key))
        return insert_or_split(leaf, at, put->key, slot, at_edge);
    put->replaced = leaf->slots[at].object;
    leaf->slots[at] = slot;
    return (half){0};
}

static half put_under(kc__cow_node **place, putting *put, bool at_edge)
{
    kc__cow_node *node = kc__cow_own(place);
    if (node->height == 0)
        return put_in_leaf(node, put, at_edge);
    size_t at = kc__cow_child_find(node, put->key, KC__COW_AFTER);
    half right = put_under(&node->slots[at].child, put, at_edge && at + 1 == node->n);
    node->counts[at] = (uint32_t)kc__cow_count(node->slots[at].child);
    if (!right.node)
        return right;
    kc__cow_slot slot = {.child = right.node};
    return insert_or_split(node, at + 1, right.separator, slot, at_edge);
}

static kc__cow_node *root_over(kc__cow_node *left, half right)
{
    kc__cow_node *root = kc__cow_node_new(left->height + 1u);
    kc__cow_insert_at(root, 0, KC_STR(""), (kc__cow_slot){.child = left});
    kc__cow_insert_at(root, 1, right.separator, (kc__cow_slot){.child = right.node});
    return root;
}

kc_object *kc__cow_tree_put(kc__cow_tree *tree, kc_str key, const kc_object *object)
{
    assert(object && key.n > 0 && key.n <= KC__COW_KEY_MAX && tree->count < UINT32_MAX);
    if (!tree->root)
        tree->root = kc__cow_node_new(0);
    putting put = {.key = key, .object = object};
    half right = put_under(&tree->root, &put, true);
    if (right.node)
        tree->root = root_over(tree->root, right);
    if (!put.replaced)
        tree->count++;
    count_change(&tree->counts, object, put.replaced);
    return (kc_object *)put.replaced;
}

/* ---- removing ---- */

/* Merges the children at `at` and `at` + 1. */
static void join(kc__cow_node *node, size_t at)
{
    kc__cow_node *left = kc__cow_own(&node->slots[at].child);
    kc__cow_node *right = kc__cow_own(&node->slots[at + 1].child);
    kc__cow_append(left, right, kc__cow_key(node, at + 1));
    kc__cow_remove_at(node, at + 1);
    node->counts[at] = (uint32_t)kc__cow_count(left);
}

static bool should_join(const kc__cow_node *node, size_t at)
{
    return at + 1 < node->n &&
           node->slots[at].child->n + node->slots[at + 1].child->n <= KC__COW_MAX / 2;
}

/* Restores the balance after a removal under the child at `at`. */
static void shrink(kc__cow_node *node, size_t at)
{
    if (node->slots[at].child->n == 0) {
        kc__cow_node_unref(node->slots[at].child);
        kc__cow_remove_at(node, at);
    } else if (should_join(node, at)) {
        join(node, at);
    } else if (at > 0 && should_join(node, at - 1)) {
        join(node, at - 1);
    }
}

/* Removes a key that exists. */
static const kc_object *remove_under(kc__cow_node **place, kc_str key)
{
    kc__cow_node *node = kc__cow_own(place);
    if (node->height == 0) {
        size_t at = kc__cow_leaf_find(node, key, KC__COW_BEFORE);
        const kc_object *object = node->slots[at].object;
        kc__cow_remove_at(node, at);
        return object;
    }
    size_t at = kc__cow_child_find(node, key, KC__COW_AFTER);
    const kc_object *object = remove_under(&node->slots[at].child, key);
    node->counts[at] = (uint32_t)kc__cow_count(node->slots[at].child);
    shrink(node, at);
    return object;
}

/* Removes a root that is empty or has only one child. */
static void lower_root(kc__cow_tree *tree)
{
    kc__cow_node *root = tree->root;
    while (root && root->height && root->n == 1) {
        kc__cow_node *child = kc__cow_node_ref(root->slots[0].child);
        kc__cow_node_unref(root);
        root = child;
    }
    tree->root = root && root->n == 0 ? kc__cow_node_unref(root) : root;
}

kc_object *kc__cow_tree_remove(kc__cow_tree *tree, kc_str key)
{
    if (!kc__cow_get(tree->root, key))
        return NULL; /* Before any node is copied. */
    const kc_object *object = remove_under(&tree->root, key);
    lower_root(tree);
    tree->count--;
    count_change(&tree->counts, NULL, object);
    return (kc_object *)object;
}
