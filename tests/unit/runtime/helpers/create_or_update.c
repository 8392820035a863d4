/* SPDX-License-Identifier: Apache-2.0 */
/* Create-or-update: objects reach the desired state with the fewest writes. */
#include "plane_testing.h"

#include "kc/create_or_update.h"

static int set_value(kc_edit *edit, void *user, kc_error *err)
{
    (void)err;
    kc_node *data = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("data"));
    kc_node_set(edit, data, KC_STR("k"), kc_node_str(edit, kc_cstr(user)));
    return 0;
}

static int write_value(kc_testenv *env, const char *value, kc_object **ret)
{
    kc_scoped(kc_error) err = {0};
    return OK(kc_create_or_update(kc_testenv_client(env), &kc_kind_config_map,
                                  KC_KEY("default", "a"), set_value, (void *)value, ret, &err),
              &err);
}

static void missing_object_is_created(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_object) *made = NULL;
    assert_int_equal(write_value(env, "v", &made), KC_OPERATION_CREATED);
    assert_contains(kc_object_json(made).p, "\"k\":\"v\"");
}

static void unchanged_object_is_not_written(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_object) *one = NULL, *two = NULL, *three = NULL;
    write_value(env, "v", &one);
    assert_int_equal(write_value(env, "v", &two), KC_OPERATION_UNCHANGED);
    assert_int_equal(kc_object_revision(one), kc_object_revision(two));
    assert_int_equal(write_value(env, "w", &three), KC_OPERATION_UPDATED);
    assert_true(kc_object_revision(three) > kc_object_revision(one));
}

static int rename_object(kc_edit *edit, void *user, kc_error *err)
{
    (void)user;
    (void)err;
    kc_edit_set_name(edit, KC_STR("b"));
    return 0;
}

static void change_of_key_is_refused(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    assert_true(kc_create_or_update(kc_testenv_client(env), &kc_kind_config_map,
                                    KC_KEY("default", "a"), rename_object, NULL, NULL, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "must not change its name");
    kc_auto(kc_object) *b = look_up(env, &kc_kind_config_map, "b");
    assert_null(b);
}

static void patch_does_not_conflict_with_other_writers(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *made = make(env, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':"
                                         "'a','namespace':'default'},'data':{'theirs':'1'}}");
    kc_auto(kc_object) *now = NULL;
    assert_int_equal(
        OK(kc_create_or_patch(kc_testenv_client(env), &kc_kind_config_map, KC_KEY("default", "a"),
                              set_value, (void *)"v", &now, &err),
           &err),
        KC_OPERATION_UPDATED);
    assert_contains(kc_object_json(now).p, "\"theirs\":\"1\"");
}

static int set_phase(kc_edit *edit, void *user, kc_error *err)
{
    (void)err;
    kc_node *status = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("status"));
    kc_node_set(edit, status, KC_STR("phase"), kc_node_str(edit, kc_cstr(user)));
    return 0;
}

#define POD                                                                          \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'default'}," \
    "'spec':{'containers':[{'name':'c','image':'i'}]}}"

static void status_is_written_when_it_changes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *pod = make(env, POD), *now = NULL, *again = NULL;
    kc_client *client = kc_testenv_client(env);
    assert_int_equal(
        OK(kc_mutate_status(client, pod, set_phase, (void *)"Running", &now, &err), &err),
        KC_OPERATION_UPDATED);
    assert_contains(kc_object_json(now).p, "\"phase\":\"Running\"");
    assert_int_equal(
        OK(kc_mutate_status(client, now, set_phase, (void *)"Running", &again, &err), &err),
        KC_OPERATION_UNCHANGED);
}

static void update_ignores_status(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *pod = make(env, POD);
    assert_int_equal(
        OK(kc_create_or_update(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", "p"),
                               set_phase, (void *)"Running", NULL, &err),
           &err),
        KC_OPERATION_UNCHANGED);
}

/* ---- conflicts ---- */

typedef struct attempts {
    int n, fail;
    kc_reason reason;
} attempts;

static int attempt(void *user, kc_error *err)
{
    attempts *a = user;
    return ++a->n <= a->fail ? kc_error_set(err, a->reason, "not yet") : 7;
}

static void conflicts_are_retried(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    attempts a = {.fail = 3, .reason = KC_CONFLICT};
    assert_int_equal(kc_retry_on_conflict(kc_testenv_client(env), attempt, &a, NULL), 7);
    assert_int_equal(a.n, 4);
    a = (attempts){.fail = 100, .reason = KC_CONFLICT};
    kc_scoped(kc_error) err = {0};
    assert_true(kc_retry_on_conflict(kc_testenv_client(env), attempt, &a, &err) < 0);
    assert_int_equal(a.n, 5);
    a = (attempts){.fail = 100, .reason = KC_INVALID};
    assert_true(kc_retry_on_conflict(kc_testenv_client(env), attempt, &a, &err) < 0);
    assert_int_equal(a.n, 1);
}

TESTS(missing_object_is_created, unchanged_object_is_not_written, change_of_key_is_refused,
      patch_does_not_conflict_with_other_writers, status_is_written_when_it_changes,
      update_ignores_status, conflicts_are_retried)
