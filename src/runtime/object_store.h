/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_store.h: the objects of one kind by namespace and name, with indexes.
 *
 *     kc__store_values(&store, object, &values);
 *     kc_object *old = kc__store_put(&store, object, &none, &values);
 *     kc_auto(kc__pages) *now = kc__store_snapshot(&store);    to be read without the lock
 *
 * Beyond the objects themselves it takes some twenty bytes for each, and seven for each value of
 * an index. Whoever has one guards it with a lock; all operations are short: even a snapshot of
 * everything is one count.
 *
 * Marks: a list that replaces what was there clears the marks of its namespace, marks what it has,
 * and sweeps out what has none.
 */
#ifndef KC_RUNTIME_OBJECT_STORE_H
#define KC_RUNTIME_OBJECT_STORE_H

#include "runtime/index.h"
#include "runtime/object_pages.h"

typedef KC_VEC(kc_object *) kc__object_vec;

typedef struct kc__store_slot {
    uint32_t id_plus_one; /* 0: free. */
    uint32_t hash;
} kc__store_slot;

typedef struct kc__store {
    size_t n;
    kc__pages *pages;
    kc__store_slot *slots;
    uint32_t slots_mask;
    uint64_t seed;
    kc__ids free_ids;
    uint64_t *marks; /* A bit for each id. */
    size_t n_marks;  /* Words. */
    kc__index *indexes;
    size_t n_indexes;
} kc__store;

/* `defs` are copied; what they point to is the caller's and lives as long. */
void kc__store_init(kc__store *store, uint64_t seed, const kc__index_def *defs, size_t n_defs);
void kc__store_done(kc__store *store);

/* Borrowed; NULL when it is not there. */
kc_object *kc__store_get(const kc__store *store, kc_key key);
/* The values of an object (NULL: none) in all indexes, instead of what `ret` had. Needs no lock. */
void kc__store_values(const kc__store *store, const kc_object *object, kc__values *ret);
/*
 * Takes the reference, marks it; gives what it replaces, or NULL. `before` are the values of what
 * is there (none if nothing is), `after` those of the object.
 */
kc_object *kc__store_put(kc__store *store, kc_object *object, const kc__values *before,
                         const kc__values *after);
/* Gives what was there, or NULL; `before` are its values. */
kc_object *kc__store_remove(kc__store *store, kc_key key, const kc__values *before);

/* Marks what is there, and leaves it. */
void kc__store_mark(kc__store *store, kc_key key);
/* Clears the marks of a namespace; of all when it is empty. */
void kc__store_unmark(kc__store *store, kc_str ns);
/* References to the objects without a mark, appended. They stay in the store. */
void kc__store_unmarked(const kc__store *store, kc_str ns, kc__object_vec *ret);

kc__pages *kc__store_snapshot(const kc__store *store);
/* The index, or NULL. */
const kc__index *kc__store_index(const kc__store *store, kc_str name);

#endif
