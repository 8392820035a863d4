/* SPDX-License-Identifier: Apache-2.0 */
/* field_error.c: the messages of field errors and of the Invalid error built from them. */
#include "testing.h"

#include "kc/field_error.h"

static void single_error_matches_kubernetes_message(void **state)
{
    (void)state;
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_error) err = {0};
    kc_field_errors_add(&errors, KC_FIELD_INVALID, "spec.replicas", KC_STR("-1"),
                        "must be at least %d", 0);
    assert_int_equal(kc_field_errors_to_error(&errors, KC_STR("apps"), KC_STR("Deployment"),
                                              KC_STR("web"), &err),
                     -KC_INVALID);
    assert_string_equal(
        err.message,
        "Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: must be at least 0");
    assert_int_equal(err.code, 422);
    assert_string_equal(err.kind, "Deployment");
    assert_string_equal(err.causes.items[0].reason, "FieldValueInvalid");
    assert_string_equal(err.causes.items[0].field, "spec.replicas");
    assert_string_equal(err.causes.items[0].message, "Invalid value: -1: must be at least 0");
}

static void several_errors_are_bracketed_without_duplicates(void **state)
{
    (void)state;
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = view_of("{'a':'x','b':{'c':1.50}}");
    kc_field_errors_add_value(&errors, KC_FIELD_NOT_SUPPORTED, "a",
                              kc_value_get(kc_view_root(view), "a"), "supported values: \"y\"");
    kc_field_errors_add(&errors, KC_FIELD_REQUIRED, "z", KC_STR("5"), NULL);
    kc_field_errors_add(&errors, KC_FIELD_REQUIRED, "z", (kc_str){0}, NULL);
    kc_field_errors_add_value(&errors, KC_FIELD_INVALID, "b", kc_value_get(kc_view_root(view), "b"),
                              "%s", "");
    kc_field_errors_to_error(&errors, KC_STR(""), KC_STR("ConfigMap"), KC_STR("a\"b"), &err);
    assert_string_equal(
        err.message,
        "ConfigMap \"a\\\"b\" is invalid: [a: Unsupported value: \"x\": supported values: \"y\", "
        "z: Required value, b: Invalid value: {\"c\":1.5}]");
    assert_int_equal(err.causes.n, 4);
    assert_string_equal(err.causes.items[1].message, "Required value");
}

static void empty_list_returns_no_error(void **state)
{
    (void)state;
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_field_errors_to_error(&errors, KC_STR(""), KC_STR("A"), KC_STR("b"), &err),
                     0);
    assert_int_equal(err.reason, KC_OK);
}

static void errors_beyond_limit_are_counted(void **state)
{
    (void)state;
    kc_scoped(kc_field_errors) errors = {.limit = 3};
    for (int i = 0; i < 10; i++)
        kc_field_errors_add(&errors, KC_FIELD_DUPLICATE, "x", KC_STR("1"), "%d", i);
    assert_int_equal(errors.list.n, 3);
    assert_int_equal(errors.dropped, 7);
}

static void first_error_is_kept_regardless_of_arena_use(void **state)
{
    (void)state;
    kc_scoped(kc_field_errors) errors = {0};
    kc_arena_alloc(&errors.arena, 16 << 20); /* Paths of valid fields. */
    kc_field_errors_add(&errors, KC_FIELD_REQUIRED, "spec", (kc_str){0}, NULL);
    assert_int_equal(errors.list.n, 1);
}

static void errors_beyond_the_text_limit_are_counted(void **state)
{
    (void)state;
    kc_scoped(kc_buf) value = {0};
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_error) err = {0};
    for (int i = 0; i < 400000; i++)
        kc_buf_putc(&value, '1');
    for (int i = 0; i < 50; i++)
        kc_field_errors_add(&errors, KC_FIELD_INVALID, "spec", kc_buf_str(&value), "%d", i);
    assert_int_equal(errors.list.n, 16); /* Each contains 64 KiB. */
    assert_int_equal(errors.dropped, 34);
    assert_true(kc_str_ends(kc_cstr(errors.list.items[1].body), KC_STR("... (truncated): 1")));
    kc_field_errors_to_error(&errors, (kc_str){0}, KC_STR("Pod"), KC_STR("a"), &err);
    assert_true(kc_str_ends(kc_cstr(kc_error_text(&err)), KC_STR(": 15, and more]")));
}

TESTS(first_error_is_kept_regardless_of_arena_use, errors_beyond_the_text_limit_are_counted,
      single_error_matches_kubernetes_message, several_errors_are_bracketed_without_duplicates,
      empty_list_returns_no_error, errors_beyond_limit_are_counted)
