/* SPDX-License-Identifier: Apache-2.0 */
/* At objects: one pod each, at the scheduled time. The test ends the pods, as a node would. */
#include "reconciler_testing.h"

#include "api/demo_v1/zz_generated.h"

#include "kc/kinds.h"

static void definition(kc_testenv *env)
{
    apply_file(env, "../manifests/at/demo.wukong.com_ats.yaml");
}

/* For half a minute after the environment's start. */
static void sample(kc_testenv *env)
{
    apply_file(env, "../manifests/at/cr.yaml");
}

/* As a node would, once there is one. */
static void end_pods(kc_testenv *env)
{
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "at-one-pod");
    kc_auto(kc_view) *view = pod ? kc_view_of(pod) : NULL;
    if (!pod || kc_str_is(kc_value_as_str(kc_value_nested(kc_view_root(view), "status.phase")),
                          "Succeeded"))
        return;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *now =
        kc_client_patch(kc_testenv_client(env), &kc_kind_pod, kc_object_key(pod), KC_PATCH_MERGE,
                        KC_STR("{\"status\":{\"phase\":\"Succeeded\"}}"),
                        &(kc_write_opts){.subresource = "status"}, &err);
    OK(now ? 0 : -1, &err);
}

/* No controller deletes pods here, and there is one name: the pod was created once. */
static void assert_one_pod_was_created(kc_testenv *env)
{
    kc_scoped(kc_object_list) pods = {0};
    kc_client_list(kc_testenv_client(env), &kc_kind_pod, NULL, &pods, NULL);
    assert_int_equal(pods.n, 1);
    assert_int_equal(kc_object_generation(pods.items[0]), 1);
    assert_field_is(env, &kc_kind_pod, "at-one-pod", "metadata.labels.app", "at-one");
    assert_field_is(env, &kc_kind_pod, "at-one-pod", "spec.restartPolicy", "OnFailure");
    assert_field_is(env, &at_kind, "at-one", "status.phase", "DONE");
}

static const scenario runs = {.reconcilers = "at",
                              .before = definition,
                              .event = sample,
                              .outside = end_pods,
                              .takes = 50 * KC_SECOND,
                              .end = assert_one_pod_was_created};

static void phase_goes_from_pending_over_running_to_done(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&runs, 1);
    scenario_event(&runs, env);
    kc_testenv_advance(env, 10 * KC_SECOND);
    assert_field_is(env, &at_kind, "at-one", "status.phase", "PENDING");
    assert_null(look_up(env, &kc_kind_pod, "at-one-pod"));
    kc_testenv_advance(env, 20 * KC_SECOND);
    assert_field_is(env, &at_kind, "at-one", "status.phase", "RUNNING");
}

/* Whose clock is set, or sleeps, must not wait for what was left before. */
static void schedule_is_checked_every_minute(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&runs, 1);
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_apply(env,
                        KC_STR("{apiVersion: demo.wukong.com/v1, kind: At, metadata: {name: late, "
                               "namespace: default}, "
                               "spec: {schedule: '2036-01-02T03:04:35Z', command: 'true'}}"),
                        &err),
       &err);
    kc_testenv_advance(env, 5 * KC_MINUTE);
    kc_scoped(kc_buf) metrics = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &metrics);
    /* When it came, when its phase was written, and five times since. */
    assert_contains(kc_buf_cstr(&metrics), "reconcile_total{controller=\"at\",result=\"requeue_"
                                           "after\"} 7");
}

static void at_is_done_when_its_pod_ends(void **state)
{
    (void)state;
    scenario_converges(&runs);
}

/* A command that has begun does not begin again. */
static void deleted_pod_is_not_recreated(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&runs, 1);
    scenario_event(&runs, env);
    kc_testenv_advance(env, 40 * KC_SECOND);
    assert_field_is(env, &at_kind, "at-one", "status.phase", "RUNNING");
    assert_field_is(env, &at_kind, "at-one", "status.pod", "at-one-pod");
    kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", "at-one-pod"),
                     &(kc_delete_opts){.immediately = true}, NULL);
    kc_testenv_advance(env, 40 * KC_SECOND);
    assert_field_is(env, &at_kind, "at-one", "status.phase", "DONE");
    assert_null(look_up(env, &kc_kind_pod, "at-one-pod"));
    assert_true(count_recorded_events(env, "Lost", "was deleted before it completed") > 0);
}

static void pod_of_another_owner_is_an_error(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&runs, 1);
    kc_auto(kc_object) *other =
        make(env, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'at-one-pod','namespace':"
                  "'default'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
    scenario_event(&runs, env);
    kc_testenv_advance(env, 40 * KC_SECOND);
    assert_field_is(env, &at_kind, "at-one", "status.phase", "RUNNING");
    assert_true(count_recorded_events(env, "Failed", "is not controlled by this object") > 0);
}

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges_after_crashes(&runs);
    scenario_converges_with_stale_cache(&runs);
    scenario_converges_with_missed_events(&runs);
    scenario_converges_with_bad_network(&runs);
}

TESTS(phase_goes_from_pending_over_running_to_done, schedule_is_checked_every_minute,
      at_is_done_when_its_pod_ends, deleted_pod_is_not_recreated, pod_of_another_owner_is_an_error,
      converges_under_faults)
