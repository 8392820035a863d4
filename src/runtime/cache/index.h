/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h: finds the objects of a cache store that have a given value.
 *
 * An object is identified by its number (id) in the store. An index gets the values of an object
 * from a function (a user's function, the string at a path, or the namespace) and keeps the set of
 * ids of each value. The store's lock guards it.
 */
#ifndef KC_RUNTIME_INDEX_H
#define KC_RUNTIME_INDEX_H

#include "kc/cache.h"
#include "kc/map.h"
#include "kc/path.h"

/* A list of ids; owned by the caller. */
typedef KC_VEC(uint32_t) kc__index_id_vec;

/* The definition of an index. `path` is used if `fn` is NULL. */
typedef struct kc__index_def {
    const char *name;
    kc_index_fn *fn;
    const kc_path *path;
    void *user;
} kc__index_def;

typedef struct kc__index {
    kc__index_def def; /* Its name and path belong to the caller. */
    kc_map by_value;   /* Sets of ids. */
} kc__index;

/* The index by namespace; every store of a namespaced kind has it. */
extern const kc__index_def kc__index_namespace;

void kc__index_done(kc__index *index);

/* Adds or removes id `id` for the value. */
void kc__index_add(kc__index *index, kc_str value, uint32_t id);
void kc__index_remove(kc__index *index, kc_str value, uint32_t id);

/* Appends the ids, in an order that depends only on the ids. */
void kc__index_ids(const kc__index *index, kc_str value, kc__index_id_vec *ret);

/* The values of one object in several indexes. They are collected before the store's lock is
 * taken: index functions belong to users, and no callback runs with a lock held. */
typedef struct kc__index_value {
    uint32_t index; /* Position of the index. */
    uint32_t at, n; /* Slice of the text. */
} kc__index_value;

typedef struct kc__index_values {
    kc_buf text;
    KC_VEC(kc__index_value) list;
} kc__index_values;

void kc__index_values_done(kc__index_values *values);
void kc__index_values_clear(kc__index_values *values);
/* Appends the object's values in index number `index`. */
void kc__index_values_collect(kc__index_values *values, uint32_t index, const kc__index_def *def,
                              const kc_object *object);
bool kc__index_values_eq(const kc__index_values *a, const kc__index_values *b);
bool kc__index_values_have(const kc__index_values *values, uint32_t index, kc_str value);

static inline kc_str kc__index_value_text(const kc__index_values *values,
                                          const kc__index_value *value)
{
    return kc_str_of(values->text.p + value->at, value->n);
}

#endif
