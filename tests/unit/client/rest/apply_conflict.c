/* SPDX-License-Identifier: Apache-2.0 */
#include "client_testing.h"

#define STATUS(causes)                                                                      \
    "{'kind':'Status','apiVersion':'v1','status':'Failure','reason':'Conflict','code':409," \
    "'message':'Apply failed','details':{'causes':[" causes "]}}"
#define CAUSE(field, message) \
    "{'reason':'FieldManagerConflict','field':'" field "','message':'" message "'}"

static void apply_with_response(const char *body, kc_error *err)
{
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = config_map("a", "v");
    bench_script(b, &(scripted){.status = 409, .body = body});
    assert_null(kc_client_apply(b->client, object, NULL, err));
}

static void conflict_has_field_and_manager(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_apply_conflict conflict;
    size_t at = 0;
    apply_with_response(STATUS(CAUSE(".data.k", "conflict with \\'robots\\'")), &err);
    assert_true(kc_is_conflict(&err));
    assert_true(kc_apply_conflict_next(&err, &at, &conflict));
    assert_str(conflict.field, ".data.k");
    assert_string_equal(conflict.manager, "robots");
    assert_int_equal(conflict.subresource.n, 0);
    assert_int_equal(conflict.api_version.n, 0);
    assert_false(kc_apply_conflict_next(&err, &at, &conflict));
}

static void conflict_with_update_has_version_and_subresource(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_apply_conflict conflict;
    size_t at = 0;
    apply_with_response(
        STATUS(
            CAUSE(".spec.replicas", "conflict with \\'hpa\\' with subresource \\'scale\\' using apps/v1") "," CAUSE(
                ".spec.paused", "conflict with \\'old\\' using apps/v1 at 2026-11-16T08:00:00Z")),
        &err);
    assert_true(kc_apply_conflict_next(&err, &at, &conflict));
    assert_string_equal(conflict.manager, "hpa");
    assert_str(conflict.subresource, "scale");
    assert_str(conflict.api_version, "apps/v1");
    assert_true(kc_apply_conflict_next(&err, &at, &conflict));
    assert_string_equal(conflict.manager, "old");
    assert_int_equal(conflict.subresource.n, 0);
    assert_str(conflict.api_version, "apps/v1");
    assert_false(kc_apply_conflict_next(&err, &at, &conflict));
}

static void escapes_in_manager_are_removed(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_apply_conflict conflict;
    size_t at = 0;
    kc_error_set(&err, KC_CONFLICT, "Apply failed");
    kc_error_add_cause(&err, "FieldManagerConflict", KC_STR(".a"),
                       KC_STR("conflict with \"a\\\"b\\\\c\" using v1"));
    assert_true(kc_apply_conflict_next(&err, &at, &conflict));
    assert_string_equal(conflict.manager, "a\"b\\c");
    assert_str(conflict.api_version, "v1");
}

static void malformed_message_gives_field_without_manager(void **state)
{
    static const char *const messages[] = {"",
                                           "conflict",
                                           "conflict with ",
                                           "conflict with \"",
                                           "conflict with \"a\\",
                                           "conflict with \"a\\\"",
                                           "no conflict with \"a\""};
    (void)state;
    for (size_t i = 0; i < KC_COUNT(messages); i++) {
        kc_scoped(kc_error) err = {0};
        kc_apply_conflict conflict;
        size_t at = 0;
        kc_error_set(&err, KC_CONFLICT, "Apply failed");
        kc_error_add_cause(&err, "FieldManagerConflict", KC_STR(".a"), kc_cstr(messages[i]));
        assert_true(kc_apply_conflict_next(&err, &at, &conflict));
        assert_str(conflict.field, ".a");
        assert_string_equal(conflict.manager, "");
    }
}

static void too_long_manager_is_cut(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) message = {0};
    kc_apply_conflict conflict;
    size_t at = 0;
    kc_buf_puts(&message, "conflict with \"");
    for (int i = 0; i < 1000; i++)
        kc_buf_putc(&message, 'm');
    kc_buf_putc(&message, '"');
    kc_error_set(&err, KC_CONFLICT, "Apply failed");
    kc_error_add_cause(&err, "FieldManagerConflict", KC_STR(".a"), kc_buf_str(&message));
    assert_true(kc_apply_conflict_next(&err, &at, &conflict));
    assert_int_equal(strlen(conflict.manager), KC_FIELD_MANAGER_MAX);
}

static void other_errors_have_no_apply_conflicts(void **state)
{
    (void)state;
    kc_apply_conflict conflict;
    size_t at = 0;
    assert_false(kc_apply_conflict_next(NULL, &at, &conflict));
    kc_scoped(kc_error) version = {0}, invalid = {0};
    apply_with_response(STATUS(""), &version);
    assert_true(kc_is_conflict(&version));
    assert_false(kc_apply_conflict_next(&version, &at, &conflict));
    kc_error_set(&invalid, KC_INVALID, "invalid");
    kc_error_add_cause(&invalid, "FieldManagerConflict", KC_STR(".a"), KC_STR(""));
    assert_false(kc_apply_conflict_next(&invalid, &at, &conflict));
}

/* The longest list of conflicts that a server sends fits. */
static void thousand_conflicts_are_read(void **state)
{
    (void)state;
    kc_scoped(kc_buf) body = {0};
    kc_scoped(kc_error) err = {0};
    kc_buf_puts(&body, "{'kind':'Status','reason':'Conflict','code':409,'details':{'causes':[");
    for (int i = 0; i < 1000; i++)
        kc_buf_printf(&body,
                      "%s{'reason':'FieldManagerConflict','field':'.data.%01000d','message':"
                      "'conflict with \\'m\\' using v1'}",
                      i ? "," : "", i);
    kc_buf_puts(&body, "]}}");
    apply_with_response(kc_buf_cstr(&body), &err);
    assert_int_equal(err.causes.n, 1000);
}

/* ---- requests ---- */

static void apply_status_uses_the_subresource(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = object_of("{'metadata':{'name':'p','namespace':'default'}}");
    bench_script(b, &(scripted){.status = 200, .body = "{'kind':'Pod','apiVersion':'v1'}"});
    kc_auto(kc_object) *now =
        kc_client_apply_status(b->client, object, &(kc_write_opts){.kind = &kc_kind_pod}, NULL);
    assert_non_null(now);
    assert_contains(bench_sent(b, 0),
                    "PATCH /api/v1/namespaces/default/pods/p/status?fieldManager=tests "
                    "application/apply-patch+yaml {\"kind\":\"Pod\",\"apiVersion\":\"v1\",");
}

static void dry_run_of_apply_is_sent_and_hidden_from_the_reader(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = config_map("a", "v");
    bench_script(b, &(scripted){.status = 200, .body = "{'kind':'ConfigMap','apiVersion':'v1'}"});
    kc_auto(kc_object) *now =
        kc_client_apply(b->client, object, &(kc_write_opts){.dry_run = true}, NULL);
    assert_non_null(now);
    assert_contains(bench_sent(b, 0), "?fieldManager=tests&dryRun=All application/apply-patch");
}

static void apply_without_a_name_is_refused(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = object_of(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'generateName':'a','namespace':'n'}}");
    assert_null(kc_client_apply(b->client, object, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "resource name may not be empty");
    assert_int_equal(bench_count(b), 0);
}

TESTS(conflict_has_field_and_manager, conflict_with_update_has_version_and_subresource,
      escapes_in_manager_are_removed, malformed_message_gives_field_without_manager,
      too_long_manager_is_cut, other_errors_have_no_apply_conflicts, thousand_conflicts_are_read,
      apply_status_uses_the_subresource, dry_run_of_apply_is_sent_and_hidden_from_the_reader,
      apply_without_a_name_is_refused)
