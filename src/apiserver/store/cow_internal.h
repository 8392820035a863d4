/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cow_internal.h: the nodes of the copy-on-write tree, shared by its files.
 *
 *     inner   keys      │ –  │ d  │ k  │       key i: above the last key under child i - 1, and
 *             children  │ ●  │ ●  │ ●  │       at most the first under child i; key 0 is unused
 *             counts    │ 3  │ 2  │ 4  │       entries under each child
 *                         │
 *     leaf    keys      │ a/x │ a/y │ b/x │    the entries' keys
 *             objects   │  ●  │  ●  │  ●  │
 *
 * All leaves have the same height, 0. The keys of a node are one text, in order; ends[i] is where
 * key i ends, and so where the next begins. Nothing of it is wasted, and copying a node is copying
 * two blocks.
 *
 * A node is counted: its parents in all versions, and the tree and snapshots whose root it is. A
 * node is changed only while it and all its ancestors have one reference, the writer's.
 */
#ifndef KC_APISERVER_COW_INTERNAL_H
#define KC_APISERVER_COW_INTERNAL_H

#include "apiserver/store/cow_tree.h"
#include "kc/ref.h"

/* Entries of a node, at most. Fewer: more levels; more: a change after a publish copies more. */
enum { KC__COW_MAX = 32 };

typedef struct kc__cow_node kc__cow_node;

typedef union kc__cow_slot {
    kc__cow_node *child;     /* In inner nodes. */
    const kc_object *object; /* In leaves. */
} kc__cow_slot;

struct kc__cow_node {
    kc_ref refs;
    uint16_t n;      /* Entries. */
    uint16_t height; /* 0: a leaf. */
    uint32_t text_cap;
    char *text; /* The keys, one after the other. */
    uint32_t ends[KC__COW_MAX];
    kc__cow_slot slots[KC__COW_MAX];
    uint32_t counts[]; /* KC__COW_MAX of them in inner nodes, none in leaves. */
};

static inline kc_str kc__cow_key(const kc__cow_node *node, size_t i)
{
    uint32_t start = i ? node->ends[i - 1] : 0;
    return kc_str_of(node->text + start, node->ends[i] - start);
}

/* Entries in the tree under a node; NULL is an empty tree. */
size_t kc__cow_count(const kc__cow_node *node);

/* ---- references ---- */

kc__cow_node *kc__cow_node_new(unsigned height);
kc__cow_node *kc__cow_node_ref(kc__cow_node *node);
kc__cow_node *kc__cow_node_unref(kc__cow_node *node);
/* The node in *place, to be changed: a copy takes its place if others refer to it too. */
kc__cow_node *kc__cow_own(kc__cow_node **place);

/* ---- searching (one meaning of "before" per kind of bound) ---- */

typedef enum kc__cow_side {
    KC__COW_BEFORE,      /* The place before the key, whether it is there or not. */
    KC__COW_AFTER,       /* The place after it. */
    KC__COW_PAST_PREFIX, /* The place after all keys that start with it. */
} kc__cow_side;

/* How many of a leaf's keys stand before the place. */
size_t kc__cow_leaf_find(const kc__cow_node *leaf, kc_str key, kc__cow_side side);
/* The child of an inner node under which the place is. */
size_t kc__cow_child_find(const kc__cow_node *inner, kc_str key, kc__cow_side side);
/* The object of a key under a node, or NULL; the node may be NULL. */
const kc_object *kc__cow_get(const kc__cow_node *node, kc_str key);

/* ---- changing an owned node; references in slots are moved, never counted ---- */

/* Puts an entry at a place of a node that is not full. */
void kc__cow_insert_at(kc__cow_node *node, size_t at, kc_str key, kc__cow_slot slot);
void kc__cow_remove_at(kc__cow_node *node, size_t at);
/* Moves the entries from `cut` on into a new node. */
kc__cow_node *kc__cow_split(kc__cow_node *node, size_t cut);
/* Moves all entries of `right`, also owned, to the end of `node` and frees it. In inner nodes
 * `separator` becomes the key of the first. */
void kc__cow_append(kc__cow_node *node, kc__cow_node *right, kc_str separator);

/* ---- snapshots ---- */

/* Of a root (NULL: empty), to which it takes a reference. */
kc_cow_snapshot *kc__cow_snapshot_new(kc__cow_node *root, size_t count, uint64_t revision);
/* Borrowed; NULL when empty. */
kc__cow_node *kc__cow_snapshot_root(const kc_cow_snapshot *snapshot);

#endif
