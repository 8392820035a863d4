/* SPDX-License-Identifier: Apache-2.0 */
/* The pod garbage collector: pods of missing nodes, terminated pods. */
#include "nodes_testing.h"

static const scenario collected;

static void assert_failed(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, name);
    kc_auto(kc_view) *view = kc_view_of(pod);
    assert_str(kc_value_as_str(kc_value_nested(kc_view_root(view), "status.phase")), "Failed");
    assert_true(kc_object_being_deleted(pod));
}

/* ---- missing nodes ---- */

static void pod_of_missing_node_is_deleted_after_quarantine(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&collected, 1);
    make_pod_with(env, "lost", "nowhere", STUCK, "");
    scenario_advance(&collected, env, 38 * KC_SECOND);
    kc_auto(kc_object) *before = look_up(env, &kc_kind_pod, "lost");
    assert_false(kc_object_being_deleted(before));
    scenario_advance(&collected, env, 4 * KC_SECOND);
    assert_failed(env, "lost");
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "lost");
    kc_scoped(kc_arena) arena = {0};
    kc_condition c;
    assert_true(kc_condition_get(pod, KC_STR("DisruptionTarget"), &arena, &c));
    assert_str(c.status, "True");
    assert_str(c.reason, "DeletionByPodGC");
    assert_str(c.message, "PodGC: node no longer exists");
}

static void node_created_during_quarantine_keeps_its_pods(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&collected, 1);
    make_pod(env, "early", "late");
    scenario_advance(&collected, env, 30 * KC_SECOND);
    make_node(env, "late");
    scenario_advance(&collected, env, KC_MINUTE);
    assert_true(is_there(env, &kc_kind_pod, "early"));
}

static void quarantine_starts_with_the_deletion_of_the_node(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&collected, 1);
    make_node(env, "made-again");
    make_pod(env, "web", "made-again");
    scenario_advance(&collected, env, 35 * KC_SECOND);
    delete_object(env, &kc_kind_node, "made-again");
    scenario_advance(&collected, env, 35 * KC_SECOND);
    assert_true(is_there(env, &kc_kind_pod, "web"));
    make_node(env, "made-again");
    scenario_advance(&collected, env, 2 * KC_SECOND);
    delete_object(env, &kc_kind_node, "made-again");
    scenario_advance(&collected, env, 35 * KC_SECOND);
    assert_true(is_there(env, &kc_kind_pod, "web"));
    scenario_advance(&collected, env, 10 * KC_SECOND);
    assert_false(is_there(env, &kc_kind_pod, "web"));
}

static void pods_stay_while_their_node_cannot_be_read(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&collected, 1);
    scenario_advance(&collected, env, KC_SECOND);
    kc_testenv_fault(env,
                     &(kc_fault_opts){KC_FAULT_UNAVAILABLE, .chance = 1, .kind = &kc_kind_node});
    make_pod(env, "lost", "nowhere");
    scenario_advance(&collected, env, 2 * KC_MINUTE);
    assert_true(is_there(env, &kc_kind_pod, "lost"));
    kc_testenv_clear_faults(env);
    scenario_advance(&collected, env, 5 * KC_MINUTE);
    assert_false(is_there(env, &kc_kind_pod, "lost"));
}

static void terminated_pod_keeps_its_status(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&collected, 1);
    make_pod_with(env, "done", "nowhere", STUCK, "");
    patch_status(env, &kc_kind_pod, "done", "{'phase':'Succeeded'}");
    scenario_advance(&collected, env, KC_MINUTE);
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "done");
    kc_auto(kc_view) *view = kc_view_of(pod);
    assert_true(kc_object_being_deleted(pod));
    assert_str(kc_value_as_str(kc_value_nested(kc_view_root(view), "status.phase")), "Succeeded");
}

/* ---- ended pods ---- */

static void terminated_pods_are_kept_up_to_the_threshold(void **state)
{
    (void)state;
    static const scenario few = {.controllers = {.names = "podgc", .ended_pods = 2}};
    kc_auto(kc_testenv) *env = scenario_begin(&few, 1);
    make_node(env, "n");
    static const char *const names[] = {"first", "second", "third", "evicted", "running"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        make_pod(env, names[i], "n");
        patch_status(env, &kc_kind_pod, names[i],
                     i == 4   ? "{'phase':'Running'}"
                     : i == 3 ? "{'phase':'Failed','reason':'Evicted'}"
                              : "{'phase':'Succeeded'}");
        scenario_advance(&few, env, KC_SECOND);
    }
    scenario_advance(&few, env, 21 * KC_SECOND);
    assert_false(is_there(env, &kc_kind_pod, "evicted"));
    assert_false(is_there(env, &kc_kind_pod, "first"));
    assert_true(is_there(env, &kc_kind_pod, "second"));
    assert_true(is_there(env, &kc_kind_pod, "third"));
    assert_true(is_there(env, &kc_kind_pod, "running"));
}

/* ---- terminating pods ---- */

static void terminating_pod_without_node_is_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&collected, 1);
    make_pod_with(env, "unbound", "", STUCK, "");
    delete_object(env, &kc_kind_pod, "unbound");
    scenario_advance(&collected, env, 21 * KC_SECOND);
    assert_failed(env, "unbound");
}

static void terminating_pod_of_out_of_service_node_is_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&collected, 1);
    make_node(env, "dead");
    make_pod(env, "web", "dead");
    make_pod(env, "wanted", "dead");
    beat(env, "dead", "Unknown");
    delete_object(env, &kc_kind_pod, "web");
    scenario_advance(&collected, env, 25 * KC_SECOND);
    assert_true(is_there(env, &kc_kind_pod, "web"));
    patch(env, &kc_kind_node, "dead",
          "{'spec':{'taints':[{'key':'node.kubernetes.io/out-of-service','effect':'NoExecute'}]}}");
    scenario_advance(&collected, env, 21 * KC_SECOND);
    assert_false(is_there(env, &kc_kind_pod, "web"));
    assert_true(is_there(env, &kc_kind_pod, "wanted"));
}

static void terminating_pod_of_ready_node_is_kept(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&collected, 1);
    make_node(env, "good");
    make_pod(env, "web", "good");
    beat(env, "good", "True");
    patch(env, &kc_kind_node, "good",
          "{'spec':{'taints':[{'key':'node.kubernetes.io/out-of-service','effect':'NoExecute'}]}}");
    delete_object(env, &kc_kind_pod, "web");
    scenario_advance(&collected, env, KC_MINUTE);
    assert_true(is_there(env, &kc_kind_pod, "web"));
}

static void deletions_are_counted_in_metrics(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&collected, 1);
    make_pod(env, "lost", "nowhere");
    scenario_advance(&collected, env, KC_MINUTE);
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    assert_contains(kc_buf_cstr(&text), "pod_gc_collector_force_delete_pods_total{namespace="
                                        "\"default\",reason=\"orphaned\"} 1\n");
}

/* ---- faults ---- */

static void create_two_nodes_and_their_pods(kc_testenv *env)
{
    make_node(env, "stays");
    make_node(env, "goes");
    make_pod(env, "kept", "stays");
    for (int i = 0; i < 3; i++) {
        kc_autofree char *name = kc_asprintf("lost-%d", i);
        make_pod(env, name, "goes");
    }
}

static void delete_one_node(kc_testenv *env)
{
    delete_object(env, &kc_kind_node, "goes");
}

static void assert_pods_are_gone(kc_testenv *env)
{
    for (int i = 0; i < 3; i++) {
        kc_autofree char *name = kc_asprintf("lost-%d", i);
        assert_false(is_there(env, &kc_kind_pod, name));
    }
    assert_true(is_there(env, &kc_kind_pod, "kept"));
}

static const scenario collected = {
    .controllers = {.names = "podgc", .workers = 2},
    .before = create_two_nodes_and_their_pods,
    .event = delete_one_node,
    .takes = 90 * KC_SECOND,
    .end = assert_pods_are_gone,
};

static void pods_of_deleted_node_are_deleted(void **state)
{
    (void)state;
    scenario_converges(&collected);
}

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges_after_crashes(&collected);
    scenario_converges_with_stale_cache(&collected);
    scenario_converges_with_missed_events(&collected);
    scenario_converges_with_bad_network(&collected);
}

TESTS(pod_of_missing_node_is_deleted_after_quarantine,
      node_created_during_quarantine_keeps_its_pods,
      quarantine_starts_with_the_deletion_of_the_node, pods_stay_while_their_node_cannot_be_read,
      terminated_pod_keeps_its_status, terminated_pods_are_kept_up_to_the_threshold,
      terminating_pod_without_node_is_deleted, terminating_pod_of_out_of_service_node_is_deleted,
      terminating_pod_of_ready_node_is_kept, deletions_are_counted_in_metrics,
      pods_of_deleted_node_are_deleted, converges_under_faults)
