/* SPDX-License-Identifier: Apache-2.0 */
/* The running scheduler: a real server, virtual time. */
#include "scheduling_testing.h"

static void pending_pod_is_bound_to_a_node(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(1);
    nodes(env, 1);
    pod(env, "a", "100m", "");
    settle(env);
    assert_on(env, "a", "node-0");
    kc_testenv_advance(env, 5 * KC_SECOND);
    assert_int_equal(
        count_events(env, "a", "Scheduled", "Successfully assigned default/a to node-0"), 1);
}

static void pods_never_exceed_node_capacity(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(2);
    nodes(env, 2);
    for (int i = 0; i < 5; i++) {
        kc_autofree char *name = kc_asprintf("p%d", i);
        pod(env, name, "1", "");
    }
    settle(env);
    size_t bound = 0, on_first = 0;
    for (int i = 0; i < 5; i++) {
        kc_autofree char *name = kc_asprintf("p%d", i), *where = node_of(env, name);
        bound += *where != 0;
        on_first += !strcmp(where, "node-0");
    }
    assert_int_equal(bound, 4);
    assert_int_equal(on_first, 2);
}

static void unschedulable_pod_reports_reasons(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(3);
    nodes(env, 1);
    node(env, "tainted", "", "{'key':'dedicated','value':'db','effect':'NoSchedule'}");
    node(env, "cordoned", "", "");
    patch(env, &kc_kind_node, "cordoned", NULL, "{'spec':{'unschedulable':true}}");
    pod(env, "big", "3", "");
    settle(env);
    assert_waits(env, "big",
                 "Unschedulable: 0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had "
                 "untolerated taint {dedicated: db}, 1 node(s) were unschedulable. preemption: 0/3 "
                 "nodes are available: 3 Preemption is not helpful for scheduling.");
    kc_testenv_advance(env, 5 * KC_SECOND);
    assert_int_equal(count_events(env, "big", "FailedScheduling", "0/3 nodes are available"), 1);
}

static void pod_waits_until_a_node_is_added(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(4);
    pod(env, "a", "100m", "");
    settle(env);
    assert_waits(env, "a", "Unschedulable: no nodes available to schedule pods");
    nodes(env, 1);
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_on(env, "a", "node-0");
}

static void not_ready_node_gets_no_pods(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(5);
    nodes(env, 1);
    set_status(env, &kc_kind_node, "node-0",
               "{'conditions':[{'type':'Ready','status':'Unknown'}]}");
    pod(env, "a", "100m", "");
    settle(env);
    assert_waits(env, "a",
                 "Unschedulable: 0/1 nodes are available: 1 node(s) had untolerated taint "
                 "{node.kubernetes.io/unreachable: }. preemption: 0/1 nodes are available: 1 "
                 "Preemption is not helpful for scheduling.");
    set_status(env, &kc_kind_node, "node-0", ROOM);
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_on(env, "a", "node-0");
}

static void deleted_pod_frees_room_for_pending_one(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(6);
    nodes(env, 1);
    pod(env, "first", "1500m", "");
    settle(env);
    pod(env, "second", "1500m", "");
    settle(env);
    assert_on(env, "second", "");
    kc_testenv_advance(env, 20 * KC_SECOND);
    delete_pod(env, "first");
    kc_testenv_advance(env, KC_MILLISECOND);
    assert_on(env, "second", "node-0");
}

static void terminated_pod_frees_room_for_pending_one(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(7);
    nodes(env, 1);
    pod(env, "first", "1500m", "");
    settle(env);
    pod(env, "second", "1500m", "");
    settle(env);
    set_status(env, &kc_kind_pod, "first", "{'phase':'Succeeded'}");
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_on(env, "second", "node-0");
}

static void pods_of_other_schedulers_are_ignored(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(8);
    nodes(env, 1);
    pod(env, "a", "100m", "schedulerName: mine");
    settle(env);
    assert_waits(env, "a", "");
}

static void scheduling_gates_block_a_pod(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(9);
    nodes(env, 1);
    pod(env, "a", "100m", "schedulingGates: [{name: example.com/wait}]");
    settle(env);
    assert_waits(env, "a",
                 "SchedulingGated: Scheduling is blocked due to non-empty scheduling gates");
    patch(env, &kc_kind_pod, "a", NULL, "{'spec':{'schedulingGates':null}}");
    settle(env);
    assert_on(env, "a", "node-0");
}

static void pod_waits_for_missing_claim(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(10);
    nodes(env, 1);
    pod(env, "a", "100m", "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]");
    settle(env);
    kc_autofree char *why = condition_of(env, "a");
    assert_contains(why, "0/1 nodes are available: persistentvolumeclaim \"data\" not found.");
    apply(env,
          "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: "
          "default}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}");
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_on(env, "a", "node-0");
}

/* ---- frequency ---- */

/* Of scheduler_schedule_attempts_total. */
static double attempts(kc_testenv *env, const char *result)
{
    kc_scoped(kc_buf) text = {0};
    kc_autofree char *series = kc_asprintf(
        "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"%s\"} ", result);
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    const char *at = strstr(kc_buf_cstr(&text), series);
    assert_non_null(at);
    return strtod(at + strlen(series), NULL);
}

/* Nothing else happens: it is tried again after five minutes, not before. */
static void unschedulable_pods_are_retried_periodically(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(11);
    nodes(env, 1);
    pod(env, "a", "3", "");
    settle(env);
    kc_testenv_advance(env, 4 * KC_MINUTE);
    assert_true(attempts(env, "unschedulable") == 1);
    kc_testenv_advance(env, 61 * KC_SECOND);
    assert_true(attempts(env, "unschedulable") == 2);
    assert_int_equal(count_events(env, "a", "FailedScheduling", ""), 1);
}

enum { CROWD = 40 };

static void irrelevant_events_do_not_move_pods(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(15);
    nodes(env, 2);
    for (int i = 0; i < CROWD; i++) {
        kc_autofree char *name = kc_asprintf("big-%d", i);
        pod(env, name, "3", "");
    }
    settle(env);
    kc_testenv_advance(env, 20 * KC_SECOND);
    assert_true(attempts(env, "unschedulable") == CROWD);
    for (int i = 0; i < 5; i++) {
        pod(env, "small", "100m", "");
        kc_testenv_advance(env, KC_SECOND);
        assert_true(is_bound(env, "small"));
        delete_pod(env, "small");
        /* A heartbeat. */
        set_status(env, &kc_kind_node, "node-0",
                   "{'conditions':[{'type':'Ready','status':'True','reason':'Fine'}]}");
        kc_testenv_advance(env, KC_SECOND);
    }
    assert_true(attempts(env, "unschedulable") == CROWD);
    assert_true(attempts(env, "scheduled") == 5);
}

static void condition_reports_current_reasons(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(16);
    node(env, "one", "", "{'key':'k','effect':'NoSchedule'}");
    pod(env, "big", "3", "");
    settle(env);
    kc_testenv_advance(env, 2 * KC_SECOND);
    patch(env, &kc_kind_node, "one", NULL, "{'spec':{'taints':null}}");
    kc_testenv_advance(env, 2 * KC_SECOND);
    kc_autofree char *why = condition_of(env, "big");
    assert_contains(why, "0/1 nodes are available: 1 Insufficient cpu.");
}

static void pending_pods_metric_shows_the_queue(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(17);
    kc_scoped(kc_buf) text = {0};
    nodes(env, 1);
    pod(env, "big", "3", "");
    pod(env, "gated", "1", "schedulingGates: [{name: example.com/wait}]");
    pod(env, "bound", "1", "");
    settle(env);
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    assert_contains(kc_buf_cstr(&text), "scheduler_pending_pods{queue=\"unschedulable\"} 1\n");
    assert_contains(kc_buf_cstr(&text), "scheduler_pending_pods{queue=\"gated\"} 1\n");
    assert_contains(kc_buf_cstr(&text), "scheduler_pending_pods{queue=\"active\"} 0\n");
    assert_contains(kc_buf_cstr(&text),
                    "scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"1\"} 1\n");
}

TESTS(pending_pod_is_bound_to_a_node, pods_never_exceed_node_capacity,
      unschedulable_pod_reports_reasons, pod_waits_until_a_node_is_added,
      not_ready_node_gets_no_pods, deleted_pod_frees_room_for_pending_one,
      terminated_pod_frees_room_for_pending_one, pods_of_other_schedulers_are_ignored,
      scheduling_gates_block_a_pod, pod_waits_for_missing_claim,
      unschedulable_pods_are_retried_periodically, irrelevant_events_do_not_move_pods,
      condition_reports_current_reasons, pending_pods_metric_shows_the_queue)
