/* SPDX-License-Identifier: Apache-2.0 */
/* Finalizers: added, run, removed; those of others are kept. */
#include "plane_testing.h"

#include "kc/finalizer.h"

#define OURS "example.io/power"

static int clean(kc_client *client, const kc_object *object, void *user, kc_error *err)
{
    (void)client;
    (void)object;
    int *left = user;
    return --*left > 0 ? kc_error_set(err, KC_INTERNAL, "still on") : 0;
}

static void finalizer_is_held_while_the_object_lives(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_object) *map = make(env, CONFIG_MAP("a"));
    kc_scoped(kc_error) err = {0};
    int left = 1;
    kc_client *client = kc_testenv_client(env);
    assert_int_equal(kc_finalizer_step(client, &map, OURS, clean, &left, &err), KC_FINALIZER_HELD);
    assert_true(kc_object_has_finalizer(map, KC_STR(OURS)));
    uint64_t revision = kc_object_revision(map);
    assert_int_equal(kc_finalizer_step(client, &map, OURS, clean, &left, &err), KC_FINALIZER_HELD);
    assert_int_equal(kc_object_revision(map), revision);
    assert_int_equal(left, 1);
}

static void object_is_deleted_when_cleanup_is_done(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_object) *map = make(env, CONFIG_MAP("a"));
    kc_scoped(kc_error) err = {0};
    int left = 2;
    kc_client *client = kc_testenv_client(env);
    kc_finalizer_step(client, &map, OURS, clean, &left, &err);
    kc_client_delete(client, &kc_kind_config_map, kc_object_key(map), NULL, NULL);
    kc_object_unref(map);
    map = look_up(env, &kc_kind_config_map, "a");
    assert_true(kc_object_being_deleted(map));
    assert_int_equal(kc_finalizer_step(client, &map, OURS, clean, &left, &err),
                     KC_FINALIZER_FAILED);
    assert_error(&err, KC_INTERNAL, "still on");
    kc_error_done(&err);
    assert_int_equal(kc_finalizer_step(client, &map, OURS, clean, &left, &err), KC_FINALIZER_GONE);
    kc_auto(kc_object) *gone = look_up(env, &kc_kind_config_map, "a");
    assert_null(gone);
}

static void other_finalizers_are_kept(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_object) *map =
        make(env, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a',"
                  "'namespace':'default','finalizers':['their.io/a']}}");
    kc_scoped(kc_error) err = {0};
    kc_client *client = kc_testenv_client(env);
    assert_int_equal(OK(kc_finalizer_add(client, &map, OURS, &err), &err), 1);
    assert_true(kc_object_has_finalizer(map, KC_STR("their.io/a")));
    assert_int_equal(OK(kc_finalizer_remove(client, &map, OURS, &err), &err), 1);
    assert_true(kc_object_has_finalizer(map, KC_STR("their.io/a")));
    assert_int_equal(OK(kc_finalizer_remove(client, &map, OURS, &err), &err), 0);
}

static void concurrent_change_of_finalizers_is_a_conflict(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_object) *map =
        make(env, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a',"
                  "'namespace':'default','finalizers':['their.io/a','" OURS "']}}");
    kc_scoped(kc_error) err = {0};
    kc_client *client = kc_testenv_client(env);
    kc_auto(kc_object) *newer = kc_client_patch(
        client, &kc_kind_config_map, kc_object_key(map), KC_PATCH_MERGE,
        KC_STR("{\"metadata\":{\"finalizers\":[\"" OURS "\",\"their.io/b\"]}}"), NULL, &err);
    assert_non_null(newer);
    assert_true(kc_finalizer_remove(client, &map, OURS, &err) < 0);
    assert_int_equal(err.reason, KC_CONFLICT);
    kc_auto(kc_object) *now = look_up(env, &kc_kind_config_map, "a");
    assert_true(kc_object_has_finalizer(now, KC_STR("their.io/b")));
    assert_true(kc_object_has_finalizer(now, KC_STR(OURS)));
}

TESTS(finalizer_is_held_while_the_object_lives, object_is_deleted_when_cleanup_is_done,
      other_finalizers_are_kept, concurrent_change_of_finalizers_is_a_conflict)
