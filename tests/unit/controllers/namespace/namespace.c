/* SPDX-License-Identifier: Apache-2.0 */
/* Terminating namespaces: emptied, and then finalized. */
#include "scenario_testing.h"

#include "kc/conditions.h"
#include "kc/view.h"
#include "kc/wait.h"

static const kc_kind robot_kind = {.group = "example.com",
                                   .version = "v1",
                                   .kind = "Robot",
                                   .plural = "robots",
                                   .singular = "robot",
                                   .namespaced = true};

#define CRD                                                                                   \
    "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':"   \
    "{'name':'robots.example.com'},'spec':{'group':'example.com','scope':'Namespaced',"       \
    "'names':{'plural':'robots','singular':'robot','kind':'Robot'},'versions':[{'name':'v1'," \
    "'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"              \
    "'x-kubernetes-preserve-unknown-fields':true}}}]}}"
#define IN_FULL(version, kind, name, meta, more)                              \
    "{'apiVersion':'" version "','kind':'" kind "','metadata':{'name':'" name \
    "','namespace':'full'" meta "}" more "}"
#define MAP(name, meta) IN_FULL("v1", "ConfigMap", name, meta, "")

static kc_object *in_full(kc_testenv *env, const kc_kind *kind, const char *name)
{
    return kc_client_get(kc_testenv_client(env), kind, KC_KEY("full", name), NULL, NULL);
}

static kc_object *look_up_namespace(kc_testenv *env)
{
    return kc_client_get(kc_testenv_client(env), &kc_kind_namespace, KC_KEY(NULL, "full"), NULL,
                         NULL);
}

static void put(kc_testenv *env, const char *json)
{
    kc_auto(kc_object) *made = make(env, json);
}

static void define_robots(kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    put(env, CRD);
    OK(kc_wait_for(kc_testenv_client(env), &kc_kind_custom_resource_definition,
                   KC_KEY(NULL, "robots.example.com"), kc_until_condition, "Established", KC_MINUTE,
                   NULL, &err),
       &err);
}

static void create_full_namespace(kc_testenv *env)
{
    define_robots(env);
    put(env, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'full'}}");
    put(env, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'other'}}");
    put(env, MAP("map", ""));
    put(env, IN_FULL("v1", "Secret", "secret", "", ""));
    put(env, IN_FULL("example.com/v1", "Robot", "robot", "", ""));
    put(env,
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'map','namespace':'other'}}");
}

static void delete_namespace(kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_namespace, KC_KEY(NULL, "full"), NULL,
                        &err),
       &err);
}

static void assert_namespace_is_gone(kc_testenv *env)
{
    kc_auto(kc_object) *ns = look_up_namespace(env);
    kc_auto(kc_object) *map = in_full(env, &kc_kind_config_map, "map");
    kc_auto(kc_object) *secret = in_full(env, &kc_kind_secret, "secret");
    kc_auto(kc_object) *robot = in_full(env, &robot_kind, "robot");
    kc_auto(kc_object) *other = kc_client_get(kc_testenv_client(env), &kc_kind_config_map,
                                              KC_KEY("other", "map"), NULL, NULL);
    assert_null(ns);
    assert_null(map);
    assert_null(secret);
    assert_null(robot);
    assert_non_null(other);
}

static const scenario deleted = {
    .controllers = {.names = "namespace", .workers = 2},
    .before = create_full_namespace,
    .event = delete_namespace,
    .takes = KC_MINUTE,
    .end = assert_namespace_is_gone,
};

static void terminating_namespace_is_emptied_and_deleted(void **state)
{
    (void)state;
    scenario_converges(&deleted);
}

static void purge_starts_after_five_seconds(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&deleted, 1);
    scenario_event(&deleted, env);
    scenario_advance(&deleted, env, 4 * KC_SECOND);
    kc_auto(kc_object) *map = in_full(env, &kc_kind_config_map, "map");
    assert_non_null(map);
    scenario_advance(&deleted, env, 2 * KC_SECOND);
    assert_namespace_is_gone(env);
}

static void assert_condition(kc_testenv *env, const char *type, const char *status,
                             const char *reason, const char *message)
{
    kc_scoped(kc_arena) arena = {0};
    kc_condition condition;
    kc_auto(kc_object) *ns = look_up_namespace(env);
    assert_true(kc_condition_get(ns, kc_cstr(type), &arena, &condition));
    assert_str(condition.status, status);
    assert_str(condition.reason, reason);
    assert_str(condition.message, message);
}

static void release(kc_testenv *env, const kc_kind *kind, const char *name)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *now =
        kc_client_patch(kc_testenv_client(env), kind, KC_KEY("full", name), KC_PATCH_MERGE,
                        KC_STR("{\"metadata\":{\"finalizers\":null}}"), NULL, &err);
    OK(now ? 0 : -1, &err);
}

static void conditions_list_objects_with_finalizers(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&deleted, 1);
    put(env, MAP("stuck", ",'finalizers':['example.com/a']"));
    put(env, MAP("stuck-too", ",'finalizers':['example.com/a','example.com/b']"));
    scenario_event(&deleted, env);
    scenario_advance(&deleted, env, KC_MINUTE);
    assert_condition(env, "NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered",
                     "All resources successfully discovered");
    assert_condition(env, "NamespaceDeletionGroupVersionParsingFailure", "False",
                     "ParsedGroupVersions", "All legacy kube types successfully parsed");
    assert_condition(env, "NamespaceDeletionContentFailure", "False", "ContentDeleted",
                     "All content successfully deleted, may be waiting on finalization");
    assert_condition(env, "NamespaceContentRemaining", "True", "SomeResourcesRemain",
                     "Some resources are remaining: configmaps. has 2 resource instances");
    assert_condition(env, "NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain",
                     "Some content in the namespace has finalizers remaining: example.com/a in 2 "
                     "resource instances, example.com/b in 1 resource instances");
    release(env, &kc_kind_config_map, "stuck");
    release(env, &kc_kind_config_map, "stuck-too");
    scenario_advance(&deleted, env, 15 * KC_SECOND);
    assert_namespace_is_gone(env);
}

static void pods_are_deleted_before_other_resources(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&deleted, 1);
    put(env, IN_FULL("v1", "Pod", "web", "",
                     ",'spec':{'nodeName':'n','containers':[{'name':'c','image':'i'}],"
                     "'terminationGracePeriodSeconds':40}"));
    scenario_event(&deleted, env);
    scenario_advance(&deleted, env, 10 * KC_SECOND);
    kc_auto(kc_object) *pod = in_full(env, &kc_kind_pod, "web");
    kc_auto(kc_object) *map = in_full(env, &kc_kind_config_map, "map");
    assert_true(kc_object_being_deleted(pod));
    assert_false(kc_object_being_deleted(map));
    assert_condition(env, "NamespaceContentRemaining", "True", "SomeResourcesRemain",
                     "Some resources are remaining: pods. has 1 resource instances");
    kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("full", "web"),
                     &(kc_delete_opts){.immediately = true}, NULL);
    scenario_advance(&deleted, env, 25 * KC_SECOND);
    assert_namespace_is_gone(env);
}

static void pod_past_grace_period_is_a_purge_failure(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&deleted, 1);
    put(env, IN_FULL("v1", "Pod", "web", "",
                     ",'spec':{'nodeName':'n','containers':[{'name':'c','image':'i'}]}"));
    scenario_event(&deleted, env);
    scenario_advance(&deleted, env, KC_MINUTE);
    assert_condition(env, "NamespaceDeletionContentFailure", "True", "ContentDeletionFailed",
                     "Failed to delete all resource types, 1 remaining: unexpected items still "
                     "remain in namespace: full for gvr: /v1, Resource=pods");
}

static void put_finalizers(kc_testenv *env, const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_autofree char *body = kc_asprintf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"full\"},"
        "\"spec\":{\"finalizers\":%s}}",
        json);
    OK(kc_client_raw(kc_testenv_client(env), "PUT", KC_STR("/api/v1/namespaces/full/finalize"),
                     KC_STR("application/json"), kc_cstr(body), &out, &err),
       &err);
}

static void foreign_finalizers_keep_the_namespace(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&deleted, 1);
    put_finalizers(env, "[\"example.com/mine\",\"kubernetes\"]");
    scenario_event(&deleted, env);
    scenario_advance(&deleted, env, 20 * KC_SECOND);
    kc_auto(kc_object) *ns = look_up_namespace(env);
    assert_non_null(ns);
    kc_auto(kc_view) *view = kc_view_of(ns);
    assert_value_json(kc_value_nested(kc_view_root(view), "spec.finalizers"),
                      "[\"example.com/mine\"]");
    assert_condition(env, "NamespaceContentRemaining", "False", "ContentRemoved",
                     "All content successfully removed");
    put_finalizers(env, "[]");
    scenario_advance(&deleted, env, KC_SECOND);
    assert_namespace_is_gone(env);
}

static void active_namespace_is_unchanged(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&deleted, 1);
    scenario_advance(&deleted, env, 20 * KC_SECOND);
    kc_auto(kc_object) *map = in_full(env, &kc_kind_config_map, "map");
    assert_non_null(map);
}

static void unchanged_state_causes_no_writes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&deleted, 1);
    put(env, MAP("stuck", ",'finalizers':['example.com/a']"));
    scenario_event(&deleted, env);
    scenario_advance(&deleted, env, KC_MINUTE);
    kc_auto(kc_object) *then = look_up_namespace(env);
    scenario_advance(&deleted, env, 5 * KC_MINUTE);
    kc_auto(kc_object) *now = look_up_namespace(env);
    assert_true(kc_object_revision(then) == kc_object_revision(now));
}

static void works_with_real_clock_and_threads(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&deleted, 0);
    delete_namespace(env);
    bool there = true;
    for (int i = 0; i < 600 && there; i++) {
        kc_testenv_advance(env, 50 * KC_MILLISECOND);
        kc_auto(kc_object) *ns = look_up_namespace(env);
        there = ns;
    }
    assert_namespace_is_gone(env);
}

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges_after_crashes(&deleted);
    scenario_converges_with_stale_cache(&deleted);
    scenario_converges_with_missed_events(&deleted);
    scenario_converges_with_bad_network(&deleted);
}

TESTS(terminating_namespace_is_emptied_and_deleted, purge_starts_after_five_seconds,
      conditions_list_objects_with_finalizers, pods_are_deleted_before_other_resources,
      pod_past_grace_period_is_a_purge_failure, foreign_finalizers_keep_the_namespace,
      active_namespace_is_unchanged, unchanged_state_causes_no_writes, converges_under_faults,
      works_with_real_clock_and_threads)
