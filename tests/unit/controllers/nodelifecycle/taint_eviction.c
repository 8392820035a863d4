/* SPDX-License-Identifier: Apache-2.0 */
/* Eviction of pods that do not tolerate the taints of their node. */
#include "nodes_testing.h"

#define FOR_EVER ",'tolerations':[{'operator':'Exists'}]"
#define TEN \
    ",'tolerations':[{'key':'fire','operator':'Exists','effect':'NoExecute','tolerationSeconds':10}]"
#define NO_TIME \
    ",'tolerations':[{'key':'fire','operator':'Exists','effect':'NoExecute','tolerationSeconds':-1}]"
#define BY_VALUE  ",'tolerations':[{'key':'fire','value':'small','effect':'NoExecute'}]"
#define OTHER_KEY ",'tolerations':[{'key':'water','operator':'Exists'}]"
#define LATER     ",'tolerations':[{'key':'fire','effect':'NoSchedule','operator':'Exists'}]"

/* Both renew their leases, so that nothing but the test's taint is there. */
static void both_renew(kc_testenv *env)
{
    if (kc_clock_now(kc_testenv_clock(env)) / KC_SECOND % 10 == 0) {
        renew(env, "a");
        renew(env, "b");
    }
}

static void two_nodes(kc_testenv *env)
{
    make_good_node(env, "a");
    make_good_node(env, "b");
}

static const scenario plain = {.controllers = {.names = "nodelifecycle", .workers = 2},
                               .before = two_nodes,
                               .outside = both_renew};

static void taint(kc_testenv *env, const char *effect)
{
    kc_autofree char *json =
        kc_asprintf("{'spec':{'taints':[{'key':'fire','value':'small','effect':'%s'}]}}", effect);
    patch(env, &kc_kind_node, "a", json);
}

static bool is_leaving(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, name);
    return !pod || kc_object_being_deleted(pod);
}

static void pods_without_toleration_are_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&plain, 1);
    make_pod(env, "plain", "a");
    make_pod(env, "elsewhere", "b");
    make_pod_with(env, "for-ever", "a", "", FOR_EVER);
    make_pod_with(env, "no-time", "a", "", NO_TIME);
    make_pod_with(env, "by-value", "a", "", BY_VALUE);
    make_pod_with(env, "other-key", "a", "", OTHER_KEY);
    make_pod_with(env, "later", "a", "", LATER);
    taint(env, "NoExecute");
    scenario_advance(&plain, env, 2 * KC_SECOND);
    assert_true(is_leaving(env, "plain"));
    assert_true(is_leaving(env, "no-time"));
    assert_true(is_leaving(env, "other-key"));
    assert_true(is_leaving(env, "later"));
    assert_false(is_leaving(env, "elsewhere"));
    assert_false(is_leaving(env, "for-ever"));
    assert_false(is_leaving(env, "by-value"));
}

static void eviction_sets_disruption_target_and_event(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&plain, 1);
    make_pod_with(env, "plain", "a", STUCK, "");
    taint(env, "NoExecute");
    scenario_advance(&plain, env, 2 * KC_SECOND);
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "plain");
    kc_scoped(kc_arena) arena = {0};
    kc_condition c;
    assert_true(kc_condition_get(pod, KC_STR("DisruptionTarget"), &arena, &c));
    assert_str(c.status, "True");
    assert_str(c.reason, "DeletionByTaintManager");
    assert_str(c.message, "Taint manager: deleting due to NoExecute taint");
    assert_int_equal(
        count_events(env, "TaintManagerEviction", "Marking for deletion Pod default/plain"), 1);
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    assert_contains(kc_buf_cstr(&text), "taint_eviction_controller_pod_deletions_total 1\n");
}

static void other_taint_effects_evict_no_pod(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&plain, 1);
    make_pod(env, "plain", "a");
    taint(env, "NoSchedule");
    scenario_advance(&plain, env, 20 * KC_SECOND);
    assert_false(is_leaving(env, "plain"));
}

static void toleration_seconds_delay_the_eviction(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&plain, 1);
    make_pod_with(env, "ten", "a", "", TEN);
    taint(env, "NoExecute");
    scenario_advance(&plain, env, 9 * KC_SECOND);
    assert_false(is_leaving(env, "ten"));
    scenario_advance(&plain, env, 3 * KC_SECOND);
    assert_true(is_leaving(env, "ten"));
}

static void taint_removed_in_time_cancels_eviction(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&plain, 1);
    make_pod_with(env, "ten", "a", "", TEN);
    taint(env, "NoExecute");
    scenario_advance(&plain, env, 6 * KC_SECOND);
    patch(env, &kc_kind_node, "a", "{'spec':{'taints':null}}");
    scenario_advance(&plain, env, 20 * KC_SECOND);
    assert_false(is_leaving(env, "ten"));
    assert_int_equal(
        count_events(env, "TaintManagerEviction", "Cancelling deletion of Pod default/ten"), 1);
    taint(env, "NoExecute");
    scenario_advance(&plain, env, 6 * KC_SECOND);
    assert_false(is_leaving(env, "ten"));
    scenario_advance(&plain, env, 6 * KC_SECOND);
    assert_true(is_leaving(env, "ten"));
}

static void pod_bound_to_tainted_node_is_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&plain, 1);
    taint(env, "NoExecute");
    scenario_advance(&plain, env, 5 * KC_SECOND);
    make_pod(env, "plain", "a");
    scenario_advance(&plain, env, 2 * KC_SECOND);
    assert_true(is_leaving(env, "plain"));
}

static void changed_toleration_seconds_move_the_eviction(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = scenario_begin(&plain, 1);
    make_pod_with(env, "ten", "a", "", TEN);
    taint(env, "NoExecute");
    scenario_advance(&plain, env, 5 * KC_SECOND);
    kc_auto(kc_object) *now = kc_client_patch(
        kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", "ten"), KC_PATCH_JSON,
        KC_STR("[{\"op\":\"replace\",\"path\":\"/spec/tolerations/0/"
               "tolerationSeconds\",\"value\":30}]"),
        NULL, &err);
    OK(now ? 0 : -1, &err);
    scenario_advance(&plain, env, 20 * KC_SECOND);
    assert_false(is_leaving(env, "ten"));
    scenario_advance(&plain, env, 8 * KC_SECOND);
    assert_true(is_leaving(env, "ten"));
}

/* ---- lost node ---- */

static bool lost_is_alive;

static void create_node_to_be_lost(kc_testenv *env)
{
    lost_is_alive = true;
    two_nodes(env);
    make_pod(env, "web", "a");
    make_pod_with(env, "patient", "a", "", FOR_EVER);
    make_pod(env, "safe", "b");
}

static void stop_node(kc_testenv *env)
{
    (void)env;
    lost_is_alive = false;
}

static void renew_live_nodes(kc_testenv *env)
{
    if (kc_clock_now(kc_testenv_clock(env)) / KC_SECOND % 10)
        return;
    if (lost_is_alive)
        renew(env, "a");
    renew(env, "b");
}

static void assert_pods_are_evicted(kc_testenv *env)
{
    assert_true(is_leaving(env, "web"));
    assert_false(is_leaving(env, "patient"));
    assert_false(is_leaving(env, "safe"));
}

static const scenario lost = {
    .controllers = {.names = "nodelifecycle", .workers = 2},
    .before = create_node_to_be_lost,
    .event = stop_node,
    .outside = renew_live_nodes,
    .takes = 420 * KC_SECOND,
    .end = assert_pods_are_evicted,
};

static void pods_of_lost_node_are_evicted_after_five_minutes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&lost, 1);
    scenario_event(&lost, env);
    scenario_advance(&lost, env, 320 * KC_SECOND);
    assert_false(is_leaving(env, "web"));
    scenario_advance(&lost, env, 30 * KC_SECOND);
    assert_pods_are_evicted(env);
}

static void pods_of_returned_node_stay(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&lost, 1);
    scenario_event(&lost, env);
    scenario_advance(&lost, env, 200 * KC_SECOND);
    lost_is_alive = true;
    beat(env, "a", "True");
    scenario_advance(&lost, env, 300 * KC_SECOND);
    assert_false(is_leaving(env, "web"));
    assert_int_equal(
        count_events(env, "TaintManagerEviction", "Cancelling deletion of Pod default/web"), 1);
}

static void works_with_real_clock_and_threads(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&plain, 0);
    make_pod(env, "plain", "a");
    make_pod_with(env, "for-ever", "a", "", FOR_EVER);
    taint(env, "NoExecute");
    for (int i = 0; i < 2000 && !is_leaving(env, "plain"); i++)
        kc_testenv_advance(env, 50 * KC_MILLISECOND);
    assert_true(is_leaving(env, "plain"));
    assert_false(is_leaving(env, "for-ever"));
}

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges_after_crashes(&lost);
    scenario_converges_with_stale_cache(&lost);
    scenario_converges_with_missed_events(&lost);
    scenario_converges_with_bad_network(&lost);
}

TESTS(pods_without_toleration_are_deleted, eviction_sets_disruption_target_and_event,
      other_taint_effects_evict_no_pod, toleration_seconds_delay_the_eviction,
      taint_removed_in_time_cancels_eviction, pod_bound_to_tainted_node_is_deleted,
      changed_toleration_seconds_move_the_eviction,
      pods_of_lost_node_are_evicted_after_five_minutes, pods_of_returned_node_stay,
      converges_under_faults, works_with_real_clock_and_threads)
