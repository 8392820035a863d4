/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_value.c: the value of an edit's tree, without metadata.managedFields.
 *
 * A write whose object is still a tree needs its fields, not its text. The copy is a fraction of
 * the cost of writing and parsing the text.
 */
#include "object/fields/fields_managed.h"
#include "object/model/edit_value.h"
#include "object/model/object_internal.h"

const kc_value *kc__fields_value_of_tree(kc_arena *arena, const kc_node *root)
{
    kc_node *metadata = kc_node_get(root, KC_STR("metadata"));
    const kc_node *skipped = kc_node_type(metadata) == KC_JSON_OBJECT
                                 ? kc__node_find_key(metadata, KC_STR("managedFields"))
                                 : NULL;
    kc_value *cells = kc_arena_alloc(arena, kc__node_measure(root).cells * sizeof(kc_value));
    kc__node_copy(cells, root, skipped);
    return cells;
}
