/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune.c: removes unknown fields, and nulls that the schema does not allow, from an edit. The
 * rules are those of unknown.c, which reports what would be removed without an edit.
 *
 * Members are removed during one iteration: kc_node_remove would search for each.
 */
#include "object/schema/schema_internal.h"

static bool prune_member(const kc_schema *schema, const char *name, size_t n, kc_node *value)
{
    const kc__schema_property_row *row =
        schema->fields ? kc__schema_table_find(schema->fields, name, n) : NULL;
    bool property = row && row->schema;
    if (!property && !(schema->flags & KC__SCHEMA_ADDITIONAL))
        return schema->flags & KC__SCHEMA_PRESERVE;
    kc__schema_prune_node(property ? row->schema : schema->additional, value, false);
    return true;
}

static void prune_object(const kc_schema *schema, kc_node *object, bool spare_meta)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    spare_meta = spare_meta || (schema && schema->flags & KC__SCHEMA_EMBEDDED);
    for (kc_node *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        size_t n = yyjson_mut_get_len(key);
        if (spare_meta && kc__schema_is_meta(name, n))
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
    keeping.flags |= KC__SCHEMA_PRESERVE;
    if (yyjson_mut_is_arr(node)) {
        kc_node_each_item (node, item)
            prune_preserved(schema->items, item);
    } else if (yyjson_mut_is_obj(node)) {
        prune_object(&keeping, node, false);
    }
}

void kc__schema_prune_node(const kc_schema *schema, kc_node *node, bool spare_meta)
{
    if (yyjson_mut_is_obj(node))
        prune_object(schema, node, spare_meta);
    if (!yyjson_mut_is_arr(node))
        return;
    if (schema && schema->flags & KC__SCHEMA_PRESERVE) {
        prune_preserved(schema, node);
        return;
    }
    kc_node_each_item (node, item)
        kc__schema_prune_node(schema ? schema->items : NULL, item, false);
}

void kc_schema_prune(const kc_schema *schema, kc_edit *edit, const kc_schema_walk_opts *opts)
{
    bool whole = !opts || !opts->fragment;
    static const kc_schema nothing;
    kc__schema_prune_node(schema ? schema : &nothing, kc_edit_root(edit), whole);
}

bool kc_schema_would_prune(const kc_schema *schema, const kc_value *value,
                           const kc_schema_walk_opts *opts)
{
    return kc__schema_count_unknown(schema, value, !opts || !opts->fragment, true, NULL, 0) > 0;
}

/* ---- nulls ---- */

static bool is_unset(const kc_schema *schema, bool is_null)
{
    return is_null && schema && !(schema->flags & KC__SCHEMA_NULLABLE) &&
           !kc__schema_default_node(schema);
}

static void drop_nulls(const kc_schema *schema, kc_node *node)
{
    if (!schema)
        return;
    kc_node_each_item (node, item)
        drop_nulls(schema->items, item);
    if (!yyjson_mut_is_obj(node))
        return;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(node);
    for (kc_node *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        kc_node *value = yyjson_mut_obj_iter_get_val(key);
        const kc_schema *member =
            kc__schema_member_schema(schema, yyjson_mut_get_str(key), yyjson_mut_get_len(key));
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
    uint8_t bits = kc__schema_bits_of(key + 1);
    if (!(bits & (KC__SCHEMA_NULL | KC__SCHEMA_ARRAY | KC__SCHEMA_OBJECT)))
        return false;
    const kc_schema *member =
        kc__schema_member_schema(schema, unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
    return is_unset(member, bits == KC__SCHEMA_NULL) || kc_schema_would_drop_nulls(member, key + 1);
}

bool kc_schema_would_drop_nulls(const kc_schema *schema, const kc_value *value)
{
    if (!schema)
        return false;
    kc_value_each_item (value, item)
        if (kc_schema_would_drop_nulls(schema->items, item))
            return true;
    if (kc_value_type(value) != KC_JSON_OBJECT)
        return false;
    yyjson_val *key = unsafe_yyjson_get_first((yyjson_val *)value);
    for (size_t n = kc_value_len(value); n; n--, key = unsafe_yyjson_get_next(key + 1))
        if (would_drop_member(schema, key))
            return true;
    return false;
}
