/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_prune.c: removing what a schema does not know, and nulls it does not allow, from an edit.
 * The rules are those of schema_unknown.c, which says what would be removed without an edit.
 *
 * Members are removed while walking over them, in one pass: kc_node_remove would search for each.
 */
#include "object/schema_internal.h"

static bool prune_member(const kc_schema *schema, const char *name, size_t n, kc_node *value)
{
    const kc__row *row = schema->fields ? kc__table_find(schema->fields, name, n) : NULL;
    bool property = row && row->schema;
    if (!property && !(schema->flags & KC__ADDITIONAL))
        return schema->flags & KC__PRESERVE;
    kc__prune_node(property ? row->schema : schema->additional, value, false);
    return true;
}

static void prune_object(const kc_schema *schema, kc_node *object, bool spare_meta)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    spare_meta = spare_meta || (schema && schema->flags & KC__EMBEDDED);
    for (kc_node *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        size_t n = yyjson_mut_get_len(key);
        if (spare_meta && kc__is_meta(name, n))
            continue;
        if (!schema || !prune_member(schema, name, n, yyjson_mut_obj_iter_get_val(key)))
            yyjson_mut_obj_iter_remove(&iter);
    }
}

static void prune_preserved(const kc_schema *schema, kc_node *node)
{
    if (!schema)
        return;
    kc_schema keeping = *schema;
    keeping.flags |= KC__PRESERVE;
    if (yyjson_mut_is_arr(node)) {
        kc_node_items (node, item)
            prune_preserved(schema->items, item);
    } else if (yyjson_mut_is_obj(node)) {
        prune_object(&keeping, node, false);
    }
}

void kc__prune_node(const kc_schema *schema, kc_node *node, bool spare_meta)
{
    if (yyjson_mut_is_obj(node))
        prune_object(schema, node, spare_meta);
    if (!yyjson_mut_is_arr(node))
        return;
    if (schema && schema->flags & KC__PRESERVE) {
        prune_preserved(schema, node);
        return;
    }
    kc_node_items (node, item)
        kc__prune_node(schema ? schema->items : NULL, item, false);
}

void kc_schema_prune(const kc_schema *schema, kc_edit *edit, const kc_schema_walk_opts *opts)
{
    bool whole = !opts || !opts->fragment;
    static const kc_schema nothing;
    kc__prune_node(schema ? schema : &nothing, kc_edit_root(edit), whole);
}

bool kc_schema_would_prune(const kc_schema *schema, const kc_value *value,
                           const kc_schema_walk_opts *opts)
{
    return kc__count_unknown(schema, value, !opts || !opts->fragment, true, NULL, 0) > 0;
}

/* ---- Nulls ---- */

static bool is_unset(const kc_schema *schema, bool is_null)
{
    return is_null && schema && !(schema->flags & KC__NULLABLE) && !kc__default_of(schema);
}

static void drop_nulls(const kc_schema *schema, kc_node *node)
{
    if (!schema)
        return;
    kc_node_items (node, item)
        drop_nulls(schema->items, item);
    if (!yyjson_mut_is_obj(node))
        return;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(node);
    for (kc_node *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        kc_node *value = yyjson_mut_obj_iter_get_val(key);
        const kc_schema *member =
            kc__member_schema(schema, yyjson_mut_get_str(key), yyjson_mut_get_len(key));
        if (is_unset(member, yyjson_mut_is_null(value)))
            yyjson_mut_obj_iter_remove(&iter);
        else
            drop_nulls(member, value);
    }
}

void kc_schema_drop_nulls(const kc_schema *schema, kc_edit *edit)
{
    drop_nulls(schema, kc_edit_root(edit));
}

static bool would_drop_member(const kc_schema *schema, yyjson_val *key)
{
    uint8_t bits = kc__bits_of(key + 1);
    if (!(bits & (KC__NULL | KC__ARRAY | KC__OBJECT)))
        return false;
    const kc_schema *member =
        kc__member_schema(schema, unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
    return is_unset(member, bits == KC__NULL) || kc_schema_would_drop_nulls(member, key + 1);
}

bool kc_schema_would_drop_nulls(const kc_schema *schema, const kc_value *value)
{
    if (!schema)
        return false;
    kc_items (value, item)
        if (kc_schema_would_drop_nulls(schema->items, item))
            return true;
    if (kc_type_of(value) != KC_OBJECT)
        return false;
    yyjson_val *key = unsafe_yyjson_get_first((yyjson_val *)value);
    for (size_t n = kc_len(value); n; n--, key = unsafe_yyjson_get_next(key + 1))
        if (would_drop_member(schema, key))
            return true;
    return false;
}
