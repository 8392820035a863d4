/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_lists.c: lists of type set have no element twice, lists of type map no key twice. Errors
 * are at the second of two equal ones; a third is not reported again.
 *
 * A map's key may be of several fields. Then the key of an element is an object of those it has,
 * which is compared as text.
 */
#include "object/schema_internal.h"

#include "object/go_json.h"
#include "object/go_quote.h"

enum { FEW = 16 };

typedef struct lists {
    const char *base;
    kc_field_errors *errors;
    bool ok;
} lists;

static void walk(lists *l, const kc_schema *schema, const kc_value *value, const kc__frame *at);

static void report(lists *l, kc_field_error_type type, const kc__frame *list, size_t index,
                   kc_str value, const char *detail)
{
    kc__frame here = {.parent = list, .n = index, .step = KC__STEP_INDEX};
    kc_scoped(kc_buf) path = {0};
    l->ok = false;
    if (l->base)
        kc_buf_printf(&path, "%s.", l->base);
    kc__path_write(&path, &here, KC__PATH_FIELD);
    kc_field_errors_add(l->errors, type, kc_buf_cstr(&path), value, "%s", detail);
}

/* Arrays for n keys: on the stack of the caller while they are few. */
typedef struct keys {
    size_t n;
    const kc_value **list;
    size_t *again;
    const kc_value *few[FEW];
    size_t few_again[FEW];
} keys;

static void keys_init(keys *k, size_t n)
{
    k->n = n;
    k->list = n > FEW ? kc_calloc(n, sizeof(*k->list)) : k->few;
    k->again = n > FEW ? kc_calloc(n, sizeof(*k->again)) : k->few_again;
}

static void keys_done(keys *k)
{
    if (k->list != k->few)
        free(k->list);
    if (k->again != k->few_again)
        free(k->again);
}

static void check_set(lists *l, const kc_value *array, const kc__frame *at)
{
    kc_scoped(keys) k;
    size_t i = 0;
    keys_init(&k, kc_len(array));
    kc_items (array, item)
        k.list[i++] = item;
    size_t n = kc__find_repeated(k.list, k.n, k.again);
    for (size_t j = 0; j < n; j++) {
        kc_scoped(kc_buf) text = {0};
        kc__go_value(&text, k.list[k.again[j]]);
        report(l, KC_FIELD_DUPLICATE, at, k.again[j], kc_buf_str(&text), "");
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

static void check_single_key(lists *l, kc_str name, const kc_value *array, const kc__frame *at)
{
    kc_scoped(keys) k;
    size_t i = 0;
    keys_init(&k, kc_len(array));
    kc_items (array, item)
        k.list[i++] = kc_get_str(item, name);
    size_t n = kc__find_repeated(k.list, k.n, k.again);
    for (size_t j = 0; j < n; j++) {
        kc_scoped(kc_buf) text = {0};
        show_key(&text, name, k.list[k.again[j]]);
        report(l, KC_FIELD_DUPLICATE, at, k.again[j], kc_buf_str(&text), "");
    }
}

/* The fields of an element that are its key, as JSON. `names` must be sorted. */
static void write_key(kc_buf *out, const kc_str *names, size_t n, const kc_value *item)
{
    bool first = true;
    kc_buf_putc(out, '{');
    for (size_t i = 0; i < n; i++) {
        const kc_value *field = kc_get_str(item, names[i]);
        if (!field || (i && kc_str_eq(names[i], names[i - 1])))
            continue;
        kc_buf_puts(out, first ? "" : ",");
        first = false;
        kc_json_quote(out, names[i]);
        kc_buf_putc(out, ':');
        kc__go_json(out, field);
    }
    kc_buf_putc(out, '}');
}

static int by_name(const void *a, const void *b)
{
    return kc_str_cmp(*(const kc_str *)a, *(const kc_str *)b);
}

static void check_keys(lists *l, const kc_value *key_names, const kc_value *array,
                       const kc__frame *at)
{
    kc_scoped(kc__seen) seen = {0};
    kc_scoped(kc_buf) text = {0};
    kc_autofree kc_str *names = kc_calloc(kc_len(key_names) + 1, sizeof(*names));
    size_t n = 0, i = 0;
    kc_items (key_names, name)
        names[n++] = kc_as_str(name);
    qsort(names, n, sizeof(*names), by_name);
    kc_items (array, item) {
        kc_buf_clear(&text);
        write_key(&text, names, n, item);
        if (kc__seen_before(&seen, kc_buf_str(&text)) == 1)
            report(l, KC_FIELD_DUPLICATE, at, i, kc_buf_str(&text), "");
        i++;
    }
}

static void check_map(lists *l, const kc_value *names, const kc_value *array, const kc__frame *at)
{
    size_t i = 0;
    kc_items (array, item) {
        kc_type type = kc_type_of(item);
        if (type != KC_OBJECT && type != KC_NULL) {
            kc_scoped(kc_buf) text = {0};
            kc__go_value(&text, item);
            report(l, KC_FIELD_INVALID, at, i, kc_buf_str(&text),
                   "must be an object for an array of list-type map");
            return;
        }
        i++;
    }
    if (i > 1 && kc_len(names) == 1)
        check_single_key(l, kc_as_str(kc_at(names, 0)), array, at);
    else if (i > 1)
        check_keys(l, names, array, at);
}

static void walk_array(lists *l, const kc_schema *schema, const kc_value *array,
                       const kc__frame *at)
{
    kc__frame here = {.parent = at, .step = KC__STEP_INDEX};
    if (schema->list_type == KC_LIST_SET && kc_len(array) > 1)
        check_set(l, array, at);
    if (schema->list_type == KC_LIST_MAP)
        check_map(l, kc_schema_list_map_keys(schema), array, at);
    if (!schema->items || !(schema->items->flags & (KC__LISTS_BELOW | KC__NAMED)))
        return;
    kc_items (array, item) {
        walk(l, schema->items, item, &here);
        here.n++;
    }
}

static void walk_object(lists *l, const kc_schema *schema, const kc_value *object,
                        const kc__frame *at)
{
    kc_members (object, name, value) {
        const kc__row *row = schema->fields ? kc__table_find(schema->fields, name.p, name.n) : NULL;
        bool property = row && row->schema;
        kc__frame here = {.parent = at, .name = name.p, .n = name.n};
        here.step = property ? KC__STEP_PROPERTY : KC__STEP_ADDITIONAL;
        walk(l, property ? row->schema : schema->additional, value, &here);
    }
}

static void walk(lists *l, const kc_schema *schema, const kc_value *value, const kc__frame *at)
{
    if (!schema || !(schema->flags & (KC__LISTS_BELOW | KC__NAMED)))
        return;
    if (kc_type_of(value) == KC_ARRAY)
        walk_array(l, schema, value, at);
    else if (kc_type_of(value) == KC_OBJECT)
        walk_object(l, schema, value, at);
}

bool kc_schema_validate_lists(const kc_schema *schema, const kc_value *value,
                              const kc_schema_validate_opts *opts, kc_field_errors *errors)
{
    lists l = {.base = opts ? opts->base : NULL, .errors = errors, .ok = true};
    walk(&l, schema, value, NULL);
    return l.ok;
}
