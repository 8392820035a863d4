/* SPDX-License-Identifier: Apache-2.0 */
/* Strict reading of configuration files: unknown and repeated members, values of the wrong type. */
#include "testing.h"

#include "apiserver/config/strict_config.h"

#include "apiserver/config/config_errors.h"

static const kc__config_member inner[] = {{"name", KC__CONFIG_STRING, NULL},
                                          {"size", KC__CONFIG_INTEGER, NULL},
                                          {"flag", KC__CONFIG_BOOL, NULL},
                                          {0}};
static const kc__config_member members[] = {{"words", KC__CONFIG_STRINGS, NULL},
                                            {"one", KC__CONFIG_OBJECT, inner},
                                            {"many", KC__CONFIG_OBJECTS, inner},
                                            {"free", KC__CONFIG_ANY, NULL},
                                            {0}};
static const char *const versions[] = {"example.com/v1", "example.com/v1beta1", NULL};
static const kc__config_type type = {versions, "Sample", members};

#define HEAD "apiVersion: example.com/v1\nkind: Sample\n"

static void expect_refused(const char *text, const char *message)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = kc__config_parse(kc_cstr(text), &type, &err);
    assert_null(view);
    assert_string_equal(kc_error_text(&err), message);
}

static void valid_document_is_returned(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = kc__config_parse(
        KC_STR(HEAD "words: [a, b]\none: {name: x, size: 3, flag: true}\nmany:\n- {name: z}\n"
                    "- {}\nfree: [1, {z: 2}]\n"),
        &type, &err);
    assert_non_null(view);
    assert_str(kc_value_as_str(kc_value_at(kc_value_get(kc_view_root(view), "words"), 1)), "b");
}

static void null_counts_as_missing(void **state)
{
    (void)state;
    kc_auto(kc_view) *view =
        kc__config_parse(KC_STR(HEAD "words: null\none:\nmany: null\n"), &type, NULL);
    assert_non_null(view);
}

static void unknown_members_are_reported_with_their_paths(void **state)
{
    (void)state;
    expect_refused(HEAD "wrods: []\nmany:\n- {}\n- {nmae: x}\none: {a: {b: 1}}\n",
                   "strict decoding error: unknown field \"many[1].nmae\", unknown field "
                   "\"one.a\", unknown field \"wrods\"");
}

static void repeated_member_is_reported(void **state)
{
    (void)state;
    expect_refused(HEAD "words: []\nwords: []\n",
                   "strict decoding error: duplicate field \"words\"");
}

static void value_of_wrong_type_is_reported_with_its_path(void **state)
{
    (void)state;
    expect_refused(HEAD "words: a\n", "words: expected a list, got string");
    expect_refused(HEAD "words: [a, 1]\n", "words[1]: expected a string, got integer");
    expect_refused(HEAD "one: []\n", "one: expected an object, got array");
    expect_refused(HEAD "many: [{size: x}]\n", "many[0].size: expected an integer, got string");
    expect_refused(HEAD "many: [{flag: 1}]\n", "many[0].flag: expected a boolean, got integer");
    expect_refused(HEAD "many: [x]\n", "many[0]: expected an object, got string");
}

static void other_kind_or_version_is_refused(void **state)
{
    (void)state;
    expect_refused("apiVersion: example.com/v2\nkind: Sample\n",
                   "no kind \"Sample\" is registered for version \"example.com/v2\"");
    expect_refused("apiVersion: example.com/v1\nkind: Other\n",
                   "no kind \"Other\" is registered for version \"example.com/v1\"");
    expect_refused("apiVersion: example.com/v1\n", "Object 'Kind' is missing");
    expect_refused("[]", "Object 'Kind' is missing");
    expect_refused("", "Object 'Kind' is missing");
}

static void field_errors_are_joined_once_each(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_field_errors) errors = {0};
    assert_int_equal(kc__config_errors(&errors, &err), 0);
    kc_field_errors_add(&errors, KC_FIELD_REQUIRED, "a", (kc_str){0}, "missing");
    assert_true(kc__config_errors(&errors, &err) < 0);
    assert_string_equal(kc_error_text(&err), "a: Required value: missing");
    kc_field_errors_add(&errors, KC_FIELD_REQUIRED, "a", (kc_str){0}, "missing");
    kc_field_errors_add(&errors, KC_FIELD_INVALID, "b", KC_STR("1"), "odd");
    assert_true(kc__config_errors(&errors, &err) < 0);
    assert_string_equal(kc_error_text(&err),
                        "[a: Required value: missing, b: Invalid value: 1: odd]");
}

TESTS(valid_document_is_returned, null_counts_as_missing,
      unknown_members_are_reported_with_their_paths, repeated_member_is_reported,
      value_of_wrong_type_is_reported_with_its_path, other_kind_or_version_is_refused,
      field_errors_are_joined_once_each)
