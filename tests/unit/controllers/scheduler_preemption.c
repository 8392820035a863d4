/* SPDX-License-Identifier: Apache-2.0 */
/* Preemption at work: victims, nominations, and crashes in between. */
#include "scheduling_testing.h"

static void classes(kc_testenv *env)
{
    apply(env, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
               "value: 1000}");
}

static void a_more_important_pod_takes_the_place(void **state)
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

static void a_victim_is_waited_for_on_the_nominated_node(void **state)
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
    assert_non_null(kc_dig(kc_view_root(low), "metadata.deletionTimestamp"));
    assert_str(kc_as_str(kc_dig(kc_view_root(high), "status.nominatedNodeName")), "node-0");
    bool told = false;
    kc_items (kc_dig(kc_view_root(low), "status.conditions"), c)
        told = told || kc_str_is(kc_as_str(kc_get(c, "reason")), "PreemptionByScheduler");
    assert_true(told);
    /* Room that was made for one is not for another that matters less. */
    pod(env, "other", "100m", "");
    delete_pod(env, "low");
    kc_testenv_advance(env, 12 * KC_SECOND);
    assert_on(env, "high", "node-0");
    assert_true(is_bound(env, "other"));
}

static kc_str nominated_node(const kc_view *pod)
{
    return kc_as_str(kc_dig(kc_view_root(pod), "status.nominatedNodeName"));
}

static void room_goes_to_the_most_important(void **state)
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

static void who_may_not_preempt_says_so(void **state)
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
static void a_crash_while_preempting_is_made_good(void **state)
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

static void a_nomination_outlives_who_made_it(void **state)
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

TESTS(a_more_important_pod_takes_the_place, a_victim_is_waited_for_on_the_nominated_node,
      room_goes_to_the_most_important, who_may_not_preempt_says_so,
      a_crash_while_preempting_is_made_good, a_nomination_outlives_who_made_it)
