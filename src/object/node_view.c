/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_view.c: a node of an edit as a view, and compared with a value. Equality is defined on views
 * (equal.c); a node becomes one by a copy, which is made only when the sizes agree, so that
 * comparing a small value with a large node stays cheap.
 */
#include "object/patch_internal.h"

kc_view *kc__view_of_node(const kc_node *node)
{
    kc_view *view = kc_new(kc_view);
    view->doc = yyjson_mut_val_imut_copy((yyjson_mut_val *)node, NULL);
    if (!view->doc)
        abort();
    return view;
}

/* Takes a node and all below it off `left`; false when they are more. */
static bool count_down(const kc_node *node, size_t *left)
{
    if (!*left)
        return false;
    --*left;
    kc_node_items (node, item)
        if (!count_down(item, left))
            return false;
    kc_node_members (node, name, value) {
        (void)name;
        if (!*left || (--*left, !count_down(value, left)))
            return false;
    }
    return true;
}

bool kc__same_node(const kc_node *node, const kc_value *value)
{
    kc_type type = kc_node_type(node);
    if (type != KC_ARRAY && type != KC_OBJECT)
        return kc_type_of(value) != KC_ARRAY && kc_type_of(value) != KC_OBJECT &&
               kc_value_equal(kc__scalar(node), value, NULL);
    if (type != kc_type_of(value))
        return false;
    /* A document keeps a container and what is in it side by side. */
    size_t left = (size_t)(unsafe_yyjson_get_next((yyjson_val *)value) - value);
    if (!count_down(node, &left) || left)
        return false;
    kc_auto(kc_view) *view = kc__view_of_node(node);
    return kc_value_equal(kc_view_root(view), value, NULL);
}
