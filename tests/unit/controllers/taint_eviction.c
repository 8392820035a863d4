/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that do not tolerate what their node has become. */
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

static const story plain = {.controllers = {.names = "nodelifecycle", .workers = 2},
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

static void pods_that_do_not_tolerate_a_taint_are_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&plain, 1);
    make_pod(env, "plain", "a");
    make_pod(env, "elsewhere", "b");
    make_pod_with(env, "for-ever", "a", "", FOR_EVER);
    make_pod_with(env, "no-time", "a", "", NO_TIME);
    make_pod_with(env, "by-value", "a", "", BY_VALUE);
    make_pod_with(env, "other-key", "a", "", OTHER_KEY);
    make_pod_with(env, "later", "a", "", LATER);
    taint(env, "NoExecute");
    story_pass(&plain, env, 2 * KC_SECOND);
    assert_true(is_leaving(env, "plain"));
    assert_true(is_leaving(env, "no-time"));
    assert_true(is_leaving(env, "other-key"));
    assert_true(is_leaving(env, "later"));
    assert_false(is_leaving(env, "elsewhere"));
    assert_false(is_leaving(env, "for-ever"));
    assert_false(is_leaving(env, "by-value"));
}

static void why_they_were_is_said(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&plain, 1);
    make_pod_with(env, "plain", "a", STUCK, "");
    taint(env, "NoExecute");
    story_pass(&plain, env, 2 * KC_SECOND);
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

static void other_effects_delete_nobody(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&plain, 1);
    make_pod(env, "plain", "a");
    taint(env, "NoSchedule");
    story_pass(&plain, env, 20 * KC_SECOND);
    assert_false(is_leaving(env, "plain"));
}

static void a_pod_may_tolerate_a_taint_for_a_while(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&plain, 1);
    make_pod_with(env, "ten", "a", "", TEN);
    taint(env, "NoExecute");
    story_pass(&plain, env, 9 * KC_SECOND);
    assert_false(is_leaving(env, "ten"));
    story_pass(&plain, env, 3 * KC_SECOND);
    assert_true(is_leaving(env, "ten"));
}

static void a_taint_that_goes_in_time_harms_nobody(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&plain, 1);
    make_pod_with(env, "ten", "a", "", TEN);
    taint(env, "NoExecute");
    story_pass(&plain, env, 6 * KC_SECOND);
    patch(env, &kc_kind_node, "a", "{'spec':{'taints':null}}");
    story_pass(&plain, env, 20 * KC_SECOND);
    assert_false(is_leaving(env, "ten"));
    assert_int_equal(
        count_events(env, "TaintManagerEviction", "Cancelling deletion of Pod default/ten"), 1);
    taint(env, "NoExecute");
    story_pass(&plain, env, 6 * KC_SECOND);
    assert_false(is_leaving(env, "ten"));
    story_pass(&plain, env, 6 * KC_SECOND);
    assert_true(is_leaving(env, "ten"));
}

static void a_pod_that_comes_to_a_tainted_node_is_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&plain, 1);
    taint(env, "NoExecute");
    story_pass(&plain, env, 5 * KC_SECOND);
    make_pod(env, "plain", "a");
    story_pass(&plain, env, 2 * KC_SECOND);
    assert_true(is_leaving(env, "plain"));
}

static void the_time_may_be_changed_while_it_passes(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = story_begin(&plain, 1);
    make_pod_with(env, "ten", "a", "", TEN);
    taint(env, "NoExecute");
    story_pass(&plain, env, 5 * KC_SECOND);
    kc_auto(kc_object) *now = kc_client_patch(
        kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", "ten"), KC_PATCH_JSON,
        KC_STR("[{\"op\":\"replace\",\"path\":\"/spec/tolerations/0/"
               "tolerationSeconds\",\"value\":30}]"),
        NULL, &err);
    OK(now ? 0 : -1, &err);
    story_pass(&plain, env, 20 * KC_SECOND);
    assert_false(is_leaving(env, "ten"));
    story_pass(&plain, env, 8 * KC_SECOND);
    assert_true(is_leaving(env, "ten"));
}

/* ---- a node that is lost ---- */

static bool lost_is_alive;

static void a_node_that_will_be_lost(kc_testenv *env)
{
    lost_is_alive = true;
    two_nodes(env);
    make_pod(env, "web", "a");
    make_pod_with(env, "patient", "a", "", FOR_EVER);
    make_pod(env, "safe", "b");
}

static void it_is_lost(kc_testenv *env)
{
    (void)env;
    lost_is_alive = false;
}

static void those_alive_renew(kc_testenv *env)
{
    if (kc_clock_now(kc_testenv_clock(env)) / KC_SECOND % 10)
        return;
    if (lost_is_alive)
        renew(env, "a");
    renew(env, "b");
}

static void its_pods_are_driven_away(kc_testenv *env)
{
    assert_true(is_leaving(env, "web"));
    assert_false(is_leaving(env, "patient"));
    assert_false(is_leaving(env, "safe"));
}

static const story lost = {
    .controllers = {.names = "nodelifecycle", .workers = 2},
    .before = a_node_that_will_be_lost,
    .event = it_is_lost,
    .outside = those_alive_renew,
    .takes = 420 * KC_SECOND,
    .end = its_pods_are_driven_away,
};

static void pods_of_a_lost_node_have_five_minutes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&lost, 1);
    story_event(&lost, env);
    story_pass(&lost, env, 320 * KC_SECOND);
    assert_false(is_leaving(env, "web"));
    story_pass(&lost, env, 30 * KC_SECOND);
    its_pods_are_driven_away(env);
}

static void pods_of_a_node_that_is_back_stay(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&lost, 1);
    story_event(&lost, env);
    story_pass(&lost, env, 200 * KC_SECOND);
    lost_is_alive = true;
    beat(env, "a", "True");
    story_pass(&lost, env, 300 * KC_SECOND);
    assert_false(is_leaving(env, "web"));
    assert_int_equal(
        count_events(env, "TaintManagerEviction", "Cancelling deletion of Pod default/web"), 1);
}

static void it_runs_in_real_time_too(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&plain, 0);
    make_pod(env, "plain", "a");
    make_pod_with(env, "for-ever", "a", "", FOR_EVER);
    taint(env, "NoExecute");
    for (int i = 0; i < 200 && !is_leaving(env, "plain"); i++)
        kc_testenv_advance(env, 50 * KC_MILLISECOND);
    assert_true(is_leaving(env, "plain"));
    assert_false(is_leaving(env, "for-ever"));
}

static void it_survives_faults(void **state)
{
    (void)state;
    it_survives_a_crash_after_any_write(&lost);
    it_survives_a_stale_cache(&lost);
    it_survives_missed_events(&lost);
    it_survives_a_bad_network(&lost);
}

TESTS(pods_that_do_not_tolerate_a_taint_are_deleted, why_they_were_is_said,
      other_effects_delete_nobody, a_pod_may_tolerate_a_taint_for_a_while,
      a_taint_that_goes_in_time_harms_nobody, a_pod_that_comes_to_a_tainted_node_is_deleted,
      the_time_may_be_changed_while_it_passes, pods_of_a_lost_node_have_five_minutes,
      pods_of_a_node_that_is_back_stay, it_survives_faults, it_runs_in_real_time_too)
