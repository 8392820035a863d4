/* SPDX-License-Identifier: Apache-2.0 */
/* field_error.c: the wording of field errors and of the Invalid error made of them. */
#include "testing.h"

#include "kc/field_error.h"

static void one_error_reads_as_kubernetes_says_it(void **state)
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

static void several_errors_stand_in_brackets_without_repeats(void **state)
{
    (void)state;
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = view_of("{'a':'x','b':{'c':1.50}}");
    kc_field_errors_add_value(&errors, KC_FIELD_NOT_SUPPORTED, "a", kc_get(kc_view_root(view), "a"),
                              "supported values: \"y\"");
    kc_field_errors_add(&errors, KC_FIELD_REQUIRED, "z", KC_STR("5"), NULL);
    kc_field_errors_add(&errors, KC_FIELD_REQUIRED, "z", (kc_str){0}, NULL);
    kc_field_errors_add_value(&errors, KC_FIELD_INVALID, "b", kc_get(kc_view_root(view), "b"), "%s",
                              "");
    kc_field_errors_to_error(&errors, KC_STR(""), KC_STR("ConfigMap"), KC_STR("a\"b"), &err);
    assert_string_equal(
        err.message,
        "ConfigMap \"a\\\"b\" is invalid: [a: Unsupported value: \"x\": supported values: \"y\", "
        "z: Required value, b: Invalid value: {\"c\":1.5}]");
    assert_int_equal(err.causes.n, 4);
    assert_string_equal(err.causes.items[1].message, "Required value");
}

static void no_errors_make_no_error(void **state)
{
    (void)state;
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_field_errors_to_error(&errors, KC_STR(""), KC_STR("A"), KC_STR("b"), &err),
                     0);
    assert_int_equal(err.reason, KC_OK);
}

static void the_list_is_bounded(void **state)
{
    (void)state;
    kc_scoped(kc_field_errors) errors = {.limit = 3};
    for (int i = 0; i < 10; i++)
        kc_field_errors_add(&errors, KC_FIELD_DUPLICATE, "x", KC_STR("1"), "%d", i);
    assert_int_equal(errors.list.n, 3);
    assert_int_equal(errors.dropped, 7);
}

TESTS(one_error_reads_as_kubernetes_says_it, several_errors_stand_in_brackets_without_repeats,
      no_errors_make_no_error, the_list_is_bounded)
