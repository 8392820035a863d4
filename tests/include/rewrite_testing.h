/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite_testing.h: compares kc__schema_rewrite with the functions on trees whose work it does:
 * the text of the object, its parts, the cells of its view, the unknown fields and the error.
 */
#ifndef KC_REWRITE_TESTING_H
#define KC_REWRITE_TESTING_H

#include "object/model/object_internal.h"
#include "object/schema/schema_rewrite.h"

#include <stdio.h>

/* The object after the same steps, each of them applied to a tree. */
static inline kc_object *rewritten_as_tree(const kc_schema *schema, const kc_object *object,
                                           const kc__schema_rewrite_opts *steps, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_auto(kc_edit) *edit = kc_edit_of_value(kc_view_root(view));
    if (steps->unknown)
        kc_schema_unknown(schema, kc_view_root(view), NULL, steps->unknown);
    if (steps->prunes)
        kc_schema_prune(schema, edit, NULL);
    if (steps->drops_nulls)
        kc_schema_drop_nulls(schema, edit);
    if (steps->defaults && kc_schema_default(schema, edit, steps->budget, err) < 0)
        return NULL;
    return kc_edit_freeze(edit, err);
}

static inline bool cells_agree(const kc_value *a, const kc_value *b)
{
    const uint64_t kind = ~(uint64_t)YYJSON_SUBTYPE_NOESC;
    const size_t n = kc_value_count(a);
    if (n != kc_value_count(b))
        return false;
    for (size_t i = 0; i < n; i++) {
        const bool string = (a[i].tag & YYJSON_TYPE_MASK) == YYJSON_TYPE_STR;
        if (string ? (a[i].tag & kind) != (b[i].tag & kind) : a[i].tag != b[i].tag)
            return false;
        const size_t len = (size_t)(a[i].tag >> YYJSON_TAG_BIT);
        if (string
                ? memcmp(a[i].uni.str, b[i].uni.str, len + 1) != 0
                : (a[i].tag & YYJSON_TYPE_MASK) > YYJSON_TYPE_BOOL && a[i].uni.u64 != b[i].uni.u64)
            return false;
    }
    return true;
}

static inline bool parts_agree(const kc_object *a, const kc_object *b)
{
    kc__object_span in_a[KC__N_PARTS], in_b[KC__N_PARTS];
    kc__object_parts_unpack(a, in_a);
    kc__object_parts_unpack(b, in_b);
    return a->has == b->has && memcmp(in_a, in_b, sizeof(in_a)) == 0;
}

static inline bool paths_agree(const kc_paths *a, const kc_paths *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

/* NULL if both agree; otherwise what differs. The caller frees it. */
static inline char *rewrite_difference(const kc_schema *schema, const kc_object *object,
                                       const kc__schema_rewrite_opts *steps)
{
    kc_scoped(kc_error) err = {0}, tree_err = {0};
    kc_scoped(kc_paths) unknown = {0}, tree_unknown = {0};
    kc__schema_rewrite_opts own = *steps, tree = *steps;
    own.unknown = steps->prunes ? &unknown : NULL;
    tree.unknown = steps->prunes ? &tree_unknown : NULL;
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_auto(kc_object) *expected = rewritten_as_tree(schema, object, &tree, &tree_err);
    kc_auto(kc_object) *result = kc__schema_rewrite(schema, object, &view, &own, &err);
    if (!expected || !result)
        return !expected && !result && !strcmp(kc_error_text(&err), kc_error_text(&tree_err))
                   ? NULL
                   : kc_asprintf("error '%s' instead of '%s'", kc_error_text(&err),
                                 kc_error_text(&tree_err));
    if (!kc_str_eq(kc_object_json(result), kc_object_json(expected)))
        return kc_asprintf("%.*s instead of %.*s", KC_ARG(kc_object_json(result)),
                           KC_ARG(kc_object_json(expected)));
    kc_auto(kc_view) *parsed = kc_view_of(result);
    if (!cells_agree(kc_view_root(view), kc_view_root(parsed)))
        return kc_asprintf("view of %.*s", KC_ARG(kc_object_json(result)));
    if (!parts_agree(result, expected))
        return kc_asprintf("parts of %.*s", KC_ARG(kc_object_json(result)));
    return paths_agree(&unknown, &tree_unknown) ? NULL : kc_strdup("unknown fields");
}

/* The same for all combinations of steps. */
static inline char *any_rewrite_difference(const kc_schema *schema, const kc_object *object,
                                           const kc_schema_default_opts *budget)
{
    for (unsigned bits = 0; bits < 8; bits++) {
        const kc__schema_rewrite_opts steps = {
            .prunes = bits & 1, .drops_nulls = bits & 2, .defaults = bits & 4, .budget = budget};
        char *difference = rewrite_difference(schema, object, &steps);
        if (difference)
            return difference;
    }
    return NULL;
}

#endif
