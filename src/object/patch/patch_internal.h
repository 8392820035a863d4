/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_internal.h: shared by the three kinds of patches: fast lookups in long containers of an
 * edit, and comparison of nodes with values.
 */
#ifndef KC_PATCH_INTERNAL_H
#define KC_PATCH_INTERNAL_H

#include "object/gofmt/go_text.h"
#include "object/model/node_fields.h"
#include "object/model/object_internal.h"
#include "object/model/value_members.h"

#include "kc/arena.h"
#include "kc/diff.h"
#include "kc/map.h"

/* A node as a value: a scalar has the same layout in both kinds of tree. */
static inline const kc_value *kc__patch_node_as_value(const kc_node *node)
{
    return (const kc_value *)(const void *)node;
}

/* Equal in value, as kc_value_equal; takes time proportional to the value, however large the node
 * is. (node_view.c) */
bool kc__patch_node_equals(const kc_node *node, const kc_value *value);
/* Copies a node into a view. The caller frees it. */
kc_view *kc__patch_node_view(const kc_node *node);

/*
 * The elements of an array of an edit: found, inserted and removed by position in about the square
 * root of its length. Positions must exist. (node_elements.c)
 */
typedef KC_VEC(kc_node *) kc__patch_node_vec;

typedef struct kc__patch_elements {
    kc_node *array;
    unsigned lookups;
    KC_VEC(kc__patch_node_vec) runs; /* Empty until indexed. */
} kc__patch_elements;

kc__patch_elements kc__patch_elements_of(kc_node *array);
kc_node *kc__patch_elements_at(kc__patch_elements *elements, size_t at);
void kc__patch_elements_insert(kc__patch_elements *elements, size_t at, kc_node *value);
void kc__patch_elements_remove(kc__patch_elements *elements, size_t at);
void kc__patch_elements_replace(kc__patch_elements *elements, size_t at, kc_node *value);
void kc__patch_elements_done(kc__patch_elements *elements);

/* Fails with KC_INVALID when the patch contains one of the members. May be NULL.
 * (patch_unchanged.c) */
int kc__patch_check_unchanged(const kc_node *patch, const char *const *unchanged, kc_error *err);

#endif
