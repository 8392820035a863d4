/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_view.c: converts a node of an edit to a view, and compares it with a value. Equality is
 * defined on views (equal.c). Converting copies the node, so it happens only if the sizes agree:
 * comparing a small value with a large node stays cheap.
 */
#include "object/patch/patch_internal.h"

kc_view *kc__patch_node_view(const kc_node *node)
{
    kc_view *view = kc_new(kc_view);
    view->doc = yyjson_mut_val_imut_copy((yyjson_mut_val *)node, NULL);
    if (!view->doc)
        abort();
    return view;
}

/* Subtracts the number of nodes in a tree from `left`; false when there are more. */
static bool count_down(const kc_node *node, size_t *left)
{
    if (!*left)
        return false;
    --*left;
    kc_node_each_item (node, item)
        if (!count_down(item, left))
            return false;
    kc_node_each_member (node, name, value) {
        (void)name;
        if (!*left || (--*left, !count_down(value, left)))
            return false;
    }
    return true;
}

bool kc__patch_node_equals(const kc_node *node, const kc_value *value)
{
    kc_json_type type = kc_node_type(node);
    if (type != KC_JSON_ARRAY && type != KC_JSON_OBJECT)
        return kc_value_type(value) != KC_JSON_ARRAY && kc_value_type(value) != KC_JSON_OBJECT &&
               kc_value_equal(kc__patch_node_as_value(node), value, NULL);
    if (type != kc_value_type(value))
        return false;
    /* A document stores a container and its content contiguously. */
    size_t left = (size_t)(unsafe_yyjson_get_next((yyjson_val *)value) - value);
    if (!count_down(node, &left) || left)
        return false;
    kc_auto(kc_view) *view = kc__patch_node_view(node);
    return kc_value_equal(kc_view_root(view), value, NULL);
}
