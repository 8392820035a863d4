/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom_scale.c: the scale of a custom object: the numbers at the places its definition names, for
 * kinds/scale.c, which makes a Scale of them.
 *
 * Kubernetes walks those places with an accessor that complains in its own words about values of
 * another type; clients see them in causes, so they are the same here.
 */
#include "apiserver/crd/custom_internal.h"
#include "object/go_json.h"
#include "object/go_text.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- the accessor ---- */

/* A value as Go's %v prints it. */
static void print_value(kc_buf *out, const kc_value *value)
{
    size_t i = 0;
    switch (kc_type_of(value)) {
    case KC_ABSENT:
    case KC_NULL: kc_buf_puts(out, "<nil>"); return;
    case KC_STRING: kc_buf_append(out, kc_as_str(value)); return;
    case KC_ARRAY:
        kc_buf_putc(out, '[');
        kc_items (value, item) {
            kc_buf_puts(out, i++ ? " " : "");
            print_value(out, item);
        }
        kc_buf_putc(out, ']');
        return;
    case KC_OBJECT:
        kc_buf_puts(out, "map[");
        kc_members (value, name, member) {
            kc_buf_printf(out, "%s%.*s:", i++ ? " " : "", KC_ARG(name));
            print_value(out, member);
        }
        kc_buf_putc(out, ']');
        return;
    default: kc__go_value(out, value);
    }
}

static int complain(const kc_path_step *steps, size_t n, const kc_value *value,
                    const char *expected, kc_error *err)
{
    kc_scoped(kc_buf) path = {0}, shown = {.limit = 1 << 16};
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(&path, ".%.*s", KC_ARG(steps[i].name));
    print_value(&shown, value);
    return kc_error_set(err, KC_BAD_REQUEST, "%s accessor error: %s is of the type %s, expected %s",
                        kc_buf_cstr(&path), kc_buf_cstr(&shown), kc__go_type(kc_type_of(value)),
                        expected);
}

/* What stands at a path; *ret is NULL when there is nothing. Negative when something else is on the
 * way. */
static int access_value(const kc_path *path, const kc_value *object, const kc_value **ret,
                        kc_error *err)
{
    size_t n;
    const kc_path_step *steps = kc_path_steps(path, &n);
    const kc_value *value = object;
    for (size_t i = 0; i < n && value; i++) {
        if (kc_type_of(value) == KC_NULL)
            value = NULL;
        else if (kc_type_of(value) != KC_OBJECT)
            return complain(steps, i + 1, value, "map[string]interface{}", err);
        else
            value = kc_get_str(value, steps[i].name);
    }
    *ret = value;
    return 0;
}

/* 1 when there is one, 0 when there is nothing (then *ret is 0), negative on error. */
static int access_number(const kc_path *path, const kc_value *object, int64_t *ret, kc_error *err)
{
    size_t n;
    const kc_value *value;
    const kc_path_step *steps = kc_path_steps(path, &n);
    *ret = 0;
    if (access_value(path, object, &value, err) < 0)
        return -1;
    if (!value)
        return 0;
    if (kc_type_of(value) != KC_INT || !kc_as_i64(value, ret))
        return complain(steps, n, value, "int64", err);
    return 1;
}

static int access_text(const kc_path *path, const kc_value *object, kc_str *ret, kc_error *err)
{
    size_t n;
    const kc_value *value;
    const kc_path_step *steps = kc_path_steps(path, &n);
    *ret = (kc_str){0};
    if (access_value(path, object, &value, err) < 0)
        return -1;
    if (!value)
        return 0;
    if (kc_type_of(value) != KC_STRING)
        return complain(steps, n, value, "string", err);
    *ret = kc_as_str(value);
    return 1;
}

/* ---- validation ---- */

static void check_number(const kc_path *path, const char *field, const kc_value *object,
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
        check_number(scale->spec_replicas, scale->spec_replicas_text, object, errors);
    check_number(scale->status_replicas, scale->status_replicas_text, object, errors);
    if (scale->selector && access_text(scale->selector, object, &selector, &err) < 0)
        kc_field_errors_add(errors, KC_FIELD_INVALID, scale->selector_text, KC_STR("\"\""), "%s",
                            kc_error_text(&err));
}

/* ---- there and back ---- */

int kc__custom_scale_read(const kc__custom *custom, const kc_value *object, bool needs,
                          kc__scale *ret, kc_error *err)
{
    const kc__custom_scale *scale = custom->scale;
    kc__scale numbers = {0};
    int found = access_number(scale->spec_replicas, object, &numbers.wanted, err);
    if (found < 0 || access_number(scale->status_replicas, object, &numbers.there, err) < 0 ||
        (scale->selector && access_text(scale->selector, object, &numbers.selector, err) < 0))
        return -1;
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
