/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writes that a robot causes, from its creation to 2/2 ready pods. One more write is one for
 * each of ten thousand robots (bench/controllers/robots.c).
 */
#include "reconciler_testing.h"

#include "calls_testing.h"
#include "kc/controllers.h"

typedef struct fixture {
    kc_metrics *metrics;
    kc_testenv *env;
} fixture;

static void fixture_done(fixture *p)
{
    kc_testenv_stop(p->env);
    kc_metrics_free(p->metrics);
}

/* A plane with the reconciler robot; with simulated nodes, or without any. */
static fixture fixture_begin(uint64_t seed, kc_pods_mode nodes)
{
    kc_scoped(kc_error) err = {0};
    fixture p = {.metrics = kc_metrics_new()};
    p.env = kc_testenv_start(&(kc_testenv_opts){.seed = seed, .metrics = p.metrics}, NULL);
    apply_file(p.env, "../manifests/robot/robot.llleon.io_robots.yaml");
    const kc_controllers_opts controllers = {.pods = {.mode = nodes}};
    OK(kc_controllers_add(kc_testenv_manager(p.env), &controllers, &err), &err);
    OK(kc_reconcilers_add(kc_testenv_manager(p.env), "robot", &err), &err);
    OK(kc_testenv_run(p.env, &err), &err);
    kc_testenv_advance(p.env, 5 * KC_SECOND);
    settle(p.env);
    return p;
}

/* What the sample takes. */
static calls count_writes_of_robot(const fixture *p)
{
    const calls before = calls_of(p->metrics);
    apply_file(p->env, "../manifests/robot/cr.yaml");
    kc_testenv_advance(p->env, 10 * KC_SECOND);
    settle(p->env);
    return calls_since(&before, p->metrics);
}

static void print_calls(const calls *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (calls_is_write(&all->rows[i]) && all->rows[i].n > 0)
            print_message("%s %s/%s: %g\n", all->rows[i].verb, all->rows[i].resource,
                          all->rows[i].part, all->rows[i].n);
}

static void assert_writes(const calls *all, size_t n, const char *verb, const char *resource,
                          const char *part)
{
    if (calls_sum(all, verb, resource, part) == n)
        return;
    print_calls(all);
    fail_msg("%s %s/%s: %zu, not %zu", verb, resource, part, calls_sum(all, verb, resource, part),
             n);
}

/* Pods that no node takes. */
static void robot_without_nodes_takes_ten_writes(void **state)
{
    (void)state;
    kc_scoped(fixture) p = fixture_begin(1, KC_PODS_NONE);
    const calls all = count_writes_of_robot(&p);
    assert_writes(&all, 1, "create", "robots", "");
    assert_writes(&all, 1, "create", "deployments", "");
    assert_writes(&all, 1, "create", "replicasets", "");
    assert_writes(&all, 2, "create", "pods", "");
    /* It has two pods: not first that it has none. */
    assert_writes(&all, 1, NULL, "replicasets", "status");
    /* It has a set, its deadline has begun, nothing is available, in one; then: it has pods. */
    assert_writes(&all, 2, NULL, "deployments", "status");
    /* And why they stay where they are, as the scheduler says on each. */
    assert_writes(&all, 2, NULL, "pods", "status");
    assert_int_equal(calls_writes(&all), 10);
}

/* Each of what follows says something new. Where two things have happened before a controller looks
 * again, it writes them as one. */
static void robot_is_ready_after_at_most_sixteen_writes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(10); seed++) {
        kc_scoped(fixture) p = fixture_begin(seed, KC_PODS_SIMULATE);
        const calls all = count_writes_of_robot(&p);
        assert_field_is(p.env, &kc_kind_deployment, "robot-one", "status.readyReplicas", "2");
        assert_writes(&all, 1, "create", "robots", "");
        assert_writes(&all, 1, "create", "deployments", "");
        assert_writes(&all, 1, "create", "replicasets", "");
        assert_writes(&all, 2, "create", "pods", "");
        assert_writes(&all, 2, "create", "pods", "binding");
        assert_writes(&all, 2, NULL, "pods", "status");
        const size_t of_set = calls_sum(&all, NULL, "replicasets", "status");
        const size_t of_deployment = calls_sum(&all, NULL, "deployments", "status");
        /* It has pods; one is ready; both are. Of the deployment the same, and before it: it has a
         * set. */
        assert_in_range(of_set, 1, 3);
        assert_in_range(of_deployment, 2, 4);
        assert_int_equal(calls_writes(&all), 9 + of_set + of_deployment);
    }
}

/* Those that Kubernetes has people expect, each once. */
static void robot_records_ten_events(void **state)
{
    (void)state;
    static const struct {
        const char *reason, *part;
        size_t n;
    } expected_events[] = {{"Synced", "Robot synced successfully", 1},
                           {"ScalingReplicaSet", "Scaled up replica set robot-one-", 1},
                           {"SuccessfulCreate", "Created pod: robot-one-", 2},
                           {"Scheduled", "Successfully assigned default/robot-one-", 2},
                           {"Created", "Created container: nginx", 2},
                           {"Started", "Started container nginx", 2}};
    kc_scoped(fixture) p = fixture_begin(1, KC_PODS_SIMULATE);
    const calls all = count_writes_of_robot(&p);
    for (size_t i = 0; i < KC_COUNT(expected_events); i++)
        assert_int_equal(
            count_recorded_events(p.env, expected_events[i].reason, expected_events[i].part),
            expected_events[i].n);
    assert_writes(&all, 10, NULL, "events", NULL);
}

TESTS(robot_without_nodes_takes_ten_writes, robot_is_ready_after_at_most_sixteen_writes,
      robot_records_ten_events)
