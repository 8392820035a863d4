/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_testing.h: helpers to compile a schema, apply it to a value, and compare all errors at
 * once. JSON may be written with ' for quotes.
 */
#ifndef KC_SCHEMA_TESTING_H
#define KC_SCHEMA_TESTING_H

#include "testing.h"

#include "kc/schema.h"

static inline kc_schema *schema_of(const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = view_of(json);
    kc_schema *schema = kc_schema_compile(kc_view_root(view), NULL, &err);
    if (!schema)
        fail_msg("%s: %s", json, kc_error_text(&err));
    return schema;
}

/* The error of a schema that does not compile. The caller frees it. */
static inline char *refusal_of(const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = view_of(json);
    kc_auto(kc_schema) *schema = kc_schema_compile(kc_view_root(view), NULL, &err);
    assert_null(schema);
    return kc_strdup(kc_error_text(&err));
}

/* "field: body" of each error, one per line. */
static inline char *lines_of(const kc_field_errors *errors)
{
    kc_buf text = {0};
    kc_vec_each (&errors->list, e)
        kc_buf_printf(&text, "%s%s: %s", text.n ? "\n" : "", e->field, e->body);
    return kc_buf_take(&text);
}

typedef bool (*schema_judge)(const kc_schema *, const kc_value *, const kc_schema_validate_opts *,
                             kc_field_errors *);

static inline void kc__assert_judged(schema_judge judge, const char *schema_json,
                                     const char *value_json, const char *base, const char *expected,
                                     const char *file, int line)
{
    kc_auto(kc_schema) *schema = schema_of(schema_json);
    kc_auto(kc_view) *value = view_of(value_json);
    kc_scoped(kc_field_errors) errors = {0};
    bool ok = judge(schema, kc_view_root(value), &(kc_schema_validate_opts){.base = base}, &errors);
    kc_autofree char *lines = lines_of(&errors);
    kc__assert_str(kc_cstr(lines), expected, file, line);
    assert_int_equal(ok, errors.list.n == 0);
}

/* Asserts all errors of a value, one per line; "" if it is valid. */
#define assert_errors(schema, value, expected) \
    kc__assert_judged(kc_schema_validate, schema, value, NULL, expected, __FILE__, __LINE__)
#define assert_list_errors(schema, value, expected) \
    kc__assert_judged(kc_schema_validate_lists, schema, value, NULL, expected, __FILE__, __LINE__)

#endif
