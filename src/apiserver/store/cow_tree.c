/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cow_tree.c: the writer's side of the copy-on-write tree: a B+ tree (entries in leaves only,
 * cow_internal.h draws it) in which a change owns each node on its way down before it touches it.
 *
 * Balance. A full node that must take one more entry is cut in the middle. At the right edge of the
 * tree it is instead left full, with a new node beside it: loading in the order of keys then fills
 * every node. After a removal two neighbours (children of one node) are joined when both together
 * fill at most half a node. So, in any tree:
 *
 *     no node is empty (an empty tree has no root), and
 *     two neighbours hold more than half a node together,
 *
 * which bounds the height by the logarithm of the entries, and the memory by about four times that
 * of full nodes. Joining later than textbooks do means that entries that come and go at a border do
 * not split and join it each time.
 *
 * The keys of inner nodes are cut as short as they can be: "b" tells "a/web" from "b/api".
 *
 * Threads: `root` and `count` belong to the writer; readers see only `published`.
 */
#include "apiserver/store/cow_internal.h"
#include "kc/thread.h"

struct kc_cow_tree {
    kc__cow_node *root; /* NULL: empty. */
    size_t count;
    kc_mutex mutex; /* Guards the pointer `published`. Taken last, nothing is under it. */
    kc_cow_snapshot *published;
};

kc_cow_tree *kc_cow_tree_new(void)
{
    kc_auto(kc_cow_snapshot) *empty = kc__cow_snapshot_new(NULL, 0, 0);
    return kc_cow_tree_of(empty);
}

kc_cow_tree *kc_cow_tree_of(kc_cow_snapshot *snapshot)
{
    kc_cow_tree *tree = kc_new(kc_cow_tree);
    kc_mutex_init(&tree->mutex);
    tree->root = kc__cow_node_ref(kc__cow_snapshot_root(snapshot));
    tree->count = kc_cow_snapshot_count(snapshot);
    tree->published = kc_cow_snapshot_ref(snapshot);
    return tree;
}

kc_cow_tree *kc_cow_tree_free(kc_cow_tree *tree)
{
    if (!tree)
        return NULL;
    kc_cow_snapshot_unref(tree->published);
    kc__cow_node_unref(tree->root);
    kc_mutex_done(&tree->mutex);
    free(tree);
    return NULL;
}

/* ---- publishing ---- */

void kc_cow_tree_publish(kc_cow_tree *tree, uint64_t revision)
{
    kc_cow_snapshot *old = NULL, *new = kc__cow_snapshot_new(tree->root, tree->count, revision);
    kc_locked (&tree->mutex) {
        old = tree->published;
        tree->published = new;
    }
    kc_cow_snapshot_unref(old); /* May free a lot: not under the lock. */
}

kc_cow_snapshot *kc_cow_tree_snapshot(kc_cow_tree *tree)
{
    kc_cow_snapshot *snapshot = NULL;
    kc_locked (&tree->mutex)
        snapshot = kc_cow_snapshot_ref(tree->published);
    return snapshot;
}

/* ---- reading ---- */

const kc_object *kc_cow_tree_get(const kc_cow_tree *tree, kc_str key)
{
    return kc__cow_get(tree->root, key);
}

size_t kc_cow_tree_count(const kc_cow_tree *tree)
{
    return tree->count;
}

/* ---- putting ---- */

/* A put on its way down the tree. */
typedef struct putting {
    kc_str key;
    const kc_object *object;
    const kc_object *replaced; /* Found on the way. */
} putting;

/* The new right half of a node that was full, or none. */
typedef struct half {
    kc__cow_node *node; /* NULL: none. */
    kc_str separator;   /* Lives in the node. */
} half;

/* The shortest text that is above the last key of `left` and at most the first one of `right`. */
static kc_str shortest_separator(const kc__cow_node *left, const kc__cow_node *right)
{
    kc_str low = kc__cow_key(left, left->n - 1u), high = kc__cow_key(right, 0);
    size_t same = 0;
    while (same < low.n && low.p[same] == high.p[same])
        same++;
    return kc_str_sub(high, 0, same + 1);
}

/* Puts an entry at a place of a node, which is cut in two if it is full. `at_edge`: nothing in the
 * tree follows the node. */
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

kc_object *kc_cow_tree_put(kc_cow_tree *tree, kc_str key, const kc_object *object)
{
    assert(object && key.n > 0 && key.n <= KC_COW_KEY_MAX && tree->count < UINT32_MAX);
    if (!tree->root)
        tree->root = kc__cow_node_new(0);
    putting put = {.key = key, .object = object};
    half right = put_under(&tree->root, &put, true);
    if (right.node)
        tree->root = root_over(tree->root, right);
    if (!put.replaced)
        tree->count++;
    return (kc_object *)put.replaced;
}

/* ---- removing ---- */

/* Joins the children at `at` and `at` + 1. */
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

/* Keeps the balance after something was removed under the child at `at`. */
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

/* Removes a key that is there. */
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

/* Takes away a root that is empty, or that has one child only. */
static void lower_root(kc_cow_tree *tree)
{
    kc__cow_node *root = tree->root;
    while (root && root->height && root->n == 1) {
        kc__cow_node *child = kc__cow_node_ref(root->slots[0].child);
        kc__cow_node_unref(root);
        root = child;
    }
    tree->root = root && root->n == 0 ? kc__cow_node_unref(root) : root;
}

kc_object *kc_cow_tree_remove(kc_cow_tree *tree, kc_str key)
{
    if (!kc__cow_get(tree->root, key))
        return NULL; /* Before anything is copied. */
    const kc_object *object = remove_under(&tree->root, key);
    lower_root(tree);
    tree->count--;
    return (kc_object *)object;
}
