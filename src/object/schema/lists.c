/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lists.c: lists of type set have no duplicate element, lists of type map no duplicate key. The
 * error is at the second of two equal elements; a third is not reported again.
 *
 * A map's key may consist of several fields. The key of an element is then an object of the fields
 * it has, compared as text.
 */
#include "object/schema/schema_internal.h"

#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"

enum { FEW = 16 };

typedef struct schema_lists_lists {
    const char *base;
    kc_field_errors *errors;
    bool ok;
} schema_lists_lists;

static void schema_lists_walk(schema_lists_lists *l, const kc_schema *schema, const kc_value *value,
                              const kc__schema_path_frame *at);

static void schema_lists_report(schema_lists_lists *l, kc_field_error_type type,
                                const kc__schema_path_frame *list, size_t index, kc_str value,
                                const char *detail)
{
    kc__schema_path_frame here = {.parent = list, .n = index, .step = KC__SCHEMA_STEP_INDEX};
    kc_scoped(kc_buf) path = {0};
    l->ok = false;
    if (l->base)
        kc_buf_printf(&path, "%s.", l->base);
    kc__schema_path_write(&path, &here, KC__SCHEMA_PATH_FIELD);
    kc_field_errors_add(l->errors, type, kc_buf_cstr(&path), value, "%s", detail);
}

/* Arrays for n keys: on the caller's stack if they are few. */
typedef struct keys {
    size_t n;
    const kc_value **list;
    size_t *repeated;
    const kc_value *few[FEW];
    size_t few_repeated[FEW];
} keys;

static void keys_init(keys *k, size_t n)
{
    k->n = n;
    k->list = n > FEW ? kc_calloc(n, sizeof(*k->list)) : k->few;
    k->repeated = n > FEW ? kc_calloc(n, sizeof(*k->repeated)) : k->few_repeated;
}

static void keys_done(keys *k)
{
    if (k->list != k->few)
        free(k->list);
    if (k->repeated != k->few_repeated)
        free(k->repeated);
}

static void check_set(schema_lists_lists *l, const kc_value *array, const kc__schema_path_frame *at)
{
    kc_scoped(keys) k;
    size_t i = 0;
    keys_init(&k, kc_value_len(array));
    kc_value_each_item (array, item)
        k.list[i++] = item;
    size_t n = kc__schema_find_repeated(k.list, k.n, k.repeated);
    for (size_t j = 0; j < n; j++) {
        kc_scoped(kc_buf) text = {0};
        kc__go_value(&text, k.list[k.repeated[j]]);
        schema_lists_report(l, KC_FIELD_DUPLICATE, at, k.repeated[j], kc_buf_str(&text), "");
    }
}

/* {"side":"left"}; {} when the key is absent. */
static void show_key(kc_buf *out, kc_str name, const kc_value *key)
{
    kc_scoped(kc_buf) quoted = {0};
    if (!key) {
        kc_buf_puts(out, "{}");
        return;
    }
    kc_json_quote(&quoted, name);
    kc_buf_printf(out, "{%s:", kc_buf_cstr(&quoted));
    kc__go_json(out, key);
    kc_buf_putc(out, '}');
}

static void check_single_key(schema_lists_lists *l, kc_str name, const kc_value *array,
                             const kc__schema_path_frame *at)
{
    kc_scoped(keys) k;
    size_t i = 0;
    keys_init(&k, kc_value_len(array));
    kc_value_each_item (array, item)
        k.list[i++] = kc_value_get_str(item, name);
    size_t n = kc__schema_find_repeated(k.list, k.n, k.repeated);
    for (size_t j = 0; j < n; j++) {
        kc_scoped(kc_buf) text = {0};
        show_key(&text, name, k.list[k.repeated[j]]);
        schema_lists_report(l, KC_FIELD_DUPLICATE, at, k.repeated[j], kc_buf_str(&text), "");
    }
}

/* A member of an element that is part of its key. */
typedef struct key_part {
    kc_str name;
    const kc_value *value;
} key_part;

typedef KC_VEC(key_part) key_parts;

static int schema_lists_by_name(const void *a, const void *b)
{
    return kc_str_cmp(((const key_part *)a)->name, ((const key_part *)b)->name);
}

/* The key fields of an element as JSON, sorted. Looks up members among the names and not the other
 * way round: there may be many of both. */
static void schema_lists_write_key(kc_buf *out, const kc_map *names, const kc_value *item,
                                   key_parts *parts)
{
    parts->n = 0;
    kc_value_each_member (item, name, value)
        if (kc_map_get(names, name))
            kc_vec_push(parts, (key_part){name, value});
    kc_vec_sort(parts, schema_lists_by_name);
    kc_buf_putc(out, '{');
    for (size_t i = 0; i < parts->n; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_json_quote(out, parts->items[i].name);
        kc_buf_putc(out, ':');
        kc__go_json(out, parts->items[i].value);
    }
    kc_buf_putc(out, '}');
}

static void check_keys(schema_lists_lists *l, const kc_value *key_names, const kc_value *array,
                       const kc__schema_path_frame *at)
{
    kc_scoped(kc__schema_seen) seen = {0};
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_map) names = {0};
    key_parts parts = {0};
    size_t i = 0;
    kc_value_each_item (key_names, name)
        kc_map_put(&names, kc_value_as_str(name), (void *)name);
    kc_value_each_item (array, item) {
        kc_buf_clear(&text);
        schema_lists_write_key(&text, &names, item, &parts);
        if (kc__schema_seen_before(&seen, kc_buf_str(&text)) == 1)
            schema_lists_report(l, KC_FIELD_DUPLICATE, at, i, kc_buf_str(&text), "");
        i++;
    }
    kc_vec_done(&parts);
}

static void check_map(schema_lists_lists *l, const kc_value *names, const kc_value *array,
                      const kc__schema_path_frame *at)
{
    size_t i = 0;
    kc_value_each_item (array, item) {
        if (!(kc__schema_bits_of(item) & (KC__SCHEMA_OBJECT | KC__SCHEMA_NULL))) {
            kc_scoped(kc_buf) text = {0};
            kc__go_value(&text, item);
            schema_lists_report(l, KC_FIELD_INVALID, at, i, kc_buf_str(&text),
                                "must be an object for an array of list-type map");
            return;
        }
        i++;
    }
    if (i > 1 && kc_value_len(names) == 1)
        check_single_key(l, kc_value_as_str(kc_value_at(names, 0)), array, at);
    else if (i > 1)
        check_keys(l, names, array, at);
}

static void schema_lists_walk_array(schema_lists_lists *l, const kc_schema *schema,
                                    const kc_value *array, const kc__schema_path_frame *at)
{
    kc__schema_path_frame here = {.parent = at, .step = KC__SCHEMA_STEP_INDEX};
    if (schema->list_type == KC_LIST_SET && kc_value_len(array) > 1)
        check_set(l, array, at);
    if (schema->list_type == KC_LIST_MAP)
        check_map(l, kc_schema_list_map_keys(schema), array, at);
    if (!schema->items || !(schema->items->flags & (KC__SCHEMA_LISTS_BELOW | KC__SCHEMA_NAMED)))
        return;
    kc_value_each_item (array, item) {
        schema_lists_walk(l, schema->items, item, &here);
        here.n++;
    }
}

static void walk_object(schema_lists_lists *l, const kc_schema *schema, const kc_value *object,
                        const kc__schema_path_frame *at)
{
    kc_value_each_member (object, name, value) {
        const kc__schema_property_row *row =
            schema->fields ? kc__schema_table_find(schema->fields, name.p, name.n) : NULL;
        bool property = row && row->schema;
        kc__schema_path_frame here = {.parent = at, .name = name.p, .n = name.n};
        here.step = property ? KC__SCHEMA_STEP_PROPERTY : KC__SCHEMA_STEP_ADDITIONAL;
        schema_lists_walk(l, property ? row->schema : schema->additional, value, &here);
    }
}

static void schema_lists_walk(schema_lists_lists *l, const kc_schema *schema, const kc_value *value,
                              const kc__schema_path_frame *at)
{
    if (!schema || !(schema->flags & (KC__SCHEMA_LISTS_BELOW | KC__SCHEMA_NAMED)))
        return;
    if (kc_value_type(value) == KC_JSON_ARRAY)
        schema_lists_walk_array(l, schema, value, at);
    else if (kc_value_type(value) == KC_JSON_OBJECT)
        walk_object(l, schema, value, at);
}

bool kc_schema_validate_lists(const kc_schema *schema, const kc_value *value,
                              const kc_schema_validate_opts *opts, kc_field_errors *errors)
{
    schema_lists_lists l = {.base = opts ? opts->base : NULL, .errors = errors, .ok = true};
    schema_lists_walk(&l, schema, value, NULL);
    return l.ok;
}
