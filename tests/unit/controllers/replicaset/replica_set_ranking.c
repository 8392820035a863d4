/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods of a ReplicaSet are deleted first. */
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
    kc_scoped(kc_object_list) pods = all_of(p.env, POD);
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

static void run_both(pair *p)
{
    set_pod(p->env, kc_cstr(p->first), "Running", true);
    set_pod(p->env, kc_cstr(p->second), "Running", true);
}

static void bind_both(pair *p)
{
    bind_pod(p->env, kc_cstr(p->first), "one");
    bind_pod(p->env, kc_cstr(p->second), "two");
}

static void assert_first_is_deleted(pair *p)
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

static void first_is_unassigned(pair *p)
{
    bind_pod(p->env, kc_cstr(p->second), "two");
}

static void first_is_pending(pair *p)
{
    bind_both(p);
    set_pod(p->env, kc_cstr(p->second), "Running", false);
}

static void first_is_unknown(pair *p)
{
    bind_both(p);
    set_pod(p->env, kc_cstr(p->first), "Unknown", false);
    set_pod(p->env, kc_cstr(p->second), "Running", false);
}

static void first_is_unready(pair *p)
{
    bind_both(p);
    set_pod(p->env, kc_cstr(p->first), "Running", false);
    set_pod(p->env, kc_cstr(p->second), "Running", true);
}

static void first_has_lower_deletion_cost(pair *p)
{
    run_both(p);
    patch_with(p->env, POD, kc_cstr(p->first), NULL,
               "{'metadata':{'annotations':{'controller.kubernetes.io/pod-deletion-cost':'-10'}}}");
}

static void second_has_higher_deletion_cost(pair *p)
{
    run_both(p);
    patch_with(p->env, POD, kc_cstr(p->second), NULL,
               "{'metadata':{'annotations':{'controller.kubernetes.io/pod-deletion-cost':'7'}}}");
}

static void first_is_unready_with_higher_cost(pair *p)
{
    set_pod(p->env, kc_cstr(p->first), "Running", false);
    set_pod(p->env, kc_cstr(p->second), "Running", true);
    patch_with(p->env, POD, kc_cstr(p->second), NULL,
               "{'metadata':{'annotations':{'controller.kubernetes.io/pod-deletion-cost':'-10'}}}");
}

static void first_was_ready_for_less_time(pair *p)
{
    set_pod(p->env, kc_cstr(p->second), "Running", true);
    kc_testenv_advance(p->env, 100 * KC_SECOND);
    set_pod(p->env, kc_cstr(p->first), "Running", true);
    kc_testenv_advance(p->env, 10 * KC_SECOND);
}

static void first_has_more_restarts(pair *p)
{
    run_both(p);
    patch_with(p->env, POD, kc_cstr(p->first), "status",
               "{'status':{'containerStatuses':[{'name':'web','restartCount':3,'ready':true,"
               "'image':'i','imageID':''}]}}");
    patch_with(p->env, POD, kc_cstr(p->second), "status",
               "{'status':{'containerStatuses':[{'name':'web','restartCount':1,'ready':true,"
               "'image':'i','imageID':''}]}}");
}

static void first_is_younger(pair *p)
{
    kc_testenv_advance(p->env, 1000 * KC_SECOND);
    kc_client_delete(kc_testenv_client(p->env), POD, KC_KEY("default", p->first), NULL, NULL);
    settle(p->env);
    kc_scoped(kc_object_list) pods = all_of(p->env, POD);
    const bool at = kc_str_is(kc_object_name(pods.items[0]), p->second);
    free(p->first);
    p->first = kc_str_dup(kc_object_name(pods.items[at]));
    kc_testenv_advance(p->env, 10 * KC_SECOND);
    run_both(p);
}

static reason *const reasons[] = {
    first_is_unassigned,
    first_is_pending,
    first_is_unknown,
    first_is_unready,
    first_has_lower_deletion_cost,
    second_has_higher_deletion_cost,
    first_is_unready_with_higher_cost,
    first_was_ready_for_less_time,
    first_has_more_restarts,
    first_is_younger,
};

static void cheapest_pods_are_deleted_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(reasons); i++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            kc_scoped(pair) p = pair_new(seed);
            reasons[i](&p);
            assert_first_is_deleted(&p);
        }
}

/* Nodes with many pods of the same deployment are relieved. */
static void pods_on_crowded_nodes_are_deleted_first(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(1, "deployment,replicaset");
    make_deployment(env, "web", 4);
    settle(env);
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    const char *const nodes[] = {"one", "two", "two", "three"};
    for (size_t i = 0; i < pods.n; i++)
        bind_pod(env, kc_object_name(pods.items[i]), nodes[i]);
    run_to_end(env);
    scale_to(env, &kc_kind_deployment, "web", 3);
    run_to_end(env);
    kc_scoped(kc_object_list) left = all_of(env, POD);
    assert_int_equal(left.n, 3);
    size_t on_two = 0;
    for (size_t i = 0; i < left.n; i++) {
        kc_autofree char *node = text_at(left.items[i], "spec.nodeName");
        on_two += strcmp(node, "two") == 0;
    }
    assert_int_equal(on_two, 1);
}

static void pods_of_equal_age_rank_by_uid(void **state)
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

TESTS(cheapest_pods_are_deleted_first, pods_on_crowded_nodes_are_deleted_first,
      pods_of_equal_age_rank_by_uid)
