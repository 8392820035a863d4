/* SPDX-License-Identifier: Apache-2.0 */
/* Robots: a deployment each. */
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

static void it_has_its_deployment(kc_testenv *env)
{
    assert_says(env, &kc_kind_deployment, "robot-one", "spec.replicas", "2");
    assert_says(env, &kc_kind_deployment, "robot-one", "spec.selector.matchLabels",
                "{\"app\":\"nginx\",\"controller\":\"robot-one\"}");
    kc_scoped(kc_objects) all = {0};
    kc_client_list(kc_testenv_client(env), &kc_kind_deployment, NULL, &all, NULL);
    assert_int_equal(all.n, 1);
}

static const story owns = {.reconcilers = "robot",
                           .before = definition,
                           .event = sample,
                           .takes = 20 * KC_SECOND,
                           .end = it_has_its_deployment};

static void it_gets_its_deployment(void **state)
{
    (void)state;
    it_ends_well(&owns);
}

static void what_is_done_by_hand_is_put_right(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&owns, 1);
    story_event(&owns, env);
    settle(env);
    patch_it(env, &kc_kind_deployment, "robot-one", "{'spec':{'replicas':7}}");
    settle(env);
    assert_says(env, &kc_kind_deployment, "robot-one", "spec.replicas", "2");
    kc_client_delete(kc_testenv_client(env), &kc_kind_deployment, KC_KEY("default", "robot-one"),
                     NULL, NULL);
    settle(env);
    it_has_its_deployment(env);
    patch_it(env, &robot_kind, "robot-one", "{'spec':{'replicas':3}}");
    settle(env);
    assert_says(env, &kc_kind_deployment, "robot-one", "spec.replicas", "3");
    assert_true(events_told(env, "Synced", "Robot synced successfully") > 0);
}

#define OF_OTHERS                                                                       \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'robot-one',"       \
    "'namespace':'default'},'spec':{'replicas':1,'selector':{'matchLabels':{'a':'b'}}," \
    "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c',"    \
    "'image':'i'}]}}}}"

static void a_deployment_of_others_is_left_alone(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&owns, 1);
    kc_auto(kc_object) *other = make(env, OF_OTHERS);
    story_event(&owns, env);
    kc_testenv_advance(env, 5 * KC_SECOND);
    assert_says(env, &kc_kind_deployment, "robot-one", "spec.replicas", "1");
    assert_true(events_told(env, "ErrResourceExists", "is not managed by Robot") > 0);
}

/* Its definition has no status. */
static void a_status_is_pruned_and_changes_nothing(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&owns, 1);
    story_event(&owns, env);
    settle(env);
    kc_autofree char *before = text_of(env, &robot_kind, "robot-one", "metadata.resourceVersion");
    patch_it(env, &robot_kind, "robot-one", "{'status':{'availableReplicas':2}}");
    assert_says(env, &robot_kind, "robot-one", "metadata.resourceVersion", before);
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

static void looking_again_costs_no_write(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&owns, 1);
    story_event(&owns, env);
    settle(env);
    const uint64_t before = kc_testenv_fingerprint(env);
    const double looks = looks_of(env);
    kc_testenv_advance(env, 5 * KC_MINUTE);
    assert_true(looks_of(env) >= looks + 10);
    assert_int_equal(kc_testenv_fingerprint(env), before);
}

/* Of a robot that hears nothing of deployments. */
static void what_nobody_told_of_is_put_right_within_30_seconds(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_reconciler deaf = robot_reconciler;
    deaf.name = "deaf";
    deaf.owns = NULL;
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_app) *app = kc_app_new(NULL);
    OK(kc_app_with(app, &deaf, &err), &err);
    OK(kc_app_setup(app, kc_testenv_manager(env), &err), &err);
    definition(env);
    OK(kc_testenv_run(env, &err), &err);
    sample(env);
    settle(env);
    patch_it(env, &kc_kind_deployment, "robot-one", "{'spec':{'replicas':7}}");
    settle(env);
    assert_says(env, &kc_kind_deployment, "robot-one", "spec.replicas", "7");
    kc_testenv_advance(env, 30 * KC_SECOND);
    settle(env);
    assert_says(env, &kc_kind_deployment, "robot-one", "spec.replicas", "2");
}

/* It is tried again ever more seldom, and nobody tells a robot of a deployment that is not its own:
 * after an hour a try would be a quarter of an hour away. */
static void a_name_that_becomes_free_is_taken_within_30_seconds(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&owns, 1);
    kc_auto(kc_object) *other = make(env, OF_OTHERS);
    story_event(&owns, env);
    kc_testenv_advance(env, KC_HOUR);
    kc_client_delete(kc_testenv_client(env), &kc_kind_deployment, KC_KEY("default", "robot-one"),
                     NULL, NULL);
    kc_testenv_advance(env, 31 * KC_SECOND);
    it_has_its_deployment(env);
}

static void it_survives_everything(void **state)
{
    (void)state;
    it_survives_a_crash_after_any_write(&owns);
    it_survives_a_stale_cache(&owns);
    it_survives_missed_events(&owns);
    it_survives_a_bad_network(&owns);
}

TESTS(it_gets_its_deployment, what_is_done_by_hand_is_put_right,
      a_deployment_of_others_is_left_alone, a_status_is_pruned_and_changes_nothing,
      looking_again_costs_no_write, what_nobody_told_of_is_put_right_within_30_seconds,
      a_name_that_becomes_free_is_taken_within_30_seconds, it_survives_everything)
