/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_fields.h: many lookups and changes of members of one object of an edit, by name.
 *
 *     kc_scoped(kc__node_fields) requests = kc__node_fields_of(edit, object);
 *     kc_node_each_member (limits, name, value)
 *         if (!kc__node_fields_get(&requests, name))
 *             kc__node_fields_set(&requests, name, kc_node_clone(edit, value));
 *
 * kc_node_get and kc_node_remove scan the members, so a loop with them takes n² steps, and a client
 * can send 100,000 members. value_members.h is the counterpart for views.
 */
#ifndef KC_NODE_FIELDS_H
#define KC_NODE_FIELDS_H

#include "kc/arena.h"
#include "kc/edit.h"
#include "kc/map.h"

/* Containers up to this length are scanned; longer ones are indexed after KC__NODE_INDEX_AFTER
 * lookups. */
enum { KC__NODE_SHORT_OBJECT = 32, KC__NODE_INDEX_AFTER = 8 };

typedef struct kc__node_field kc__node_field;

/*
 * Each operation takes constant time once the object is indexed. The object is always up to date;
 * no other code may change its members meanwhile (but their contents).
 */
typedef struct kc__node_fields {
    kc_edit *edit;
    kc_node *object;
    unsigned lookups;
    bool indexed;
    kc_map names;         /* To kc__node_field. */
    kc__node_field *last; /* An element of the ring. */
    kc_arena arena;       /* Of the kc__node_fields. */
} kc__node_fields;

kc__node_fields kc__node_fields_of(kc_edit *edit, kc_node *object);
kc_node *kc__node_fields_get(kc__node_fields *fields, kc_str name);
/* Replaces the member at its position, or appends it. */
void kc__node_fields_set(kc__node_fields *fields, kc_str name, kc_node *value);
bool kc__node_fields_remove(kc__node_fields *fields, kc_str name);
void kc__node_fields_done(kc__node_fields *fields);

#endif
