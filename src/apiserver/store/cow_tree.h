/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cow_tree.h: an ordered map from keys to objects with immutable snapshots: a LIST reads a snapshot
 * while the writer continues.
 *
 *     kc_auto(kc_object) *replaced = kc__cow_tree_put(tree, KC_STR("default/web"), pod);    the
 *     kc__cow_tree_publish(tree, revision);                                                 writer
 *
 *     kc_auto(kc__cow_snapshot) *now = kc__cow_tree_snapshot(tree);                      any reader
 *     kc__cow_iter it = kc__cow_iter_start(now, &(kc__cow_range){.prefix = KC_STR("default/")});
 *     while (kc__cow_iter_next(&it))
 *         printf("%.*s\n", KC_ARG(it.key));
 *
 * Versions. One thread at a time, the writer, changes the tree and publishes it when a batch is
 * complete. Any thread can take the latest published version as a snapshot, in O(1), and keep it
 * for any time: a snapshot never changes, and several threads may read one concurrently. A version
 * references exactly the nodes it needs and shares most of them with the versions before and after
 * it; its last reference frees the nodes that no other version needs. The first change of a node
 * after a publish copies the node and its ancestors; further changes modify the copy in place. So
 * loading 100,000 objects before the first publish copies nothing.
 *
 * Keys are arbitrary non-empty byte strings in byte order; the tree copies them. (It does not
 * borrow them from the objects: a search would then touch an object at each step, and a key such as
 * "namespace/name" is not contiguous in the object.) Objects are reference-counted: the tree and
 * its versions hold references of their own.
 *
 * Memory: with 100,000 keys of 28 bytes, an entry takes 45 bytes when loaded in key order and 52
 * when loaded in random order, including its key but not its object (measured by bench/cow_tree.c).
 * A kept version costs what differs: about 4 KB for each change that was published alone, which is
 * the path from the root to one leaf.
 */
#ifndef KC_APISERVER_COW_TREE_H
#define KC_APISERVER_COW_TREE_H

#include "kc/object.h"

/* A longer key is a bug of the caller; an object's text is limited to far less. */
#define KC__COW_KEY_MAX ((size_t)16 << 20)

typedef struct kc__cow_tree kc__cow_tree;
typedef struct kc__cow_snapshot kc__cow_snapshot;

/* Counters that a tree updates as it changes and a snapshot records. The difference between the
 * counts of two versions is an upper bound of what the versions differ by. */
typedef struct kc__cow_counts {
    uint64_t changes;  /* Number of puts and removals. */
    uint64_t replaced; /* Bytes of the objects that were replaced or removed. */
    uint64_t bytes;    /* Bytes of the current objects. */
} kc__cow_counts;

/* ---- the writer's side ---- */

/* Creates an empty tree, published as such with revision 0. */
kc__cow_tree *kc__cow_tree_new(void);
/* Creates a tree with the contents of a snapshot, published as such. O(1): both share all nodes
 * until the tree changes them. Any thread. */
kc__cow_tree *kc__cow_tree_of(kc__cow_snapshot *snapshot);
/* Call it when no other thread uses the tree; snapshots may outlive it. NULL is allowed. Returns
 * NULL. */
kc__cow_tree *kc__cow_tree_free(kc__cow_tree *tree);
KC_AUTO_DEFINE(kc__cow_tree, kc__cow_tree_free)

/*
 * Sets the object of a key; the tree takes a reference. Returns the previous object, whose
 * reference passes to the caller, or NULL. The key may point into a snapshot or into that object.
 * O(log n). Writer only.
 */
kc_object *kc__cow_tree_put(kc__cow_tree *tree, kc_str key, const kc_object *object) KC_MUST_CHECK;
/* Removes a key. Returns its object, whose reference passes to the caller, or NULL if the key did
 * not exist. O(log n). Writer only. */
kc_object *kc__cow_tree_remove(kc__cow_tree *tree, kc_str key) KC_MUST_CHECK;

/* Reads the writer's current state, including unpublished changes. The object, or NULL, is borrowed
 * until the next change. Writer only. */
const kc_object *kc__cow_tree_get(const kc__cow_tree *tree, kc_str key);
/* Number of objects, for tests. */
size_t kc__cow_tree_count(const kc__cow_tree *tree);
/* The counts; the writer may overwrite them, and the next publish records them. Writer only. */
kc__cow_counts *kc__cow_tree_counts(kc__cow_tree *tree);

/*
 * Makes all changes so far visible to snapshots taken from now on, under the given revision. O(1),
 * apart from freeing the nodes that only the previous version needed. Writer only.
 */
void kc__cow_tree_publish(kc__cow_tree *tree, uint64_t revision);

/* ---- snapshots ---- */

/* The latest published version; the caller drops the reference. Never NULL. O(1). Any thread,
 * concurrently with the writer; blocks only while a pointer is copied. */
kc__cow_snapshot *kc__cow_tree_snapshot(kc__cow_tree *tree);

/* Any thread. The last unref frees the nodes that no other version needs. NULL is allowed; unref
 * returns NULL. */
kc__cow_snapshot *kc__cow_snapshot_ref(kc__cow_snapshot *snapshot);
kc__cow_snapshot *kc__cow_snapshot_unref(kc__cow_snapshot *snapshot);
KC_AUTO_DEFINE(kc__cow_snapshot, kc__cow_snapshot_unref)

/* The revision under which it was published. */
uint64_t kc__cow_snapshot_revision(const kc__cow_snapshot *snapshot);
/* Number of entries. O(1). */
size_t kc__cow_snapshot_count(const kc__cow_snapshot *snapshot);
kc__cow_counts kc__cow_snapshot_counts(const kc__cow_snapshot *snapshot);
/* The object, borrowed from the snapshot, or NULL. O(log n). */
const kc_object *kc__cow_snapshot_get(const kc__cow_snapshot *snapshot, kc_str key);

/* Called for each key whose object differs; `before` or `after` is NULL where the key does not
 * exist. Key and objects are borrowed from the snapshots. */
typedef void kc__cow_diff_fn(kc_str key, const kc_object *before, const kc_object *after,
                             void *user);
/*
 * Compares two versions of one tree, in key order. NULL is an empty snapshot. Leaves that both
 * versions share are skipped: the cost is a descent for each leaf, and an entry by entry comparison
 * where something changed. For indexes derived from stored objects.
 */
void kc__cow_diff(const kc__cow_snapshot *before, const kc__cow_snapshot *after,
                  kc__cow_diff_fn *differs, void *user);

/* ---- ranges ---- */

/* Selects the entries that match all fields. Zero (or NULL) selects all entries. */
typedef struct kc__cow_range {
    kc_str prefix; /* Keys that start with this prefix. */
    kc_str from;   /* This key and all after it. The key need not exist. */
    kc_str
        after; /* Only keys after this one, as continue tokens need it. The key need not exist. */
} kc__cow_range;

/* Number of entries in the range; with `after` set to the last key of a page, the
 * remainingItemCount. O(log n), whatever their number. */
size_t kc__cow_snapshot_count_in(const kc__cow_snapshot *snapshot, const kc__cow_range *range);

/* Iterates over a range in key order. A plain value that owns nothing; the snapshot must outlive
 * it. */
typedef struct kc__cow_iter {
    kc_str key; /* Key of the current entry. Key and object live as long as the snapshot. */
    const kc_object *object;
    size_t left; /* Number of entries of the range after the current one. */
    /* Private: */
    const struct kc__cow_node *root, *leaf;
    size_t at;   /* Index of the next entry in the leaf. */
    size_t rank; /* Rank of the next entry in the snapshot. */
} kc__cow_iter;

/* Positioned before the first entry of the range. O(log n). */
kc__cow_iter kc__cow_iter_start(const kc__cow_snapshot *snapshot, const kc__cow_range *range);
/* Advances to the next entry. Returns false at the end and leaves key and object unchanged. */
bool kc__cow_iter_next(kc__cow_iter *it);

#endif
