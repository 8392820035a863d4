/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unknown.c: finds the fields of a value that its schema does not know. One traversal either
 * answers "is there any", for writes that need no pruning, or lists paths, for strict decoding.
 *
 * A schema that preserves unknown fields keeps them, but known fields are still checked; below an
 * unknown field nothing is unknown. Where a value has no schema at all (below additionalProperties:
 * true, or items without a schema) every field of an object is unknown.
 */
#include "object/schema/schema_internal.h"

typedef struct schema_unknown_search {
    bool first_only;
    kc_paths *paths;
    size_t limit, found;
} schema_unknown_search;

static void schema_unknown_walk(schema_unknown_search *s, const kc_schema *schema,
                                yyjson_val *value, const kc__schema_path_frame *at,
                                bool spare_meta);

/* Kubernetes removes apiVersion, kind and metadata at the root of a fragment without a report. */
static bool is_reported(yyjson_val *key, const kc__schema_path_frame *at)
{
    return at || !kc__schema_is_meta(unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
}

static void found(schema_unknown_search *s, yyjson_val *key, const kc__schema_path_frame *at)
{
    s->found++;
    if (!s->paths || s->paths->n >= s->limit || !is_reported(key, at))
        return;
    kc__schema_path_frame here = {
        .parent = at, .name = unsafe_yyjson_get_str(key), .n = unsafe_yyjson_get_len(key)};
    kc_scoped(kc_buf) path = {0};
    kc__schema_path_write(&path, &here, KC__SCHEMA_PATH_PLAIN);
    kc_vec_push(s->paths, kc_buf_take(&path));
}

static bool is_done(const schema_unknown_search *s)
{
    return s->first_only && s->found;
}

static void walk_member(schema_unknown_search *s, const kc_schema *schema, yyjson_val *key,
                        const kc__schema_path_frame *at, bool keep_unknown)
{
    const char *name = unsafe_yyjson_get_str(key);
    size_t n = unsafe_yyjson_get_len(key);
    const kc__schema_property_row *row =
        schema->fields ? kc__schema_table_find(schema->fields, name, n) : NULL;
    bool property = row && row->schema;
    kc__schema_path_frame here = {.parent = at, .name = name, .n = n};
    if (property || schema->flags & KC__SCHEMA_ADDITIONAL)
        schema_unknown_walk(s, property ? row->schema : schema->additional, key + 1, &here, false);
    else if (!keep_unknown)
        found(s, key, at);
}

static void walk_object(schema_unknown_search *s, const kc_schema *schema, yyjson_val *object,
                        const kc__schema_path_frame *at, bool spare_meta)
{
    size_t n = yyjson_obj_size(object);
    yyjson_val *key = unsafe_yyjson_get_first(object);
    bool keep_unknown = schema && schema->flags & KC__SCHEMA_PRESERVE;
    spare_meta = spare_meta || (schema && schema->flags & KC__SCHEMA_EMBEDDED);
    for (size_t i = 0; i < n && !is_done(s); i++, key = unsafe_yyjson_get_next(key + 1)) {
        if (spare_meta &&
            kc__schema_is_meta(unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key)))
            continue;
        if (schema)
            walk_member(s, schema, key, at, keep_unknown);
        else
            found(s, key, at);
    }
}

/* Elements of a list that preserves unknown fields do so, too, unless they have a schema. */
static void walk_preserved(schema_unknown_search *s, const kc_schema *schema, yyjson_val *value,
                           const kc__schema_path_frame *at);

static void schema_unknown_walk_array(schema_unknown_search *s, const kc_schema *items,
                                      yyjson_val *array, const kc__schema_path_frame *at,
                                      bool preserved)
{
    size_t n = yyjson_arr_size(array);
    yyjson_val *item = unsafe_yyjson_get_first(array);
    kc__schema_path_frame here = {.parent = at, .step = KC__SCHEMA_STEP_INDEX};
    for (size_t i = 0; i < n && !is_done(s); i++, item = unsafe_yyjson_get_next(item)) {
        here.n = i;
        if (preserved)
            walk_preserved(s, items, item, &here);
        else
            schema_unknown_walk(s, items, item, &here, false);
    }
}

static void walk_preserved(schema_unknown_search *s, const kc_schema *schema, yyjson_val *value,
                           const kc__schema_path_frame *at)
{
    kc_schema keeping;
    if (!schema)
        return;
    if (yyjson_is_arr(value)) {
        schema_unknown_walk_array(s, schema->items, value, at, true);
    } else if (yyjson_is_obj(value)) {
        keeping = *schema;
        keeping.flags |= KC__SCHEMA_PRESERVE;
        walk_object(s, &keeping, value, at, false);
    }
}

static void schema_unknown_walk(schema_unknown_search *s, const kc_schema *schema,
                                yyjson_val *value, const kc__schema_path_frame *at, bool spare_meta)
{
    if (yyjson_is_obj(value))
        walk_object(s, schema, value, at, spare_meta);
    else if (yyjson_is_arr(value))
        schema_unknown_walk_array(s, schema ? schema->items : NULL, value, at,
                                  schema && schema->flags & KC__SCHEMA_PRESERVE);
}

size_t kc__schema_count_unknown(const kc_schema *schema, const kc_value *value, bool spare_meta,
                                bool first_only, kc_paths *paths, size_t limit)
{
    schema_unknown_search s = {.first_only = first_only, .paths = paths, .limit = limit};
    if (value)
        schema_unknown_walk(&s, schema, (yyjson_val *)value, NULL, spare_meta);
    return s.found;
}

static int schema_unknown_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void kc__schema_sort_paths(kc_paths *paths, size_t first)
{
    if (paths->n > first)
        qsort(paths->items + first, paths->n - first, sizeof(*paths->items),
              schema_unknown_by_text);
}

size_t kc_schema_unknown(const kc_schema *schema, const kc_value *value,
                         const kc_schema_unknown_opts *opts, kc_paths *paths)
{
    size_t limit = opts && opts->limit ? opts->limit : 100, before = paths->n;
    size_t n = kc__schema_count_unknown(schema, value, !opts || !opts->fragment, false, paths,
                                        before + limit);
    if (!opts || !opts->in_order)
        kc__schema_sort_paths(paths, before);
    return n;
}
