/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h: which objects of a store have a certain value.
 *
 * An object is known by its number (id) in the store. An index gets the values of an object from a
 * function (its user's, the text at a path, or the namespace) and keeps for each value the set of
 * ids. The store's lock guards it.
 */
#ifndef KC_RUNTIME_INDEX_H
#define KC_RUNTIME_INDEX_H

#include "kc/cache.h"
#include "kc/map.h"
#include "kc/path.h"

/* Ids of a list; the caller's. */
typedef KC_VEC(uint32_t) kc__ids;

/* What an index is made of. `path` is used where `fn` is NULL. */
typedef struct kc__index_def {
    const char *name;
    kc_index_fn *fn;
    const kc_path *path;
    void *user;
} kc__index_def;

typedef struct kc__index {
    kc__index_def def; /* Its name and path are the caller's. */
    kc_map by_value;   /* Of sets of ids. */
} kc__index;

/* The index by namespace, which every store of a namespaced kind has. */
extern const kc__index_def kc__index_namespace;

void kc__index_done(kc__index *index);

/* Id `id` has the value, or has it no more. */
void kc__index_add(kc__index *index, kc_str value, uint32_t id);
void kc__index_remove(kc__index *index, kc_str value, uint32_t id);

/* Appends their ids, in an order that depends on nothing but the ids. */
void kc__index_ids(const kc__index *index, kc_str value, kc__ids *ret);

/*
 * The values of one object in several indexes. They are collected before the store's lock is taken:
 * what gives them is the user's, and nobody calls out with a lock held.
 */
typedef struct kc__value {
    uint32_t index; /* Its place among the indexes. */
    uint32_t at, n; /* In the text. */
} kc__value;

typedef struct kc__values {
    kc_buf text;
    KC_VEC(kc__value) list;
} kc__values;

void kc__index_values_done(kc__values *values);
void kc__values_clear(kc__values *values);
/* Appends what index number `index` has of the object. */
void kc__values_collect(kc__values *values, uint32_t index, const kc__index_def *def,
                        const kc_object *object);
bool kc__values_eq(const kc__values *a, const kc__values *b);
bool kc__values_have(const kc__values *values, uint32_t index, kc_str value);

static inline kc_str kc__value_text(const kc__values *values, const kc__value *value)
{
    return kc_str_of(values->text.p + value->at, value->n);
}

#endif
