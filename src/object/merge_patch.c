/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_patch.c: applying a JSON merge patch.
 *
 *     object   {"a": 1, "m": {"x": 1, "y": 2}}
 *     patch    {"a": null, "m": {"x": 3}, "new": {"k": null}}
 *     result   {"m": {"x": 3, "y": 2}, "new": {}}
 *
 * Objects are merged member by member; everything else of the patch takes the old value's place,
 * without the null members it may hold deeper down, which had nothing to remove.
 */
#include "object/patch_internal.h"

#include "kc/merge_patch.h"

/* Removes null members of objects, at any depth. */
static void drop_nulls(kc_node *node)
{
    kc_node_items (node, item)
        drop_nulls(item);
    if (kc_node_type(node) != KC_OBJECT)
        return;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(node);
    for (kc_node *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        if (kc_node_type(key->next) == KC_NULL)
            yyjson_mut_obj_iter_remove(&iter);
        else
            drop_nulls(key->next);
    }
}

static void merge(kc_edit *edit, kc_node *target, const kc_value *patch)
{
    kc__fields fields = kc__fields_of(edit, target);
    kc_members (patch, name, value) {
        kc_node *old = kc__fields_get(&fields, name);
        if (kc_type_of(value) == KC_NULL) {
            if (old)
                kc__fields_remove(&fields, name);
            continue;
        }
        if (kc_node_type(old) == KC_OBJECT && kc_type_of(value) == KC_OBJECT) {
            merge(edit, old, value);
            continue;
        }
        kc_node *new = kc_node_copy(edit, value);
        if (kc_node_type(old) != KC_OBJECT)
            drop_nulls(new);
        kc__fields_set(&fields, name, new);
    }
    kc__fields_done(&fields);
}

void kc_merge_patch_apply(kc_edit *edit, const kc_value *patch)
{
    if (!patch)
        return;
    if (kc_type_of(patch) != KC_OBJECT) {
        kc_node *root = kc_node_copy(edit, patch);
        drop_nulls(root);
        kc_edit_set_root(edit, root);
        return;
    }
    if (kc_node_type(kc_edit_root(edit)) != KC_OBJECT)
        kc_edit_set_root(edit, kc_node_object(edit));
    merge(edit, kc_edit_root(edit), patch);
}
