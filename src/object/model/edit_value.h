/* SPDX-License-Identifier: Apache-2.0 */
/* edit_value.h: the tree of an edit as a value, and as an object together with its view. */
#ifndef KC_OBJECT_MODEL_EDIT_VALUE_H
#define KC_OBJECT_MODEL_EDIT_VALUE_H

#include "kc/edit.h"
#include "kc/object.h"
#include "kc/view.h"

/* The size of a tree as a value. */
typedef struct kc__node_extent {
    size_t cells;
    unsigned depth; /* Of nested containers. */
} kc__node_extent;

kc__node_extent kc__node_measure(const kc_node *node);

/* Canonical text has no fraction for a whole number (json.h), so a parser makes an integer of it:
 * so does this function, of one cell. */
void kc__value_settle_number(kc_value *cell);

/*
 * Copies a tree to `cells`, which has room for all of it. The value is what a parser would make of
 * the canonical text, but its strings are those of the tree. `skipped` is the key of a member that
 * the value does not get; NULL: none.
 */
void kc__node_copy(kc_value *cells, const kc_node *node, const kc_node *skipped);

/*
 * Freezes an edit whose objects have no duplicate members, and returns a view of the object, too:
 * that costs less than freezing it and parsing the result. Takes over the edit, also if it fails.
 */
kc_object *kc__object_finish_edit(kc_edit *edit, kc_view **ret_view, kc_error *err);

#endif
