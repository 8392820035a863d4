/* SPDX-License-Identifier: Apache-2.0 */
/* The quota controller: usage of new quotas, after deletions, and of new kinds. */
#include "scenario_testing.h"

static const kc_kind quota_kind = {.version = "v1",
                                   .kind = "ResourceQuota",
                                   .plural = "resourcequotas",
                                   .singular = "resourcequota",
                                   .namespaced = true};

static void make_quota(kc_testenv *env, const char *spec)
{
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'v1','kind':'ResourceQuota','metadata':{'name':'q',"
                    "'namespace':'default'},'spec':{%s}}",
                    spec);
    kc_auto(kc_object) *made = make(env, json);
}

static void make_pod(kc_testenv *env, const char *name, const char *spec)
{
    kc_autofree char *json = kc_asprintf(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default'},'spec':"
        "{'containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'500m'}}}]%s}}",
        name, spec);
    kc_auto(kc_object) *made = make(env, json);
}

static void assert_quota_status(kc_testenv *env, const char *member, const char *expected)
{
    kc_auto(kc_object) *quota = look_up(env, &quota_kind, "q");
    kc_auto(kc_view) *view = kc_view_of(quota);
    assert_value_json(kc_value_get(kc_value_get(kc_view_root(view), "status"), member), expected);
}

static void delete_pod(kc_testenv *env, const char *name)
{
    assert_int_equal(kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", name),
                                      &(kc_delete_opts){.immediately = true}, NULL),
                     0);
}

static const scenario quotas = {.controllers = {.names = "resourcequota", .workers = 2},
                                .takes = 20 * KC_SECOND};

static void new_quota_counts_existing_objects(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    scenario_add(&quotas, kc_testenv_manager(env));
    make_pod(env, "a", "");
    make_pod(env, "b", ",'activeDeadlineSeconds':60");
    make_quota(env, "'hard':{'pods':'5','requests.cpu':'2','count/pods':'7','secrets':'1',"
                    "'x.io/unknown':'3'}");
    settle(env);
    assert_quota_status(env, "hard",
                        "{\"count/pods\":\"7\",\"pods\":\"5\",\"requests.cpu\":\"2\","
                        "\"secrets\":\"1\",\"x.io/unknown\":\"3\"}");
    assert_quota_status(env, "used",
                        "{\"count/pods\":\"2\",\"pods\":\"2\",\"requests.cpu\":\"1\","
                        "\"secrets\":\"0\"}");
}

static void quota_with_scopes_counts_objects_in_them(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    scenario_add(&quotas, kc_testenv_manager(env));
    make_pod(env, "a", "");
    make_pod(env, "b", ",'activeDeadlineSeconds':60");
    make_quota(env, "'hard':{'pods':'5'},'scopes':['Terminating']");
    settle(env);
    assert_quota_status(env, "used", "{\"pods\":\"1\"}");
}

static void deletion_frees_quota(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    scenario_add(&quotas, kc_testenv_manager(env));
    make_quota(env, "'hard':{'pods':'1'}");
    settle(env);
    make_pod(env, "a", "");
    assert_quota_status(env, "used", "{\"pods\":\"1\"}");
    settle(env);
    delete_pod(env, "a");
    settle(env);
    kc_testenv_advance(env, KC_SECOND);
    assert_quota_status(env, "used", "{\"pods\":\"0\"}");
    make_pod(env, "b", "");
    assert_quota_status(env, "used", "{\"pods\":\"1\"}");
}

static void ended_pod_frees_quota(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    scenario_add(&quotas, kc_testenv_manager(env));
    make_quota(env, "'hard':{'pods':'1','count/pods':'9'}");
    settle(env);
    make_pod(env, "a", "");
    settle(env);
    kc_auto(kc_object) *ended =
        kc_client_patch(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", "a"),
                        KC_PATCH_MERGE, KC_STR("{\"status\":{\"phase\":\"Succeeded\"}}"),
                        &(kc_write_opts){.subresource = "status"}, NULL);
    assert_non_null(ended);
    kc_testenv_advance(env, KC_SECOND);
    settle(env);
    assert_quota_status(env, "used", "{\"count/pods\":\"1\",\"pods\":\"0\"}");
}

static void new_limits_are_in_the_status(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    scenario_add(&quotas, kc_testenv_manager(env));
    make_quota(env, "'hard':{'pods':'1'}");
    settle(env);
    kc_auto(kc_object) *changed = kc_client_patch(
        kc_testenv_client(env), &quota_kind, KC_KEY("default", "q"), KC_PATCH_MERGE,
        KC_STR("{\"spec\":{\"hard\":{\"pods\":\"3\",\"secrets\":\"4\"}}}"), NULL, NULL);
    assert_non_null(changed);
    settle(env);
    assert_quota_status(env, "hard", "{\"pods\":\"3\",\"secrets\":\"4\"}");
    assert_quota_status(env, "used", "{\"pods\":\"0\",\"secrets\":\"0\"}");
}

static void new_kind_is_counted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    scenario_add(&quotas, kc_testenv_manager(env));
    make_quota(env, "'hard':{'count/robots.x.io':'3'}");
    settle(env);
    assert_quota_status(env, "used", "null");
    kc_auto(kc_object) *definition = make(
        env, "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':"
             "{'name':'robots.x.io'},'spec':{'group':'x.io','scope':'Namespaced','names':{'plural':"
             "'robots','kind':'Robot'},'versions':[{'name':'v1','served':true,'storage':true,"
             "'schema':{'openAPIV3Schema':{'type':'object'}}}]}}");
    kc_testenv_advance(env, 5 * KC_SECOND);
    settle(env);
    assert_quota_status(env, "used", "{\"count/robots.x.io\":\"0\"}");
    kc_auto(kc_object) *robot = make(env, "{'apiVersion':'x.io/v1','kind':'Robot','metadata':"
                                          "{'name':'r','namespace':'default'}}");
    assert_quota_status(env, "used", "{\"count/robots.x.io\":\"1\"}");
}

/* ---- faults ---- */

static void make_full_namespace(kc_testenv *env)
{
    make_quota(env, "'hard':{'pods':'4'}");
    make_pod(env, "a", "");
    make_pod(env, "b", "");
}

static void replace_pods(kc_testenv *env)
{
    delete_pod(env, "a");
    make_pod(env, "c", "");
}

static void assert_two_pods_are_charged(kc_testenv *env)
{
    assert_quota_status(env, "used", "{\"pods\":\"2\"}");
}

static const scenario replacement = {.controllers = {.names = "resourcequota", .workers = 2},
                                     .before = make_full_namespace,
                                     .event = replace_pods,
                                     .takes = 10 * KC_MINUTE,
                                     .end = assert_two_pods_are_charged};

static void usage_is_exact_after_faults(void **state)
{
    (void)state;
    scenario_converges(&replacement);
    scenario_converges_after_crashes(&replacement);
    scenario_converges_with_stale_cache(&replacement);
    scenario_converges_with_missed_events(&replacement);
    scenario_converges_with_bad_network(&replacement);
}

TESTS(new_quota_counts_existing_objects, quota_with_scopes_counts_objects_in_them,
      deletion_frees_quota, ended_pod_frees_quota, new_limits_are_in_the_status,
      new_kind_is_counted, usage_is_exact_after_faults)
