/* SPDX-License-Identifier: Apache-2.0 */
/* Preemption: victims, nominations, and crashes in between. */
#include "scheduling_testing.h"

static void classes(kc_testenv *env)
{
    apply(env, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
               "value: 1000}");
}

static void higher_priority_pod_preempts_lower(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(12);
    classes(env);
    nodes(env, 1);
    pod(env, "low", "1500m", "terminationGracePeriodSeconds: 0");
    settle(env);
    assert_on(env, "low", "node-0");
    kc_testenv_advance(env, KC_SECOND);
    pod(env, "high", "1500m", "priority: 1000, priorityClassName: high");
    settle(env);
    kc_testenv_advance(env, 5 * KC_SECOND);
    assert_null(node_of(env, "low"));
    assert_on(env, "high", "node-0");
    assert_int_equal(count_events(env, "low", "Preempted", "on node node-0"), 1);
}

static void preemptor_waits_for_victims_on_nominated_node(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(13);
    classes(env);
    nodes(env, 1);
    pod(env, "low", "1500m", "terminationGracePeriodSeconds: 30");
    settle(env);
    pod(env, "high", "1500m", "priority: 1000, priorityClassName: high");
    settle(env);
    kc_testenv_advance(env, 5 * KC_SECOND);
    kc_auto(kc_view) *low = view_of_pod(env, "low"), *high = view_of_pod(env, "high");
    assert_non_null(kc_value_nested(kc_view_root(low), "metadata.deletionTimestamp"));
    assert_str(kc_value_as_str(kc_value_nested(kc_view_root(high), "status.nominatedNodeName")),
               "node-0");
    bool reported = false;
    kc_value_each_item (kc_value_nested(kc_view_root(low), "status.conditions"), c)
        reported = reported ||
                   kc_str_is(kc_value_as_str(kc_value_get(c, "reason")), "PreemptionByScheduler");
    assert_true(reported);
    /* Room that was made for one is not for another that matters less. */
    pod(env, "other", "100m", "");
    delete_pod(env, "low");
    kc_testenv_advance(env, 12 * KC_SECOND);
    assert_on(env, "high", "node-0");
    assert_true(is_bound(env, "other"));
}

static kc_str nominated_node(const kc_view *pod)
{
    return kc_value_as_str(kc_value_nested(kc_view_root(pod), "status.nominatedNodeName"));
}

static void freed_room_goes_to_highest_priority(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(18);
    classes(env);
    apply(env, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: middle}, "
               "value: 500}");
    nodes(env, 1);
    pod(env, "low", "1500m", "terminationGracePeriodSeconds: 30");
    settle(env);
    pod(env, "middle", "1500m", "priority: 500, priorityClassName: middle");
    settle(env);
    kc_testenv_advance(env, 2 * KC_SECOND);
    kc_auto(kc_view) *before = view_of_pod(env, "middle");
    assert_str(nominated_node(before), "node-0");
    pod(env, "high", "1500m", "priority: 1000, priorityClassName: high");
    kc_testenv_advance(env, 2 * KC_SECOND);
    kc_auto(kc_view) *after = view_of_pod(env, "middle"), *high = view_of_pod(env, "high");
    assert_str(nominated_node(after), "");
    assert_str(nominated_node(high), "node-0");
    delete_pod(env, "low");
    kc_testenv_advance(env, 20 * KC_SECOND);
    assert_on(env, "high", "node-0");
    assert_on(env, "middle", "");
}

static void preemption_policy_never_is_reported(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(14);
    apply(env, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: polite}, "
               "value: 1000, preemptionPolicy: Never}");
    nodes(env, 1);
    pod(env, "low", "1500m", "");
    settle(env);
    pod(env, "polite", "1500m",
        "priority: 1000, priorityClassName: polite, preemptionPolicy: Never");
    settle(env);
    assert_waits(env, "polite",
                 "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. preemption: not "
                 "eligible due to preemptionPolicy=Never.");
}

/* Whatever write is the last one of the first scheduler: the more important pod gets the node. */
static void crash_during_preemption_is_recovered(void **state)
{
    (void)state;
    for (size_t writes = 1; writes <= 8; writes++) {
        kc_auto(kc_testenv) *env = scheduling(21);
        classes(env);
        nodes(env, 1);
        pod(env, "low", "1500m", "terminationGracePeriodSeconds: 0");
        settle(env);
        pod(env, "high", "1500m", "priority: 1000, priorityClassName: high");
        kc_testenv_crash_after(env, writes);
        kc_testenv_settle(env, NULL);
        kc_testenv_advance(env, 3 * KC_SECOND);
        if (kc_testenv_crashed(env)) {
            assert_non_null(kc_testenv_restart(env, NULL));
            add_scheduler(kc_testenv_manager(env));
        }
        settle(env);
        kc_testenv_advance(env, 30 * KC_SECOND);
        assert_null(node_of(env, "low"));
        assert_on(env, "high", "node-0");
    }
}

static void nomination_survives_leader_change(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(22);
    classes(env);
    nodes(env, 1);
    pod(env, "low", "1500m", "terminationGracePeriodSeconds: 30");
    settle(env);
    pod(env, "high", "1500m", "priority: 1000, priorityClassName: high");
    settle(env);
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_non_null(kc_testenv_restart(env, NULL));
    add_scheduler(kc_testenv_manager(env));
    settle(env);
    /* When the victim is gone either would fit, not both: the room is made for one of them. */
    pod(env, "other", "1", "");
    settle(env);
    delete_pod(env, "low");
    kc_testenv_advance(env, 20 * KC_SECOND);
    assert_on(env, "high", "node-0");
    assert_on(env, "other", "");
}

TESTS(higher_priority_pod_preempts_lower, preemptor_waits_for_victims_on_nominated_node,
      freed_room_goes_to_highest_priority, preemption_policy_never_is_reported,
      crash_during_preemption_is_recovered, nomination_survives_leader_change)
