/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_unchanged.c: the precondition that a patch does not change certain members, such as
 * apiVersion, kind and metadata.name.
 */
#include "object/patch/patch_internal.h"

/* The node at a path of names joined by dots, or NULL. */
static const kc_node *node_at(const kc_node *node, kc_str path)
{
    while (node && path.p) {
        kc_str name = kc_str_cut(&path, '.');
        node = kc_node_get(node, name);
    }
    return node;
}

int kc__patch_check_unchanged(const kc_node *patch, const char *const *unchanged, kc_error *err)
{
    for (; unchanged && *unchanged; unchanged++) {
        if (!node_at(patch, kc_cstr(*unchanged)))
            continue;
        kc_scoped(kc_buf) text = {0};
        kc__go_text_node(&text, patch);
        return kc_error_set(err, KC_INVALID, "precondition failed for: %s", kc_buf_cstr(&text));
    }
    return 0;
}
