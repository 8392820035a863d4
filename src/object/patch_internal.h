/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_internal.h: what the three kinds of patches share: members and elements found fast in long
 * containers of an edit, and nodes compared with values.
 */
#ifndef KC_PATCH_INTERNAL_H
#define KC_PATCH_INTERNAL_H

#include "object/go_text.h"
#include "object/members.h"
#include "object/object_internal.h"

#include "kc/arena.h"
#include "kc/diff.h"
#include "kc/map.h"

/* Containers up to this length are walked; longer ones are indexed once they have been asked
 * KC__ASKED_OFTEN times. */
enum { KC__SHORT = 32, KC__ASKED_OFTEN = 8 };

/* A node as a value: a scalar looks the same in both kinds of tree. */
static inline const kc_value *kc__scalar(const kc_node *node)
{
    return (const kc_value *)(const void *)node;
}

/* Equal in value, as kc_value_equal says; takes time in proportion to the value, however large the
 * node is. (node_view.c) */
bool kc__same_node(const kc_node *node, const kc_value *value);
/* A node as a view of its own. The caller frees it. */
kc_view *kc__view_of_node(const kc_node *node);

/*
 * The members of an object of an edit, by name: found, set and removed in constant time once the
 * object is indexed. The ring of the object is kept up to date, and nobody else may change its
 * members meanwhile (their insides may change). (node_fields.c)
 */
typedef struct kc__field kc__field;

typedef struct kc__fields {
    kc_edit *edit;
    kc_node *object;
    unsigned asked;
    bool indexed;
    kc_map names;    /* To kc__field. */
    kc__field *last; /* Member of the ring. */
    kc_arena arena;  /* Of the kc__fields. */
} kc__fields;

kc__fields kc__fields_of(kc_edit *edit, kc_node *object);
kc_node *kc__fields_get(kc__fields *fields, kc_str name);
/* In its place, or at the end. */
void kc__fields_set(kc__fields *fields, kc_str name, kc_node *value);
bool kc__fields_remove(kc__fields *fields, kc_str name);
void kc__fields_done(kc__fields *fields);

/*
 * The same for an array of an edit: found, inserted and removed by position in about the square
 * root of its length. Positions must exist. (node_elements.c)
 */
typedef KC_VEC(kc_node *) kc__nodes;

typedef struct kc__elements {
    kc_node *array;
    unsigned asked;
    KC_VEC(kc__nodes) runs; /* Empty until indexed. */
} kc__elements;

kc__elements kc__elements_of(kc_node *array);
kc_node *kc__elements_at(kc__elements *elements, size_t at);
void kc__elements_insert(kc__elements *elements, size_t at, kc_node *value);
void kc__elements_remove(kc__elements *elements, size_t at);
void kc__elements_replace(kc__elements *elements, size_t at, kc_node *value);
void kc__elements_done(kc__elements *elements);

/* Fails with KC_INVALID when the patch mentions one of the members. May be NULL.
 * (patch_unchanged.c) */
int kc__check_unchanged(const kc_node *patch, const char *const *unchanged, kc_error *err);

#endif
