/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_unknown.c: which fields of a value its schema does not know. The same walk answers "is
 * there any", for writes that need no pruning, and lists paths, for strict decoding.
 *
 * A schema that preserves unknown fields keeps what it does not know, but goes on into what it
 * does; below fields it does not know nothing is unknown. Where a value has no schema at all (below
 * additionalProperties: true, or items that are not specified) every field of an object is unknown.
 */
#include "object/schema_internal.h"

typedef struct search {
    bool first_only;
    kc_paths *paths;
    size_t limit, found;
} search;

static void walk(search *s, const kc_schema *schema, yyjson_val *value, const kc__frame *at,
                 bool spare_meta);

/* Kubernetes removes apiVersion, kind and metadata of a part's root without a word. */
static bool is_reported(yyjson_val *key, const kc__frame *at)
{
    return at || !kc__is_meta(unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
}

static void found(search *s, yyjson_val *key, const kc__frame *at)
{
    s->found++;
    if (!s->paths || s->paths->n >= s->limit || !is_reported(key, at))
        return;
    kc__frame here = {
        .parent = at, .name = unsafe_yyjson_get_str(key), .n = unsafe_yyjson_get_len(key)};
    kc_scoped(kc_buf) path = {0};
    kc__path_write(&path, &here, KC__PATH_PLAIN);
    kc_vec_push(s->paths, kc_buf_take(&path));
}

static bool is_done(const search *s)
{
    return s->first_only && s->found;
}

static void walk_member(search *s, const kc_schema *schema, yyjson_val *key, const kc__frame *at,
                        bool keep_unknown)
{
    const char *name = unsafe_yyjson_get_str(key);
    size_t n = unsafe_yyjson_get_len(key);
    const kc__row *row = schema->fields ? kc__table_find(schema->fields, name, n) : NULL;
    bool property = row && row->schema;
    kc__frame here = {.parent = at, .name = name, .n = n};
    if (property || schema->flags & KC__ADDITIONAL)
        walk(s, property ? row->schema : schema->additional, key + 1, &here, false);
    else if (!keep_unknown)
        found(s, key, at);
}

static void walk_object(search *s, const kc_schema *schema, yyjson_val *object, const kc__frame *at,
                        bool spare_meta)
{
    size_t n = yyjson_obj_size(object);
    yyjson_val *key = unsafe_yyjson_get_first(object);
    bool keep_unknown = schema && schema->flags & KC__PRESERVE;
    spare_meta = spare_meta || (schema && schema->flags & KC__EMBEDDED);
    for (size_t i = 0; i < n && !is_done(s); i++, key = unsafe_yyjson_get_next(key + 1)) {
        if (spare_meta && kc__is_meta(unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key)))
            continue;
        if (schema)
            walk_member(s, schema, key, at, keep_unknown);
        else
            found(s, key, at);
    }
}

/* Elements of a list that preserves are preserved as well, unless they know better. */
static void walk_preserved(search *s, const kc_schema *schema, yyjson_val *value,
                           const kc__frame *at);

static void walk_array(search *s, const kc_schema *items, yyjson_val *array, const kc__frame *at,
                       bool preserved)
{
    size_t n = yyjson_arr_size(array);
    yyjson_val *item = unsafe_yyjson_get_first(array);
    kc__frame here = {.parent = at, .step = KC__STEP_INDEX};
    for (size_t i = 0; i < n && !is_done(s); i++, item = unsafe_yyjson_get_next(item)) {
        here.n = i;
        if (preserved)
            walk_preserved(s, items, item, &here);
        else
            walk(s, items, item, &here, false);
    }
}

static void walk_preserved(search *s, const kc_schema *schema, yyjson_val *value,
                           const kc__frame *at)
{
    kc_schema keeping;
    if (!schema)
        return;
    if (yyjson_is_arr(value)) {
        walk_array(s, schema->items, value, at, true);
    } else if (yyjson_is_obj(value)) {
        keeping = *schema;
        keeping.flags |= KC__PRESERVE;
        walk_object(s, &keeping, value, at, false);
    }
}

static void walk(search *s, const kc_schema *schema, yyjson_val *value, const kc__frame *at,
                 bool spare_meta)
{
    if (yyjson_is_obj(value))
        walk_object(s, schema, value, at, spare_meta);
    else if (yyjson_is_arr(value))
        walk_array(s, schema ? schema->items : NULL, value, at,
                   schema && schema->flags & KC__PRESERVE);
}

size_t kc__count_unknown(const kc_schema *schema, const kc_value *value, bool spare_meta,
                         bool first_only, kc_paths *paths, size_t limit)
{
    search s = {.first_only = first_only, .paths = paths, .limit = limit};
    if (value)
        walk(&s, schema, (yyjson_val *)value, NULL, spare_meta);
    return s.found;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t kc_schema_unknown(const kc_schema *schema, const kc_value *value,
                         const kc_schema_unknown_opts *opts, kc_paths *paths)
{
    size_t limit = opts && opts->limit ? opts->limit : 100, before = paths->n;
    size_t n =
        kc__count_unknown(schema, value, !opts || !opts->fragment, false, paths, before + limit);
    if ((!opts || !opts->in_order) && paths->n > before)
        qsort(paths->items + before, paths->n - before, sizeof(*paths->items), by_text);
    return n;
}
