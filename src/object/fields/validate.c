/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate.c: checks a value against its type, with upstream's messages.
 *
 *     .spec.ports: duplicate entries for key [port=80]
 *     errors:
 *       .spec.replicas: expected numeric (int or float), got string
 *       .spec.extra: field not declared in schema
 *
 * An undeclared member ends the check of its object, and an item without a key the check of its
 * list, as upstream does. Values appear in messages as Go prints them. Most values are valid:
 * they are checked without messages first (fits.c).
 */
#include "object/fields/fields_typed.h"

#include "object/fields/fields_internal.h"
#include "object/gofmt/go_text.h"

typedef struct field_check {
    kc_arena scratch; /* Keys of items. */
    bool allow_duplicates;
    kc__fields_errors errors;
} field_check;

/* "expected list, got &{1}": Go's "%v" of a pointer to a value. */
static void expected(field_check *v, const kc__fields_path *path, const char *what,
                     const kc_value *value)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "expected %s, got &{", what);
    kc__go_text(&text, value);
    kc_buf_putc(&text, '}');
    kc__fields_errors_add(&v->errors, path, kc_buf_str(&text));
}

static void report_scalar(field_check *v, const kc__fields_type *type, const kc_value *value,
                          const kc__fields_path *path)
{
    kc_scoped(kc_buf) text = {0};
    switch (type->scalar) {
    case KC__FIELDS_NUMERIC:
        kc_buf_printf(&text, "expected numeric (int or float), got %s",
                      kc__go_type(kc_value_type(value)));
        kc__fields_errors_add(&v->errors, path, kc_buf_str(&text));
        return;
    case KC__FIELDS_STRING:
        kc_buf_puts(&text, "expected string, got &value.valueUnstructured{Value:");
        kc__fields_value_print_go(&text, value);
        kc_buf_putc(&text, '}');
        kc__fields_errors_add(&v->errors, path, kc_buf_str(&text));
        return;
    case KC__FIELDS_BOOLEAN: expected(v, path, "boolean", value); return;
    default: expected(v, path, "any scalar", value);
    }
}

static void check_scalar_value(field_check *v, const kc__fields_type *type, const kc_value *value,
                               const kc__fields_path *path)
{
    if (!kc__fields_is_null(value) && !kc__fields_is_scalar_of(type, value))
        report_scalar(v, type, value, path);
}

static void check_value(field_check *v, const kc__fields_type *type, const kc_value *value,
                        const kc__fields_path *path);

/* Which items of a list have the key of an earlier one: a bit for each; NULL for none. */
static bool *find_duplicates(field_check *v, const kc__fields_type *type, const kc_value *list)
{
    kc__fields_items items = kc__fields_items_of(&v->scratch, type, list, NULL);
    bool *again = NULL;
    for (size_t i = 0; i < items.n; i++) {
        if (!items.sorted[i].duplicate)
            continue;
        if (!again)
            again = kc_arena_calloc(&v->scratch, items.n, sizeof(*again));
        again[items.sorted[i].at] = true;
    }
    return again;
}

static void check_item(field_check *v, const kc__fields_type *type, const kc_value *item,
                       const kc__fields_path *path)
{
    kc__fields_element element;
    kc__fields_item_element(&v->scratch, type, item, &element, NULL);
    check_value(v, type->items, item, &(kc__fields_path){path, &element});
}

static void report_item(field_check *v, const kc__fields_type *type, const kc_value *item,
                        const char *what, const kc__fields_path *path)
{
    kc_scoped(kc_buf) text = {0};
    kc__fields_element element;
    kc_buf_puts(&text, what);
    if (kc__fields_item_element(&v->scratch, type, item, &element, &text))
        kc__fields_element_print(&text, &element);
    kc__fields_errors_add(&v->errors, path, kc_buf_str(&text));
}

static void check_associative(field_check *v, const kc__fields_type *type, const kc_value *list,
                              const kc__fields_path *path)
{
    const bool *again = v->allow_duplicates ? NULL : find_duplicates(v, type, list);
    size_t at = 0;
    kc__fields_each_item(list, item)
    {
        if (!kc__fields_item_is_valid(type, item)) {
            report_item(v, type, item, kc_arena_printf(&v->scratch, "element %zu: ", at), path);
            return;
        }
        if (again && again[at])
            report_item(v, type, item, "duplicate entries for key ", path);
        check_item(v, type, item, path);
        at++;
    }
}

static void check_list_value(field_check *v, const kc__fields_type *type, const kc_value *value,
                             const kc__fields_path *path)
{
    if (kc__fields_is_null(value))
        return;
    if (!kc__fields_is_list(value)) {
        expected(v, path, "list", value);
        return;
    }
    if (type->list_relation == KC__FIELDS_ASSOCIATIVE) {
        check_associative(v, type, value, path);
        return;
    }
    int64_t at = 0;
    kc__fields_each_item(value, item)
    {
        kc__fields_element element = kc__fields_index(at++);
        check_value(v, type->items, item, &(kc__fields_path){path, &element});
    }
}

static void check_object_value(field_check *v, const kc__fields_type *type, const kc_value *value,
                               const kc__fields_path *path)
{
    if (kc__fields_is_null(value))
        return;
    if (!kc__fields_is_object(value)) {
        expected(v, path, "map", value);
        return;
    }
    kc__fields_each_member(value, key)
    {
        kc_str name = kc__fields_text(key);
        const kc__fields_type *member = kc__fields_type_member(type, name);
        kc__fields_element element = kc__fields_unordered_name(name);
        kc__fields_path below = {path, &element};
        if (!member) {
            kc__fields_errors_add(&v->errors, &below, KC_STR("field not declared in schema"));
            return;
        }
        check_value(v, member, key + 1, &below);
    }
}

static void no_shape(field_check *v, const kc__fields_type *type, const kc__fields_path *path)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "schema error: ");
    kc_buf_puts(&text, type->name.n ? "no type found matching: " : "invalid atom: inlined");
    kc_buf_append(&text, type->name);
    kc__fields_errors_add(&v->errors, path, kc_buf_str(&text));
}

static void check_value(field_check *v, const kc__fields_type *type, const kc_value *value,
                        const kc__fields_path *path)
{
    switch (kc__fields_shape_of(kc__fields_shapes_of(type, value))) {
    case KC__FIELDS_SHAPE_OBJECT: check_object_value(v, type, value, path); break;
    case KC__FIELDS_SHAPE_SCALAR: check_scalar_value(v, type, value, path); break;
    case KC__FIELDS_SHAPE_LIST: check_list_value(v, type, value, path); break;
    default: no_shape(v, type, path); break;
    }
}

int kc__fields_validate(const kc__fields_type *type, const kc_value *value, bool allow_duplicates,
                        kc_error *err)
{
    field_check v = {.allow_duplicates = allow_duplicates};
    if (!kc__fields_fits(type, value, allow_duplicates ? NULL : &v.scratch))
        check_value(&v, type, value, NULL);
    kc_arena_done(&v.scratch);
    return kc__fields_errors_result(&v.errors, err);
}
