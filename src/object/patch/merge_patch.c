/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_patch.c: applies a JSON merge patch.
 *
 *     object   {"a": 1, "m": {"x": 1, "y": 2}}
 *     patch    {"a": null, "m": {"x": 3}, "new": {"k": null}}
 *     result   {"m": {"x": 3, "y": 2}, "new": {}}
 *
 * Objects are merged member by member. Any other value of the patch replaces the old value, without
 * null members at deeper levels, which have nothing to remove.
 */
#include "object/patch/patch_internal.h"

#include "kc/merge_patch.h"

/* Removes null members of objects, at any depth. */
static void drop_nulls(kc_node *node)
{
    kc_node_each_item (node, item)
        drop_nulls(item);
    if (kc_node_type(node) != KC_JSON_OBJECT)
        return;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(node);
    for (kc_node *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        if (kc_node_type(key->next) == KC_JSON_NULL)
            yyjson_mut_obj_iter_remove(&iter);
        else
            drop_nulls(key->next);
    }
}

static void merge(kc_edit *edit, kc_node *target, const kc_value *patch)
{
    kc__node_fields fields = kc__node_fields_of(edit, target);
    kc_value_each_member (patch, name, value) {
        kc_node *old = kc__node_fields_get(&fields, name);
        if (kc_value_type(value) == KC_JSON_NULL) {
            if (old)
                kc__node_fields_remove(&fields, name);
            continue;
        }
        if (kc_node_type(old) == KC_JSON_OBJECT && kc_value_type(value) == KC_JSON_OBJECT) {
            merge(edit, old, value);
            continue;
        }
        kc_node *new = kc_node_from_value(edit, value);
        if (kc_node_type(old) != KC_JSON_OBJECT)
            drop_nulls(new);
        kc__node_fields_set(&fields, name, new);
    }
    kc__node_fields_done(&fields);
}

void kc_merge_patch_apply(kc_edit *edit, const kc_value *patch)
{
    if (!patch)
        return;
    if (kc_value_type(patch) != KC_JSON_OBJECT) {
        kc_node *root = kc_node_from_value(edit, patch);
        drop_nulls(root);
        kc_edit_set_root(edit, root);
        return;
    }
    if (kc_node_type(kc_edit_root(edit)) != KC_JSON_OBJECT)
        kc_edit_set_root(edit, kc_node_object(edit));
    merge(edit, kc_edit_root(edit), patch);
}
