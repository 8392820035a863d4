/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_store.h: the objects of one kind by namespace and name, with indexes.
 *
 *     kc__cache_store_values(&store, object, &values);
 *     kc_object *old = kc__cache_store_put(&store, object, &none, &values);
 *     kc_auto(kc__cache_pages) *now = kc__cache_store_snapshot(&store);    read without the lock
 *
 * In addition to the objects the store takes about twenty bytes per object and seven per index
 * value. The owner guards the store with a lock; all operations are short: even a snapshot of
 * everything is one reference.
 *
 * Marks: a list that replaces the content clears the marks of its namespace, marks the objects that
 * it contains, and then removes the objects without a mark.
 */
#ifndef KC_RUNTIME_OBJECT_STORE_H
#define KC_RUNTIME_OBJECT_STORE_H

#include "runtime/cache/index.h"
#include "runtime/cache/object_pages.h"

typedef KC_VEC(kc_object *) kc__cache_object_vec;

typedef struct kc__cache_store_slot {
    uint32_t id_plus_one; /* 0: free. */
    uint32_t hash;
} kc__cache_store_slot;

typedef struct kc__cache_store {
    size_t n;
    kc__cache_pages *pages;
    kc__cache_store_slot *slots;
    uint32_t slots_mask;
    uint64_t seed;
    kc__index_id_vec free_ids;
    uint64_t *marks; /* One bit per id. */
    size_t n_marks;  /* In words. */
    kc__index *indexes;
    size_t n_indexes;
} kc__cache_store;

/* Copies `defs`; what they point to belongs to the caller and must outlive the store. */
void kc__cache_store_init(kc__cache_store *store, uint64_t seed, const kc__index_def *defs,
                          size_t n_defs);
void kc__cache_store_done(kc__cache_store *store);

/* Borrowed; NULL if it does not exist. */
kc_object *kc__cache_store_get(const kc__cache_store *store, kc_key key);
/* Sets `ret` to the object's values in all indexes (none if the object is NULL). Needs no lock. */
void kc__cache_store_values(const kc__cache_store *store, const kc_object *object,
                            kc__index_values *ret);
/* Takes ownership of the reference and marks the object; returns the object it replaces, or NULL.
 * `before` are the values of the existing object (empty if there is none), `after` those of the
 * new one. */
kc_object *kc__cache_store_put(kc__cache_store *store, kc_object *object,
                               const kc__index_values *before, const kc__index_values *after);
/* Returns the removed object, or NULL; `before` are its values. */
kc_object *kc__cache_store_remove(kc__cache_store *store, kc_key key,
                                  const kc__index_values *before);

/* Marks the existing object without changing it. */
void kc__cache_store_mark(kc__cache_store *store, kc_key key);
/* Clears the marks of a namespace; all marks if it is empty. */
void kc__cache_store_unmark(kc__cache_store *store, kc_str ns);
/* Appends references to the objects without a mark. They stay in the store. */
void kc__cache_store_unmarked(const kc__cache_store *store, kc_str ns, kc__cache_object_vec *ret);

kc__cache_pages *kc__cache_store_snapshot(const kc__cache_store *store);
/* The index, or NULL. */
const kc__index *kc__cache_store_index(const kc__cache_store *store, kc_str name);

#endif
