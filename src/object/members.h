/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h: looking up many members of one object, and members in the order of their names.
 *
 *     kc_scoped(kc__members) in_b = {.object = b};
 *     kc_members (a, name, value)
 *         compare(value, kc__members_find(&in_b, name));
 *
 * An object has its members in any order, so matching two of n members the plain way takes n²
 * steps, and a client can send 100,000.
 */
#ifndef KC_MEMBERS_H
#define KC_MEMBERS_H

#include "kc/map.h"
#include "kc/vec.h"
#include "kc/view.h"

/* Zeroed but for the object, which may be NULL or of another type: then it has no members. */
typedef struct kc__members {
    const kc_value *object;
    bool started;
    kc_iter next;   /* The member behind the one found last. */
    unsigned asked; /* How often that was not the one. */
    kc_map map;     /* Of all members; empty until it is needed. */
} kc__members;

/* The value, or NULL. Fastest in the order in which the members stand. */
const kc_value *kc__members_find(kc__members *members, kc_str name);
void kc__members_done(kc__members *members);

typedef struct kc__member {
    kc_str name;
    const kc_value *value;
} kc__member;

typedef KC_VEC(kc__member) kc__member_list;

/* Appends the members of an object, sorted by name. The caller ends the list with kc_vec_done. */
void kc__members_sorted(const kc_value *object, kc__member_list *list);

#endif
