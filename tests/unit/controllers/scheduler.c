/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler at work: a real server, virtual time. */
#include "scheduling_testing.h"

static void a_pod_gets_a_node(void **state)
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

static void pods_fill_nodes_and_no_more(void **state)
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

static void a_pod_that_fits_nowhere_says_why(void **state)
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

static void without_nodes_a_pod_waits_for_one(void **state)
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

static void a_node_that_is_not_ready_gets_nothing(void **state)
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

static void a_deleted_pod_makes_room(void **state)
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

static void a_finished_pod_makes_room(void **state)
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

static void pods_of_other_schedulers_are_left_alone(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(8);
    nodes(env, 1);
    pod(env, "a", "100m", "schedulerName: mine");
    settle(env);
    assert_waits(env, "a", "");
}

static void gates_hold_a_pod_back(void **state)
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

static void a_missing_claim_is_waited_for(void **state)
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

/* ---- how often ---- */

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
static void what_waits_is_tried_again_now_and_then(void **state)
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

static void what_does_not_help_wakes_nobody(void **state)
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

static void a_pod_says_what_keeps_it_now(void **state)
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

static void a_pod_waits_in_the_queue_people_see(void **state)
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

TESTS(a_pod_gets_a_node, pods_fill_nodes_and_no_more, a_pod_that_fits_nowhere_says_why,
      without_nodes_a_pod_waits_for_one, a_node_that_is_not_ready_gets_nothing,
      a_deleted_pod_makes_room, a_finished_pod_makes_room, pods_of_other_schedulers_are_left_alone,
      gates_hold_a_pod_back, a_missing_claim_is_waited_for, what_waits_is_tried_again_now_and_then,
      what_does_not_help_wakes_nobody, a_pod_says_what_keeps_it_now,
      a_pod_waits_in_the_queue_people_see)
