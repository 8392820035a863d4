/* SPDX-License-Identifier: Apache-2.0 */
/* Robots: one deployment each. */
#include "reconciler_testing.h"

#include "api/robot_v1/zz_generated.h"

#include "kc/kinds.h"

static void definition(kc_testenv *env)
{
    apply_file(env, "../manifests/robot/robot.llleon.io_robots.yaml");
}

static void sample(kc_testenv *env)
{
    apply_file(env, "../manifests/robot/cr.yaml");
}

static void assert_has_deployment(kc_testenv *env)
{
    assert_field_is(env, &kc_kind_deployment, "robot-one", "spec.replicas", "2");
    assert_field_is(env, &kc_kind_deployment, "robot-one", "spec.selector.matchLabels",
                    "{\"app\":\"nginx\",\"controller\":\"robot-one\"}");
    kc_scoped(kc_object_list) all = {0};
    kc_client_list(kc_testenv_client(env), &kc_kind_deployment, NULL, &all, NULL);
    assert_int_equal(all.n, 1);
}

static const scenario owns = {.reconcilers = "robot",
                              .before = definition,
                              .event = sample,
                              .takes = 20 * KC_SECOND,
                              .end = assert_has_deployment};

static void robot_gets_a_deployment(void **state)
{
    (void)state;
    scenario_converges(&owns);
}

static void manual_changes_are_reverted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&owns, 1);
    scenario_event(&owns, env);
    settle(env);
    patch_object(env, &kc_kind_deployment, "robot-one", "{'spec':{'replicas':7}}");
    settle(env);
    assert_field_is(env, &kc_kind_deployment, "robot-one", "spec.replicas", "2");
    kc_client_delete(kc_testenv_client(env), &kc_kind_deployment, KC_KEY("default", "robot-one"),
                     NULL, NULL);
    settle(env);
    assert_has_deployment(env);
    patch_object(env, &robot_kind, "robot-one", "{'spec':{'replicas':3}}");
    settle(env);
    assert_field_is(env, &kc_kind_deployment, "robot-one", "spec.replicas", "3");
    assert_true(count_recorded_events(env, "Synced", "Robot synced successfully") > 0);
}

#define OF_OTHERS                                                                       \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'robot-one',"       \
    "'namespace':'default'},'spec':{'replicas':1,'selector':{'matchLabels':{'a':'b'}}," \
    "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c',"    \
    "'image':'i'}]}}}}"

static void deployment_of_another_owner_is_unchanged(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&owns, 1);
    kc_auto(kc_object) *other = make(env, OF_OTHERS);
    scenario_event(&owns, env);
    kc_testenv_advance(env, 5 * KC_SECOND);
    assert_field_is(env, &kc_kind_deployment, "robot-one", "spec.replicas", "1");
    assert_true(count_recorded_events(env, "ErrResourceExists", "is not managed by Robot") > 0);
}

/* Its definition has no status. */
static void status_is_pruned_and_changes_nothing(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&owns, 1);
    scenario_event(&owns, env);
    settle(env);
    kc_autofree char *before = text_of(env, &robot_kind, "robot-one", "metadata.resourceVersion");
    patch_object(env, &robot_kind, "robot-one", "{'status':{'availableReplicas':2}}");
    assert_field_is(env, &robot_kind, "robot-one", "metadata.resourceVersion", before);
}

/* ---- every 30 seconds ---- */

extern const kc_reconciler robot_reconciler;

static double looks_of(kc_testenv *env)
{
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    static const char row[] = "controller_runtime_reconcile_total{controller=\"robot\",result="
                              "\"success\"} ";
    const char *at = strstr(kc_buf_cstr(&text), row);
    return at ? strtod(at + strlen(row), NULL) : 0;
}

static void resync_causes_no_write(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&owns, 1);
    scenario_event(&owns, env);
    settle(env);
    const uint64_t before = kc_testenv_fingerprint(env);
    const double looks = looks_of(env);
    kc_testenv_advance(env, 5 * KC_MINUTE);
    assert_true(looks_of(env) >= looks + 10);
    assert_int_equal(kc_testenv_fingerprint(env), before);
}

/* Of a robot that hears nothing of deployments. */
static void unobserved_change_is_reverted_within_30_seconds(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_reconciler deaf = robot_reconciler;
    deaf.name = "deaf";
    deaf.owns = NULL;
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_app) *app = kc_app_new(NULL);
    OK(kc_app_add_reconciler(app, &deaf, &err), &err);
    OK(kc_app_setup(app, kc_testenv_manager(env), &err), &err);
    definition(env);
    OK(kc_testenv_run(env, &err), &err);
    sample(env);
    settle(env);
    patch_object(env, &kc_kind_deployment, "robot-one", "{'spec':{'replicas':7}}");
    settle(env);
    assert_field_is(env, &kc_kind_deployment, "robot-one", "spec.replicas", "7");
    kc_testenv_advance(env, 30 * KC_SECOND);
    settle(env);
    assert_field_is(env, &kc_kind_deployment, "robot-one", "spec.replicas", "2");
}

/* Backoff makes retries rare, and the deletion of a foreign deployment enqueues no key: after an
 * hour the next retry would be a quarter of an hour away. */
static void released_name_is_taken_within_30_seconds(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&owns, 1);
    kc_auto(kc_object) *other = make(env, OF_OTHERS);
    scenario_event(&owns, env);
    kc_testenv_advance(env, KC_HOUR);
    kc_client_delete(kc_testenv_client(env), &kc_kind_deployment, KC_KEY("default", "robot-one"),
                     NULL, NULL);
    kc_testenv_advance(env, 31 * KC_SECOND);
    assert_has_deployment(env);
}

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges_after_crashes(&owns);
    scenario_converges_with_stale_cache(&owns);
    scenario_converges_with_missed_events(&owns);
    scenario_converges_with_bad_network(&owns);
}

TESTS(robot_gets_a_deployment, manual_changes_are_reverted,
      deployment_of_another_owner_is_unchanged, status_is_pruned_and_changes_nothing,
      resync_causes_no_write, unobserved_change_is_reverted_within_30_seconds,
      released_name_is_taken_within_30_seconds, converges_under_faults)
