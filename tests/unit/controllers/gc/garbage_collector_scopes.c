/* SPDX-License-Identifier: Apache-2.0 */
/* The garbage collector across namespaces, and with kinds that are added and removed. */
#include "garbage_testing.h"

/* ---- namespaces ---- */

static kc_object *map_in(kc_testenv *env, const char *ns, const char *name,
                         const kc_object *const *owners)
{
    return make_owned(env, "v1 ConfigMap", ns, name, owners, true);
}

static bool has_map_in(kc_testenv *env, const char *ns, const char *name)
{
    kc_auto(kc_object) *found =
        kc_client_get(kc_testenv_client(env), &kc_kind_config_map, KC_KEY(ns, name), NULL, NULL);
    return found;
}

static void make_namespaces(kc_testenv *env)
{
    kc_object_unref(make(env, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'one'}}"));
    kc_object_unref(make(env, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'two'}}"));
}

static void remove_map_in(kc_testenv *env, const char *ns, const char *name)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_config_map, KC_KEY(ns, name), NULL, &err),
       &err);
}

/* The message of an event with this reason, in a namespace. NULL if there is none. */
static char *event_message(kc_testenv *env, const char *ns, const char *reason)
{
    kc_scoped(kc_object_list) events = {0};
    kc_scoped(kc_error) err = {0};
    kc_testenv_advance(env, KC_SECOND);
    OK(kc_client_list(kc_testenv_client(env), &kc_kind_event, &(kc_list_opts){.ns = ns}, &events,
                      &err),
       &err);
    for (size_t i = 0; i < events.n; i++) {
        kc_auto(kc_view) *view = kc_view_of(events.items[i]);
        const kc_value *root = kc_view_root(view);
        if (kc_str_is(kc_value_as_str(kc_value_get(root, "reason")), reason))
            return kc_str_dup(kc_value_as_str(kc_value_get(root, "message")));
    }
    return NULL;
}

static void owner_in_another_namespace_does_not_delete_the_dependent(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(1);
    make_namespaces(env);
    kc_auto(kc_object) *owner = map_in(env, "one", "owner", NO_OWNERS);
    settle(env);
    kc_auto(kc_object) *child = map_in(env, "two", "child", OWNERS(owner));
    settle(env);
    assert_true(has_map_in(env, "two", "child"));
    kc_autofree char *message = event_message(env, "two", "OwnerRefInvalidNamespace");
    kc_autofree char *expected =
        kc_asprintf("ownerRef [v1/ConfigMap, namespace: two, name: owner, uid: %.*s] does not "
                    "exist in namespace \"two\"",
                    KC_ARG(kc_object_uid(owner)));
    assert_non_null(message);
    assert_string_equal(message, expected);
    remove_map_in(env, "one", "owner");
    settle(env);
    kc_testenv_advance(env, 10 * KC_MINUTE);
    assert_true(has_map_in(env, "two", "child"));
}

static void foreign_namespace_owner_does_not_keep_dependent(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(8);
    make_namespaces(env);
    kc_auto(kc_object) *far = map_in(env, "one", "far", NO_OWNERS);
    kc_auto(kc_object) *near = map_in(env, "two", "near", NO_OWNERS);
    kc_auto(kc_object) *child = map_in(env, "two", "child", OWNERS(far, near));
    settle(env);
    assert_true(has_map_in(env, "two", "child"));
    remove_map_in(env, "two", "near");
    settle(env);
    assert_false(has_map_in(env, "two", "child"));
    assert_true(has_map_in(env, "one", "far"));
}

static void result_does_not_depend_on_observation_order(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(2);
    make_namespaces(env);
    /* The collector has not started: it lists the dependent first. */
    kc_auto(kc_object) *owner = map_in(env, "two", "owner", NO_OWNERS);
    kc_auto(kc_object) *child = map_in(env, "one", "child", OWNERS(owner));
    settle(env);
    kc_autofree char *message = event_message(env, "one", "OwnerRefInvalidNamespace");
    assert_non_null(message);
    assert_true(has_map_in(env, "one", "child"));
}

static void foreground_owner_does_not_wait_for_other_namespaces(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(3);
    kc_scoped(kc_error) err = {0};
    make_namespaces(env);
    kc_auto(kc_object) *owner = map_in(env, "one", "owner", NO_OWNERS);
    kc_auto(kc_object) *near = map_in(env, "one", "near", OWNERS(owner));
    kc_auto(kc_object) *far = map_in(env, "two", "far", OWNERS(owner));
    settle(env);
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_config_map, KC_KEY("one", "owner"),
                        &(kc_delete_opts){.propagation = "Foreground"}, &err),
       &err);
    settle(env);
    assert_false(has_map_in(env, "one", "owner"));
    assert_false(has_map_in(env, "one", "near"));
    assert_true(has_map_in(env, "two", "far"));
}

static bool has_namespace(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *found =
        kc_client_get(kc_testenv_client(env), &kc_kind_namespace, KC_KEY("", name), NULL, NULL);
    return found && !kc_object_being_deleted(found);
}

static void namespaced_owner_of_cluster_scoped_object_is_ignored(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(4);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    settle(env);
    kc_auto(kc_object) *child = make_owned(env, "v1 Namespace", "", "child", OWNERS(owner), true);
    settle(env);
    kc_autofree char *message = event_message(env, "default", "OwnerRefInvalidNamespace");
    assert_non_null(message);
    assert_contains(message, "does not exist in namespace \"\"");
    remove_map(env, "owner", "Background");
    settle(env);
    kc_testenv_advance(env, 10 * KC_MINUTE);
    assert_true(has_namespace(env, "child"));
}

static void absent_namespaced_owner_of_cluster_scoped_object_is_ignored(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(5);
    kc_auto(kc_object) *absent_owner = object_of(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'nobody','uid':'no-such'}}");
    kc_auto(kc_object) *child =
        make_owned(env, "v1 Namespace", "", "child", OWNERS(absent_owner), true);
    kc_auto(kc_object) *map_child = map(env, "map-child", OWNERS(absent_owner));
    settle(env);
    kc_testenv_advance(env, 10 * KC_MINUTE);
    assert_true(has_namespace(env, "child"));
    assert_false(has_map(env, "map-child"));
}

static void cluster_scoped_owner_has_dependents_in_all_namespaces(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(6);
    make_namespaces(env);
    kc_auto(kc_object) *owner =
        make(env, "{'apiVersion':'v1','kind':'Node','metadata':{'name':'owner'}}");
    kc_auto(kc_object) *one = map_in(env, "one", "child", OWNERS(owner));
    kc_auto(kc_object) *two = map_in(env, "two", "child", OWNERS(owner));
    settle(env);
    assert_true(has_map_in(env, "one", "child") && has_map_in(env, "two", "child"));
    assert_int_equal(
        kc_client_delete(kc_testenv_client(env), &kc_kind_node, KC_KEY("", "owner"), NULL, NULL),
        0);
    settle(env);
    assert_false(has_map_in(env, "one", "child") || has_map_in(env, "two", "child"));
}

static void absent_cluster_scoped_owner_is_looked_up_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(7);
    make_namespaces(env);
    kc_auto(kc_object) *absent_owner =
        object_of("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n','uid':'no-such'}}");
    kc_auto(kc_object) *one = map_in(env, "one", "child", OWNERS(absent_owner));
    kc_auto(kc_object) *two = map_in(env, "two", "child", OWNERS(absent_owner));
    settle(env);
    assert_false(has_map_in(env, "one", "child") || has_map_in(env, "two", "child"));
}

/* ---- added and removed kinds ---- */

static const kc_kind robot_kind = {.group = "x.example",
                                   .version = "v1",
                                   .kind = "Robot",
                                   .plural = "robots",
                                   .singular = "robot",
                                   .namespaced = true};

static void define_robots(kc_testenv *env)
{
    kc_object_unref(make(
        env, "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':"
             "{'name':'robots.x.example'},'spec':{'group':'x.example','scope':'Namespaced','names':"
             "{'kind':'Robot','plural':'robots','singular':'robot','listKind':'RobotList'},"
             "'versions':[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':"
             "{'type':'object','x-kubernetes-preserve-unknown-fields':true}}}]}}"));
    kc_testenv_advance(env, KC_SECOND);
}

static bool has_definition(kc_testenv *env)
{
    kc_auto(kc_object) *found =
        kc_client_get(kc_testenv_client(env), &kc_kind_custom_resource_definition,
                      KC_KEY("", "robots.x.example"), NULL, NULL);
    return found;
}

/* The server deletes the objects of the kind first, in the background: it cannot be defined again
 * until the definition is gone. */
static void remove_definition(kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_custom_resource_definition,
                        KC_KEY("", "robots.x.example"), NULL, &err),
       &err);
    for (int tries = 0; has_definition(env); tries++) {
        if (tries == 6000)
            fail_msg("the definition still exists after a minute");
        kc_testenv_advance(env, 10 * KC_MILLISECOND);
    }
}

static kc_object *robot(kc_testenv *env, const char *name, const kc_object *const *owners)
{
    return make_owned(env, "x.example/v1 Robot", "default", name, owners, true);
}

static void remove_robot(kc_testenv *env, const char *name, const char *propagation)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &robot_kind, KC_KEY("default", name),
                        &(kc_delete_opts){.propagation = propagation}, &err),
       &err);
}

static bool has_robot(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *found = look_up(env, &robot_kind, name);
    return found;
}

static void objects_of_later_crds_are_collected(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(11);
    settle(env);
    define_robots(env);
    kc_auto(kc_object) *owner = robot(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *part = robot(env, "part", OWNERS(owner));
    kc_auto(kc_object) *child = map(env, "child", OWNERS(part));
    settle(env);
    assert_true(has_map(env, "child"));
    remove_robot(env, "owner", "Background");
    settle(env);
    assert_false(has_robot(env, "part") || has_map(env, "child"));
}

static void custom_objects_are_released_and_waited_for(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(12);
    define_robots(env);
    kc_auto(kc_object) *one = robot(env, "one", NO_OWNERS);
    kc_auto(kc_object) *two = robot(env, "two", NO_OWNERS);
    kc_auto(kc_object) *both = robot(env, "both", OWNERS(one, two));
    kc_auto(kc_object) *orphan = robot(env, "orphan", OWNERS(two));
    settle(env);
    remove_robot(env, "one", "Foreground");
    settle(env);
    assert_false(has_robot(env, "one"));
    assert_true(has_robot(env, "both"));
    remove_robot(env, "two", "Orphan");
    settle(env);
    assert_false(has_robot(env, "two"));
    assert_true(has_robot(env, "both") && has_robot(env, "orphan"));
    kc_auto(kc_object) *after = look_up(env, &robot_kind, "orphan");
    assert_true(kc_str_empty(kc_object_owners_json(after)));
}

static void cycle_of_custom_objects_is_deleted_in_foreground(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(13);
    kc_scoped(kc_error) err = {0};
    define_robots(env);
    kc_auto(kc_object) *a = robot(env, "a", NO_OWNERS);
    kc_auto(kc_object) *b = robot(env, "b", OWNERS(a));
    kc_scoped(kc_buf) patch = {0};
    kc_buf_puts(&patch, "{\"metadata\":{\"ownerReferences\":[");
    write_owners(&patch, OWNERS(b), true);
    kc_buf_puts(&patch, "]}}");
    kc_auto(kc_object) *joined =
        kc_client_patch(kc_testenv_client(env), &robot_kind, KC_KEY("default", "a"), KC_PATCH_MERGE,
                        kc_buf_str(&patch), NULL, &err);
    assert_non_null(joined);
    settle(env);
    remove_robot(env, "a", "Foreground");
    settle(env);
    assert_false(has_robot(env, "a") || has_robot(env, "b"));
}

static void unknown_owner_kind_is_decided_when_served(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(14);
    kc_auto(kc_object) *absent_owner = object_of(
        "{'apiVersion':'x.example/v1','kind':'Robot','metadata':{'name':'r','uid':'no-such'}}");
    kc_auto(kc_object) *child = map(env, "child", OWNERS(absent_owner));
    settle(env);
    kc_testenv_advance(env, KC_HOUR);
    assert_true(has_map(env, "child"));
    define_robots(env);
    settle(env);
    assert_false(has_map(env, "child"));
}

static void deleted_crd_deletes_dependents_of_its_objects(void **state)
{
    (void)state;
    for (uint64_t seed = 21; seed < 21 + SEEDS_OF(20); seed++) {
        kc_auto(kc_testenv) *env = collected(seed);
        define_robots(env);
        kc_auto(kc_object) *owner = robot(env, "owner", NO_OWNERS);
        kc_auto(kc_object) *child = map(env, "child", OWNERS(owner));
        settle(env);
        remove_definition(env);
        settle(env);
        assert_false(has_map(env, "child"));
    }
}

static void recreated_crd_is_collected_again(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(15);
    for (int round = 0; round < 3; round++) {
        define_robots(env);
        kc_auto(kc_object) *owner = robot(env, "owner", NO_OWNERS);
        kc_auto(kc_object) *child = map(env, "child", OWNERS(owner));
        settle(env);
        assert_true(has_map(env, "child"));
        remove_robot(env, "owner", "Background");
        settle(env);
        assert_false(has_map(env, "child"));
        remove_definition(env);
        settle(env);
        kc_testenv_advance(env, (round % 2) * KC_MINUTE);
    }
}

static void serve_robots(kc_testenv *env, bool served)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *patch =
        kc_asprintf("[{\"op\":\"replace\",\"path\":\"/spec/versions/0/served\",\"value\":%s}]",
                    served ? "true" : "false");
    kc_auto(kc_object) *after =
        kc_client_patch(kc_testenv_client(env), &kc_kind_custom_resource_definition,
                        KC_KEY("", "robots.x.example"), KC_PATCH_JSON, kc_cstr(patch), NULL, &err);
    if (!after)
        fail_msg("%s", kc_error_text(&err));
}

static void temporarily_missing_kind_deletes_nothing(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(16);
    define_robots(env);
    kc_auto(kc_object) *owner = robot(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *child = map(env, "child", OWNERS(owner));
    settle(env);
    serve_robots(env, false);
    settle(env);
    kc_testenv_advance(env, KC_HOUR);
    assert_true(has_map(env, "child"));
    serve_robots(env, true);
    settle(env);
    kc_testenv_advance(env, KC_MINUTE);
    assert_true(has_robot(env, "owner") && has_map(env, "child"));
    remove_robot(env, "owner", "Background");
    settle(env);
    assert_false(has_map(env, "child"));
}

static void added_and_removed_kinds_are_collected_with_threads(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(0);
    for (int round = 0; round < 2; round++) {
        define_robots(env);
        kc_auto(kc_object) *owner = robot(env, "owner", NO_OWNERS);
        kc_auto(kc_object) *child = map(env, "child", OWNERS(owner));
        settle(env);
        remove_definition(env);
        for (int tries = 0; has_map(env, "child") && tries < 6000; tries++)
            kc_testenv_advance(env, 10 * KC_MILLISECOND);
        assert_false(has_map(env, "child"));
    }
}

/* ---- informers with a selector ---- */

static void object_that_leaves_the_selector_is_not_absent(void **state)
{
    (void)state;
    static const kc_cache_kind_opts blue = {.kind = &kc_kind_config_map, .labels = "colour=blue"};
    const kc_testenv_opts opts = {.seed = 9, .manager.cache = {.kinds = &blue, .n_kinds = 1}};
    kc_auto(kc_testenv) *env = kc_testenv_start(&opts, NULL);
    add_collector(kc_testenv_manager(env));
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *child =
        make_owned(env, "v1 Secret", "default", "child", OWNERS(owner), true);
    change_map(env, "owner", "{'metadata':{'labels':{'colour':'blue'}}}");
    settle(env);
    change_map(env, "owner", "{'metadata':{'labels':{'colour':'red'}}}");
    settle(env);
    kc_testenv_advance(env, KC_MINUTE);
    kc_auto(kc_object) *kept = look_up(env, &kc_kind_secret, "child");
    assert_non_null(kept);
    remove_map(env, "owner", "Background");
    kc_testenv_advance(env, KC_HOUR);
    kc_auto(kc_object) *gone = look_up(env, &kc_kind_secret, "child");
    assert_null(gone);
}

TESTS(owner_in_another_namespace_does_not_delete_the_dependent,
      foreign_namespace_owner_does_not_keep_dependent, result_does_not_depend_on_observation_order,
      foreground_owner_does_not_wait_for_other_namespaces,
      namespaced_owner_of_cluster_scoped_object_is_ignored,
      absent_namespaced_owner_of_cluster_scoped_object_is_ignored,
      cluster_scoped_owner_has_dependents_in_all_namespaces,
      absent_cluster_scoped_owner_is_looked_up_once, objects_of_later_crds_are_collected,
      custom_objects_are_released_and_waited_for, cycle_of_custom_objects_is_deleted_in_foreground,
      unknown_owner_kind_is_decided_when_served, deleted_crd_deletes_dependents_of_its_objects,
      recreated_crd_is_collected_again, temporarily_missing_kind_deletes_nothing,
      added_and_removed_kinds_are_collected_with_threads,
      object_that_leaves_the_selector_is_not_absent)
