/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cow_tree.h: an ordered map from text to objects whose versions can be kept: what a LIST reads
 * while writers go on.
 *
 *     kc_auto(kc_object) *replaced = kc_cow_tree_put(tree, KC_STR("default/web"), pod);    the
 *     kc_cow_tree_publish(tree, revision);                                                 writer
 *
 *     kc_auto(kc_cow_snapshot) *now = kc_cow_tree_snapshot(tree);                      any reader
 *     kc_cow_iter it = kc_cow_iter_start(now, &(kc_cow_range){.prefix = KC_STR("default/")});
 *     while (kc_cow_iter_next(&it))
 *         printf("%.*s\n", KC_ARG(it.key));
 *
 * Versions. One thread at a time, the writer, changes the tree and publishes it when a batch is
 * complete. Any thread takes the version published last, in O(1), and keeps it as long as it likes:
 * a snapshot never changes, and several threads may read one at a time. A version holds exactly the
 * nodes it needs, most of them shared with its neighbours in time; when its last reference goes,
 * what no other version needs is freed. The first change of a node after a publish copies it and
 * its ancestors; from then on it is changed in place. So loading 100,000 objects before the first
 * publish copies nothing.
 *
 * Keys are any bytes, at least one, in byte order; they are copied into the tree. (They are not
 * borrowed from the objects: a search would then touch an object at each step, and a key such as
 * "namespace/name" is not in the object as one piece.) Objects are counted: the tree and its
 * versions hold references of their own.
 *
 * Memory: with 100,000 keys of 28 bytes an entry takes 45 bytes when loaded in the order of keys
 * and 52 when loaded at random, its key included and its object not (bench/cow_tree.c measures it).
 * A kept version costs what differs: about 4 KB for each change published by itself, the way
 * from the root to one leaf.
 */
#ifndef KC_APISERVER_COW_TREE_H
#define KC_APISERVER_COW_TREE_H

#include "kc/object.h"

/* Longer keys are a bug of the caller; an object's text is limited to far less. */
#define KC_COW_KEY_MAX ((size_t)16 << 20)

/* ---- the writer's side ---- */

typedef struct kc_cow_tree kc_cow_tree;
typedef struct kc_cow_snapshot kc_cow_snapshot;

/* Empty, and published as such with revision 0. */
kc_cow_tree *kc_cow_tree_new(void);
/* A tree of its own that begins as a snapshot was, published as that. O(1): they share all nodes
 * until the tree changes them. Any thread. */
kc_cow_tree *kc_cow_tree_of(kc_cow_snapshot *snapshot);
/* When no other thread uses the tree any more; snapshots may live on. NULL is allowed. Returns
 * NULL. */
kc_cow_tree *kc_cow_tree_free(kc_cow_tree *tree);
KC_AUTO_DEFINE(kc_cow_tree, kc_cow_tree_free)

/*
 * Sets the object of a key; the tree takes a reference. Returns the object that was there, with a
 * reference that is now the caller's, or NULL. The key may live in a snapshot or in that object.
 * O(log n). Only the writer.
 */
kc_object *kc_cow_tree_put(kc_cow_tree *tree, kc_str key, const kc_object *object) KC_MUST_CHECK;
/* Removes a key. Returns its object, with a reference that is now the caller's, or NULL if it was
 * not there. O(log n). Only the writer. */
kc_object *kc_cow_tree_remove(kc_cow_tree *tree, kc_str key) KC_MUST_CHECK;

/* What the writer sees: its changes so far, published or not. The object, or NULL, is borrowed
 * until the next change. Only the writer. */
const kc_object *kc_cow_tree_get(const kc_cow_tree *tree, kc_str key);
size_t kc_cow_tree_count(const kc_cow_tree *tree);

/*
 * Makes all changes so far visible to snapshots taken from now on, under a revision that they will
 * tell. O(1), apart from freeing what only the version before needed. Only the writer.
 */
void kc_cow_tree_publish(kc_cow_tree *tree, uint64_t revision);

/* ---- snapshots ---- */

/* The version published last; to be unreferenced. Never NULL. O(1). Any thread, while the writer
 * goes on; blocks for no longer than a pointer is copied. */
kc_cow_snapshot *kc_cow_tree_snapshot(kc_cow_tree *tree);

/* Any thread. The last unref frees the nodes that no other version needs. NULL is allowed; unref
 * returns NULL. */
kc_cow_snapshot *kc_cow_snapshot_ref(kc_cow_snapshot *snapshot);
kc_cow_snapshot *kc_cow_snapshot_unref(kc_cow_snapshot *snapshot);
KC_AUTO_DEFINE(kc_cow_snapshot, kc_cow_snapshot_unref)

/* What it was published as. */
uint64_t kc_cow_snapshot_revision(const kc_cow_snapshot *snapshot);
/* All entries. O(1). */
size_t kc_cow_snapshot_count(const kc_cow_snapshot *snapshot);
/* The object, borrowed from the snapshot, or NULL. O(log n). */
const kc_object *kc_cow_snapshot_get(const kc_cow_snapshot *snapshot, kc_str key);

/* ---- ranges ---- */

/* Which entries: those that all fields admit. Zero (or NULL) is all of them. */
typedef struct kc_cow_range {
    kc_str prefix; /* Keys that start with it. */
    kc_str from;   /* This key and what follows it. Need not be there. */
    kc_str after;  /* Only what follows this key, as page tokens need it. Need not be there. */
} kc_cow_range;

/* How many entries are in the range: with `after` the last key of a page, the remainingItemCount.
 * O(log n), however many they are. */
size_t kc_cow_snapshot_count_in(const kc_cow_snapshot *snapshot, const kc_cow_range *range);

/* Walks a range in the order of keys. A value that owns nothing; the snapshot must outlive it. */
typedef struct kc_cow_iter {
    kc_str key; /* Of the current entry. Both live as long as the snapshot. */
    const kc_object *object;
    size_t left; /* Entries of the range that follow the current one. */
    /* Private: */
    const struct kc__cow_node *root, *leaf;
    size_t at;   /* In the leaf, of the next entry. */
    size_t rank; /* In the snapshot, of the next entry. */
} kc_cow_iter;

/* Before the first entry of the range. O(log n). */
kc_cow_iter kc_cow_iter_start(const kc_cow_snapshot *snapshot, const kc_cow_range *range);
/* To the next entry; false when there is none, and then key and object stay as they were. */
bool kc_cow_iter_next(kc_cow_iter *it);

#endif
