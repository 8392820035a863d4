/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/error.h"

static void set_error_has_reason_code_and_message(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_error_set(&err, KC_NOT_FOUND, "pods \"%s\" not found", "web"),
                     -KC_NOT_FOUND);
    assert_int_equal(err.code, 404);
    assert_error(&err, KC_NOT_FOUND, "pods \"web\" not found");
    assert_true(kc_error_has_reason(&err, KC_NOT_FOUND));
    assert_false(kc_error_has_reason(&err, KC_GONE));
    assert_false(kc_error_has_reason(NULL, KC_GONE));
}

static void null_error_is_allowed(void **state)
{
    (void)state;
    assert_int_equal(kc_error_set(NULL, KC_CONFLICT, "x"), -KC_CONFLICT);
    assert_true(kc_error_wrap(NULL, "x") < 0);
    assert_int_equal(kc_error_result(NULL), -KC_UNKNOWN);
    kc_error_add_cause(NULL, "FieldValueInvalid", KC_STR("spec"), KC_STR("bad"));
    kc_error_about(NULL, KC_STR(""), KC_STR("Pod"), KC_STR("web"));
    kc_error_done(NULL);
    assert_string_equal(kc_error_text(NULL), "no error");
}

static void wrap_prefixes_message(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_error_set(&err, KC_BAD_REQUEST, "line 3: no colon");
    assert_int_equal(kc_error_wrap(&err, "read %s", "x.yaml"), -KC_BAD_REQUEST);
    assert_string_equal(kc_error_text(&err), "read x.yaml: line 3: no colon");
    assert_int_equal(err.code, 400);
}

static void wrap_context_may_contain_message_itself(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_error_set(&err, KC_GONE, "old");
    kc_error_set(&err, KC_GONE, "%s and more", err.message);
    kc_error_wrap(&err, "[%s]", err.message);
    assert_string_equal(kc_error_text(&err), "[old and more]: old and more");
}

static void wrap_of_unset_error_is_unknown(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_error_wrap(&err, "read"), -KC_UNKNOWN);
    assert_int_equal(err.reason, KC_UNKNOWN);
    assert_int_equal(err.code, 500);
}

static void result_of_set_error_is_its_reason(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_error_set(&err, KC_GONE, "old");
    assert_int_equal(kc_error_result(&err), -KC_GONE);
    assert_error(&err, KC_GONE, "old");
}

static void result_of_unset_error_is_negative(void **state)
{
    (void)state;
    const kc_error err = {0};
    assert_int_equal(kc_error_result(&err), -KC_UNKNOWN);
}

static void set_replaces_previous_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_error_set(&err, KC_INVALID, "first");
    kc_error_add_cause(&err, "FieldValueRequired", KC_STR("spec.x"), KC_STR("Required value"));
    kc_error_about(&err, KC_STR("apps"), KC_STR("Deployment"), KC_STR("web"));
    kc_error_set(&err, KC_GONE, "second");
    assert_error(&err, KC_GONE, "second");
    assert_int_equal(err.causes.n, 0);
    assert_null(err.group);
    assert_null(err.kind);
}

static void causes_and_the_object_are_kept(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_error_set(&err, KC_INVALID, "bad");
    kc_error_add_cause(&err, "FieldValueInvalid", KC_STR("spec.a"), KC_STR("Invalid value"));
    kc_error_add_cause(&err, "FieldValueRequired", KC_STR("spec.b"), KC_STR(""));
    kc_error_about(&err, KC_STR(""), KC_STR("Pod"), KC_STR("web"));
    assert_int_equal(err.causes.n, 2);
    assert_string_equal(err.causes.items[0].field, "spec.a");
    assert_string_equal(err.causes.items[1].reason, "FieldValueRequired");
    assert_null(err.group);
    assert_string_equal(err.kind, "Pod");
    kc_error_about(&err, KC_STR("apps"), KC_STR("Deployment"), KC_STR(""));
    assert_string_equal(err.kind, "Deployment");
    assert_null(err.name);
}

static void move_empties_source(void **state)
{
    (void)state;
    kc_scoped(kc_error) from = {0};
    kc_scoped(kc_error) to = {0};
    kc_error_set(&to, KC_GONE, "older");
    kc_error_set(&from, KC_CONFLICT, "newer");
    assert_int_equal(kc_error_move(&to, &from), -KC_CONFLICT);
    assert_error(&to, KC_CONFLICT, "newer");
    assert_int_equal(from.reason, KC_OK);
    assert_int_equal(kc_error_move(&to, &to), -KC_CONFLICT);
    assert_error(&to, KC_CONFLICT, "newer");
    assert_int_equal(kc_error_move(NULL, &to), -KC_CONFLICT);
    assert_null(to.message);
}

static void reasons_have_the_names_and_codes_of_a_status(void **state)
{
    (void)state;
    static const struct {
        kc_reason reason;
        const char *text;
        int code;
    } rows[] = {{KC_NOT_FOUND, "NotFound", 404},
                {KC_ALREADY_EXISTS, "AlreadyExists", 409},
                {KC_CONFLICT, "Conflict", 409},
                {KC_INVALID, "Invalid", 422},
                {KC_TOO_LARGE, "RequestEntityTooLarge", 413},
                {KC_EXPIRED, "Expired", 410},
                {KC_SERVER_TIMEOUT, "ServerTimeout", 500},
                {KC_TIMEOUT, "Timeout", 504}};
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        assert_string_equal(kc_reason_text(rows[i].reason), rows[i].text);
        assert_int_equal(kc_reason_code(rows[i].reason), rows[i].code);
        assert_int_equal(kc_reason_from(kc_cstr(rows[i].text)), rows[i].reason);
    }
    assert_int_equal(kc_reason_code(KC_OK), 200);
}

static void unlisted_reason_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(kc_reason_from(KC_STR("Weird")), KC_UNKNOWN);
    assert_int_equal(kc_reason_from(KC_STR("")), KC_UNKNOWN);
    assert_string_equal(kc_reason_text((kc_reason)999), "");
    assert_int_equal(kc_reason_code((kc_reason)999), 500);
}

TESTS(set_error_has_reason_code_and_message, null_error_is_allowed, wrap_prefixes_message,
      wrap_context_may_contain_message_itself, wrap_of_unset_error_is_unknown,
      result_of_set_error_is_its_reason, result_of_unset_error_is_negative,
      set_replaces_previous_error, causes_and_the_object_are_kept, move_empties_source,
      reasons_have_the_names_and_codes_of_a_status, unlisted_reason_is_unknown)
