/* SPDX-License-Identifier: Apache-2.0 */
/* Replica sets: as many pods as wanted. */
#include "workload_testing.h"

#define SET &kc_kind_replica_set

static void a_set_gets_its_pods(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(1, "replicaset");
    make_set(env, "web", 3);
    settle(env);
    assert_int_equal(count_of(env, &kc_kind_pod), 3);
    kc_scoped(kc_objects) pods = all_of(env, &kc_kind_pod);
    kc_auto(kc_object) *set = look_up(env, SET, "web");
    for (size_t i = 0; i < pods.n; i++) {
        assert_true(kc_object_controlled_by(pods.items[i], kc_object_uid(set)));
        assert_true(kc_object_label_is(pods.items[i], KC_STR("app"), KC_STR("web")));
        assert_true(kc_str_starts(kc_object_name(pods.items[i]), KC_STR("web-")));
    }
    assert_int_equal(number_at(set, "status.replicas"), 3);
    assert_int_equal(number_at(set, "status.fullyLabeledReplicas"), 3);
    assert_int_equal(number_at(set, "status.readyReplicas"), 0);
    assert_int_equal(number_at(set, "status.observedGeneration"), 1);
    assert_int_equal(events_of(env, "SuccessfulCreate", NULL), 3);
}

static void readiness_is_counted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(2, "replicaset");
    make_set(env, "web", 3);
    settle(env);
    assert_int_equal(run_some_pods(env, 2), 2);
    settle(env);
    assert_int_equal(number_of(env, SET, "web", "status.readyReplicas"), 2);
    assert_int_equal(number_of(env, SET, "web", "status.availableReplicas"), 2);
}

TESTS(a_set_gets_its_pods, readiness_is_counted)
