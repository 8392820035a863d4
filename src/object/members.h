/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h: looking up many members of one object, for walking two objects side by side.
 *
 *     kc_scoped(kc__members) in_b = {.object = b};
 *     kc_members (a, name, value)
 *         compare(value, kc__members_find(&in_b, name));
 *
 * Two objects that are compared mostly have the same members in the same order, so the next member
 * is tried first. Then a short object is searched, and of a long one a map is made: all look-ups
 * together cost no more than a walk over it.
 */
#ifndef KC_MEMBERS_H
#define KC_MEMBERS_H

#include "kc/map.h"
#include "kc/view.h"

/* Zeroed but for the object, which may be NULL or of another type: then it has no members. */
typedef struct kc__members {
    const kc_value *object;
    bool started;
    kc_iter next; /* The member behind the one found last. */
    kc_map map;   /* Of all members; empty until it is needed. */
} kc__members;

/* The value, or NULL. */
const kc_value *kc__members_find(kc__members *members, kc_str name);
void kc__members_done(kc__members *members);

#endif
