/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom_scale.c: the scale of a custom object: reads the values at the paths that its CRD names,
 * for kinds/scale_values.c, which makes a Scale of them.
 *
 * Kubernetes reads those paths with an accessor that has its own error messages for values of
 * another type; clients see them in causes, so this file uses the same messages.
 */
#include "apiserver/crd/custom_internal.h"
#include "object/gofmt/go_json.h"
#include "object/gofmt/go_text.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- the accessor ---- */

/* A value as Go's %v prints it. */
static void print_value(kc_buf *out, const kc_value *value)
{
    size_t i = 0;
    switch (kc_value_type(value)) {
    case KC_JSON_ABSENT:
    case KC_JSON_NULL: kc_buf_puts(out, "<nil>"); return;
    case KC_JSON_STRING: kc_buf_append(out, kc_value_as_str(value)); return;
    case KC_JSON_ARRAY:
        kc_buf_putc(out, '[');
        kc_value_each_item (value, item) {
            kc_buf_puts(out, i++ ? " " : "");
            print_value(out, item);
        }
        kc_buf_putc(out, ']');
        return;
    case KC_JSON_OBJECT:
        kc_buf_puts(out, "map[");
        kc_value_each_member (value, name, member) {
            kc_buf_printf(out, "%s%.*s:", i++ ? " " : "", KC_ARG(name));
            print_value(out, member);
        }
        kc_buf_putc(out, ']');
        return;
    default: kc__go_value(out, value);
    }
}

static int report_scale_type(const kc_path_step *steps, size_t n, const kc_value *value,
                             const char *expected, kc_error *err)
{
    kc_scoped(kc_buf) path = {0}, shown = {.limit = 1 << 16};
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(&path, ".%.*s", KC_ARG(steps[i].name));
    print_value(&shown, value);
    return kc_error_set(err, KC_BAD_REQUEST, "%s accessor error: %s is of the type %s, expected %s",
                        kc_buf_cstr(&path), kc_buf_cstr(&shown), kc__go_type(kc_value_type(value)),
                        expected);
}

/* The value at a path; *ret is NULL if it does not exist. Negative if another type is on the
 * way. */
static int access_value(const kc_path *path, const kc_value *object, const kc_value **ret,
                        kc_error *err)
{
    size_t n;
    const kc_path_step *steps = kc_path_steps(path, &n);
    const kc_value *value = object;
    for (size_t i = 0; i < n && value; i++) {
        if (kc_value_type(value) == KC_JSON_NULL)
            value = NULL;
        else if (kc_value_type(value) != KC_JSON_OBJECT)
            return report_scale_type(steps, i + 1, value, "map[string]interface{}", err);
        else
            value = kc_value_get_str(value, steps[i].name);
    }
    *ret = value;
    return 0;
}

/* Returns 1 if the number exists, 0 if not (*ret is then 0), negative on error. */
static int access_number(const kc_path *path, const kc_value *object, int64_t *ret, kc_error *err)
{
    size_t n;
    const kc_value *value;
    const kc_path_step *steps = kc_path_steps(path, &n);
    *ret = 0;
    if (access_value(path, object, &value, err) < 0)
        return kc_error_result(err);
    if (!value)
        return 0;
    if (kc_value_type(value) != KC_JSON_INT || !kc_value_as_i64(value, ret))
        return report_scale_type(steps, n, value, "int64", err);
    return 1;
}

static int access_text(const kc_path *path, const kc_value *object, kc_str *ret, kc_error *err)
{
    size_t n;
    const kc_value *value;
    const kc_path_step *steps = kc_path_steps(path, &n);
    *ret = (kc_str){0};
    if (access_value(path, object, &value, err) < 0)
        return kc_error_result(err);
    if (!value)
        return 0;
    if (kc_value_type(value) != KC_JSON_STRING)
        return report_scale_type(steps, n, value, "string", err);
    *ret = kc_value_as_str(value);
    return 1;
}

/* ---- validation ---- */

static void check_scale_number(const kc_path *path, const char *field, const kc_value *object,
                               kc_field_errors *errors)
{
    kc_scoped(kc_error) err = {0};
    int64_t number;
    char shown[24];
    int found = access_number(path, object, &number, &err);
    kc_str value = kc_str_of(shown, (size_t)snprintf(shown, sizeof(shown), "%" PRId64, number));
    if (found < 0)
        kc_field_errors_add(errors, KC_FIELD_INVALID, field, KC_STR("0"), "%s",
                            kc_error_text(&err));
    else if (number < 0)
        kc_field_errors_add(errors, KC_FIELD_INVALID, field, value,
                            "should be a non-negative integer");
    else if (number > INT32_MAX)
        kc_field_errors_add(errors, KC_FIELD_INVALID, field, value,
                            "should be less than or equal to %d", INT32_MAX);
}

void kc__custom_check_scale(const kc__custom_scale *scale, const kc_value *object, bool spec,
                            kc_field_errors *errors)
{
    kc_scoped(kc_error) err = {0};
    kc_str selector;
    if (spec)
        check_scale_number(scale->spec_replicas, scale->spec_replicas_text, object, errors);
    check_scale_number(scale->status_replicas, scale->status_replicas_text, object, errors);
    if (scale->selector && access_text(scale->selector, object, &selector, &err) < 0)
        kc_field_errors_add(errors, KC_FIELD_INVALID, scale->selector_text, KC_STR("\"\""), "%s",
                            kc_error_text(&err));
}

/* ---- reading and writing the scale ---- */

int kc__custom_scale_read(const kc__custom *custom, const kc_value *object, bool needs,
                          kc__scale_values *ret, kc_error *err)
{
    const kc__custom_scale *scale = custom->scale;
    kc__scale_values numbers = {0};
    int found = access_number(scale->spec_replicas, object, &numbers.wanted, err);
    if (found < 0 || access_number(scale->status_replicas, object, &numbers.there, err) < 0 ||
        (scale->selector && access_text(scale->selector, object, &numbers.selector, err) < 0))
        return kc_error_result(err);
    if (!found && needs) {
        kc_scoped(kc_buf) why = {0};
        kc_buf_printf(&why, "the spec replicas field \"%s\" does not exist",
                      scale->spec_replicas_text);
        int failed =
            kc_error_set(err, KC_INTERNAL, "Internal error occurred: %s", kc_buf_cstr(&why));
        kc_error_add_cause(err, "", (kc_str){0}, kc_buf_str(&why));
        return failed;
    }
    *ret = numbers;
    return 0;
}

int kc__custom_scale_write(const kc__custom *custom, kc_edit *edit, int64_t replicas, kc_error *err)
{
    return kc_path_set(custom->scale->spec_replicas, edit, kc_node_i64(edit, replicas),
                       &(kc_path_set_opts){.create = true}, err);
}
