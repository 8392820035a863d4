/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_members.h: many lookups of members of one object, and members sorted by name.
 *
 *     kc_scoped(kc__value_members) in_b = {.object = b};
 *     kc_value_each_member (a, name, value)
 *         compare(value, kc__value_members_find(&in_b, name));
 *
 * The members of an object have any order, so matching two objects of n members by simple search
 * takes n² steps, and a client can send 100,000.
 */
#ifndef KC_OBJECT_MODEL_VALUE_MEMBERS_H
#define KC_OBJECT_MODEL_VALUE_MEMBERS_H

#include "kc/map.h"
#include "kc/vec.h"
#include "kc/view.h"

/* Zeroed except for the object, which may be NULL or of another type: it then has no members. */
typedef struct kc__value_members {
    const kc_value *object;
    bool started;
    kc_value_iter next; /* The member after the last match. */
    unsigned misses;    /* Number of lookups that did not match it. */
    kc_map map;         /* Of all members; empty until needed. */
} kc__value_members;

/* The value, or NULL. Fastest in the order of the members. */
const kc_value *kc__value_members_find(kc__value_members *members, kc_str name);
void kc__value_members_done(kc__value_members *members);

typedef struct kc__value_named {
    kc_str name;
    const kc_value *value;
} kc__value_named;

typedef KC_VEC(kc__value_named) kc__value_named_vec;

/* Appends the members of an object, sorted by name. The caller frees the list with kc_vec_done. */
void kc__value_members_sorted(const kc_value *object, kc__value_named_vec *list);

#endif
