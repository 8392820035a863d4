/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods of a replica set go first. */
#include "workload_testing.h"

#define SET &kc_kind_replica_set
#define POD &kc_kind_pod

/* Two pods of a set: of these the first is to go. */
typedef struct pair {
    kc_testenv *env;
    char *first, *second;
} pair;

static pair pair_new(uint64_t seed)
{
    pair p = {.env = workloads(seed, "replicaset")};
    make_set(p.env, "web", 2);
    settle(p.env);
    kc_scoped(kc_objects) pods = all_of(p.env, POD);
    /* Not always the one whose name comes first. */
    p.first = kc_str_dup(kc_object_name(pods.items[seed % 2]));
    p.second = kc_str_dup(kc_object_name(pods.items[1 - seed % 2]));
    return p;
}

static void pair_done(pair *p)
{
    free(p->first);
    free(p->second);
    kc_testenv_stop(p->env);
}

static void both_run(pair *p)
{
    set_pod(p->env, kc_cstr(p->first), "Running", true);
    set_pod(p->env, kc_cstr(p->second), "Running", true);
}

static void both_are_bound(pair *p)
{
    bind_pod(p->env, kc_cstr(p->first), "one");
    bind_pod(p->env, kc_cstr(p->second), "two");
}

static void assert_first_goes(pair *p)
{
    settle(p->env);
    scale_to(p->env, SET, "web", 1);
    settle(p->env);
    kc_auto(kc_object) *first = look_up(p->env, POD, p->first);
    kc_auto(kc_object) *second = look_up(p->env, POD, p->second);
    assert_true(!first || kc_object_being_deleted(first));
    assert_true(second && !kc_object_being_deleted(second));
}

/* Each says why the first goes. */
typedef void reason(pair *p);

static void it_is_on_no_node(pair *p)
{
    bind_pod(p->env, kc_cstr(p->second), "two");
}

static void it_is_pending(pair *p)
{
    both_are_bound(p);
    set_pod(p->env, kc_cstr(p->second), "Running", false);
}

static void it_is_unknown(pair *p)
{
    both_are_bound(p);
    set_pod(p->env, kc_cstr(p->first), "Unknown", false);
    set_pod(p->env, kc_cstr(p->second), "Running", false);
}

static void it_is_not_ready(pair *p)
{
    both_are_bound(p);
    set_pod(p->env, kc_cstr(p->first), "Running", false);
    set_pod(p->env, kc_cstr(p->second), "Running", true);
}

static void its_deletion_costs_less(pair *p)
{
    both_run(p);
    patch_with(p->env, POD, kc_cstr(p->first), NULL,
               "{'metadata':{'annotations':{'controller.kubernetes.io/pod-deletion-cost':'-10'}}}");
}

static void the_others_deletion_costs_more(pair *p)
{
    both_run(p);
    patch_with(p->env, POD, kc_cstr(p->second), NULL,
               "{'metadata':{'annotations':{'controller.kubernetes.io/pod-deletion-cost':'7'}}}");
}

static void readiness_counts_more_than_cost(pair *p)
{
    set_pod(p->env, kc_cstr(p->first), "Running", false);
    set_pod(p->env, kc_cstr(p->second), "Running", true);
    patch_with(p->env, POD, kc_cstr(p->second), NULL,
               "{'metadata':{'annotations':{'controller.kubernetes.io/pod-deletion-cost':'-10'}}}");
}

static void it_was_ready_for_a_shorter_time(pair *p)
{
    set_pod(p->env, kc_cstr(p->second), "Running", true);
    kc_testenv_advance(p->env, 100 * KC_SECOND);
    set_pod(p->env, kc_cstr(p->first), "Running", true);
    kc_testenv_advance(p->env, 10 * KC_SECOND);
}

static void it_was_restarted_more_often(pair *p)
{
    both_run(p);
    patch_with(p->env, POD, kc_cstr(p->first), "status",
               "{'status':{'containerStatuses':[{'name':'web','restartCount':3,'ready':true,"
               "'image':'i','imageID':''}]}}");
    patch_with(p->env, POD, kc_cstr(p->second), "status",
               "{'status':{'containerStatuses':[{'name':'web','restartCount':1,'ready':true,"
               "'image':'i','imageID':''}]}}");
}

static void it_is_younger(pair *p)
{
    kc_testenv_advance(p->env, 1000 * KC_SECOND);
    kc_client_delete(kc_testenv_client(p->env), POD, KC_KEY("default", p->first), NULL, NULL);
    settle(p->env);
    kc_scoped(kc_objects) pods = all_of(p->env, POD);
    const bool at = kc_str_is(kc_object_name(pods.items[0]), p->second);
    free(p->first);
    p->first = kc_str_dup(kc_object_name(pods.items[at]));
    kc_testenv_advance(p->env, 10 * KC_SECOND);
    both_run(p);
}

static reason *const reasons[] = {
    it_is_on_no_node,
    it_is_pending,
    it_is_unknown,
    it_is_not_ready,
    its_deletion_costs_less,
    the_others_deletion_costs_more,
    readiness_counts_more_than_cost,
    it_was_ready_for_a_shorter_time,
    it_was_restarted_more_often,
    it_is_younger,
};

static void who_is_missed_least_goes_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(reasons); i++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            kc_scoped(pair) p = pair_new(seed);
            reasons[i](&p);
            assert_first_goes(&p);
        }
}

/* Nodes with many pods of the same deployment are relieved. */
static void pods_that_share_a_node_go_first(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(1, "deployment,replicaset");
    make_deployment(env, "web", 4);
    settle(env);
    kc_scoped(kc_objects) pods = all_of(env, POD);
    const char *const nodes[] = {"one", "two", "two", "three"};
    for (size_t i = 0; i < pods.n; i++)
        bind_pod(env, kc_object_name(pods.items[i]), nodes[i]);
    run_to_end(env);
    scale_to(env, &kc_kind_deployment, "web", 3);
    run_to_end(env);
    kc_scoped(kc_objects) left = all_of(env, POD);
    assert_int_equal(left.n, 3);
    size_t on_two = 0;
    for (size_t i = 0; i < left.n; i++) {
        kc_autofree char *node = text_at(left.items[i], "spec.nodeName");
        on_two += strcmp(node, "two") == 0;
    }
    assert_int_equal(on_two, 1);
}

static void of_pods_as_old_as_each_other_any_may_go(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(3, "replicaset");
    make_set(env, "web", 50);
    settle(env);
    run_pods(env);
    settle(env);
    kc_testenv_advance(env, KC_HOUR);
    scale_to(env, SET, "web", 20);
    settle(env);
    assert_int_equal(count_of(env, POD), 20);
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    assert_contains(kc_buf_cstr(&text),
                    "replicaset_controller_sorting_deletion_age_ratio_count 30");
}

TESTS(who_is_missed_least_goes_first, pods_that_share_a_node_go_first,
      of_pods_as_old_as_each_other_any_may_go)
