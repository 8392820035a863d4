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
 * All leaves have the same height, 0. The keys of a node are stored in one packed buffer, in order;
 * ends[i] is the offset at which key i ends and the next one begins. No space is wasted, and
 * copying a node copies two blocks.
 *
 * A node is reference-counted: by its parents in all versions, and by the tree and the snapshots
 * whose root it is. A node may be changed only while it and all its ancestors have exactly one
 * reference, the writer's.
 */
#ifndef KC_APISERVER_COW_INTERNAL_H
#define KC_APISERVER_COW_INTERNAL_H

#include "apiserver/store/cow_tree.h"
#include "kc/ref.h"

/* Maximum number of entries of a node. A smaller number adds levels; a larger one makes the first
 * change after a publish copy more. */
enum { KC__COW_MAX = 32 };

typedef struct kc__cow_node kc__cow_node;

typedef union kc__cow_slot {
    kc__cow_node *child;     /* Inner nodes. */
    const kc_object *object; /* Leaves. */
} kc__cow_slot;

struct kc__cow_node {
    kc_ref refs;
    uint16_t n;      /* Number of entries. */
    uint16_t height; /* 0 for a leaf. */
    uint32_t text_cap;
    char *text; /* The packed keys. */
    uint32_t ends[KC__COW_MAX];
    kc__cow_slot slots[KC__COW_MAX];
    uint32_t counts[]; /* KC__COW_MAX elements in inner nodes, none in leaves. */
};

static inline kc_str kc__cow_key(const kc__cow_node *node, size_t i)
{
    uint32_t start = i ? node->ends[i - 1] : 0;
    return kc_str_of(node->text + start, node->ends[i] - start);
}

/* Number of entries under a node; NULL is an empty tree. */
size_t kc__cow_count(const kc__cow_node *node);

/* ---- references ---- */

kc__cow_node *kc__cow_node_new(unsigned height);
kc__cow_node *kc__cow_node_ref(kc__cow_node *node);
kc__cow_node *kc__cow_node_unref(kc__cow_node *node);
/* Returns the node in *place for modification. If it is shared, a copy replaces it in *place. */
kc__cow_node *kc__cow_own(kc__cow_node **place);

/* ---- searching (one meaning of "before" per kind of bound) ---- */

typedef enum kc__cow_side {
    KC__COW_BEFORE,      /* The position before the key, whether the key exists or not. */
    KC__COW_AFTER,       /* The position after the key. */
    KC__COW_PAST_PREFIX, /* The position after all keys that start with the key. */
} kc__cow_side;

/* Number of keys in a leaf before the position. */
size_t kc__cow_leaf_find(const kc__cow_node *leaf, kc_str key, kc__cow_side side);
/* Index of the child of an inner node that contains the position. */
size_t kc__cow_child_find(const kc__cow_node *inner, kc_str key, kc__cow_side side);
/* The object of a key under a node, or NULL if the key does not exist. The node may be NULL. */
const kc_object *kc__cow_get(const kc__cow_node *node, kc_str key);

/* ---- changing an owned node; references in slots are moved, not counted ---- */

/* Inserts an entry at an index of a node that is not full. */
void kc__cow_insert_at(kc__cow_node *node, size_t at, kc_str key, kc__cow_slot slot);
void kc__cow_remove_at(kc__cow_node *node, size_t at);
/* Moves the entries from index `cut` on into a new node. */
kc__cow_node *kc__cow_split(kc__cow_node *node, size_t cut);
/* Appends all entries of `right`, which must be owned too, to `node` and frees `right`. In inner
 * nodes `separator` becomes the key of the first appended entry. */
void kc__cow_append(kc__cow_node *node, kc__cow_node *right, kc_str separator);

/* ---- snapshots ---- */

/* Creates a snapshot of a root (NULL: empty) and takes a reference to it. */
kc__cow_snapshot *kc__cow_snapshot_new(kc__cow_node *root, size_t count, uint64_t revision,
                                       kc__cow_counts counts);
/* The root, borrowed; NULL if the snapshot is empty. */
kc__cow_node *kc__cow_snapshot_root(const kc__cow_snapshot *snapshot);

#endif
