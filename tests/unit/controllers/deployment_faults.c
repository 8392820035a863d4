/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deployments and their sets when something goes wrong at every place where it can: what comes out
 * in the end is the same.
 */
#include "workload_testing.h"

#include <stdio.h>

#define DEPLOYMENT &kc_kind_deployment
#define SET        &kc_kind_replica_set
#define POD        &kc_kind_pod
#define BOTH       "deployment,replicaset"

/* How often the manager ended. */
static int run_through(kc_testenv *env)
{
    int crashes = 0;
    do
        crashes += settle_through(env, BOTH);
    while (run_pods(env) > 0);
    return crashes + settle_through(env, BOTH);
}

/* Created, rolled out, undone, scaled in the middle of a roll-out, paused and resumed. */
static int live(kc_testenv *env)
{
    int crashes = 0;
    make_deployment_with(env, "web", 3, "'revisionHistoryLimit':1,'progressDeadlineSeconds':3600");
    crashes += run_through(env);
    set_image(env, "web", "web:2");
    crashes += run_through(env);
    set_image(env, "web", "web:1");
    crashes += run_through(env);
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL, "{'spec':{'paused':true}}");
    crashes += run_through(env);
    set_image(env, "web", "web:3");
    scale_to(env, DEPLOYMENT, "web", 5);
    crashes += run_through(env);
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL, "{'spec':{'paused':false}}");
    crashes += settle_through(env, BOTH);
    scale_to(env, DEPLOYMENT, "web", 4);
    return crashes + run_through(env);
}

static char *without_faults(void)
{
    kc_auto(kc_testenv) *env = workloads(1, BOTH);
    live(env);
    return world_of(env);
}

static void assert_same(const char *expected, kc_testenv *env, const char *what, size_t n)
{
    kc_autofree char *world = world_of(env);
    if (strcmp(world, expected) != 0)
        fprintf(stderr, "%s %zu:\n%srather than\n%s", what, n, world, expected);
    assert_true(strcmp(world, expected) == 0);
    assert_true(ever_made(env, SET) <= 3 + 1); /* A collision would be one more. */
}

static void nothing_is_left_of_the_way(void **state)
{
    (void)state;
    kc_autofree char *world = without_faults();
    assert_contains(world, "Progressing=True/NewReplicaSetAvailable");
    assert_contains(world, "\"deployment.kubernetes.io/revision\":\"4\"");
    assert_contains(world, "availableReplicas=4");
}

static void a_crash_after_any_write_changes_nothing(void **state)
{
    (void)state;
    kc_autofree char *expected = without_faults();
    for (size_t n = 1;; n++) {
        kc_auto(kc_testenv) *env = workloads(n, BOTH);
        kc_testenv_crash_after(env, n);
        const int crashes = live(env);
        assert_same(expected, env, "crash after write", n);
        if (!crashes) {
            assert_true(n > 50);
            break;
        }
    }
}

static void with_faults(const kc_fault_opts *faults, size_t n_faults, uint64_t seeds)
{
    size_t happened[KC_FAULTS] = {0};
    kc_autofree char *expected = without_faults();
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        kc_auto(kc_testenv) *env = workloads(seed, BOTH);
        for (size_t i = 0; i < n_faults; i++)
            kc_testenv_fault(env, &faults[i]);
        live(env);
        for (size_t i = 0; i < n_faults; i++)
            happened[faults[i].fault] += kc_testenv_faults(env, faults[i].fault);
        kc_testenv_clear_faults(env);
        run_through(env);
        assert_same(expected, env, "seed", seed);
    }
    for (size_t i = 0; i < n_faults; i++)
        assert_true(happened[faults[i].fault] > 0);
}

#define FAULTS(...) \
    ((const kc_fault_opts[]){__VA_ARGS__}), KC_COUNT(((const kc_fault_opts[]){__VA_ARGS__}))

static void a_stale_cache_changes_nothing(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_STALE_READ, .chance = 1}), 10);
}

static void lost_answers_change_nothing(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_LOST_ANSWER, .chance = 0.3}), 10);
}

static void lost_answers_and_a_stale_cache_change_nothing(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_STALE_READ, .chance = 1},
                       {.fault = KC_FAULT_LOST_ANSWER, .chance = 0.2, .kind = SET},
                       {.fault = KC_FAULT_LOST_ANSWER, .chance = 0.2, .kind = POD},
                       {.fault = KC_FAULT_LOST_ANSWER, .chance = 0.2, .kind = DEPLOYMENT}),
                10);
}

static void missed_events_change_nothing(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_DROP_WATCH, .chance = 0.5},
                       {.fault = KC_FAULT_EXPIRE_WATCH, .chance = 0.5}),
                10);
}

static void a_server_that_fails_now_and_then_changes_nothing(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_UNAVAILABLE, .chance = 0.2},
                       {.fault = KC_FAULT_CONFLICT, .chance = 0.2},
                       {.fault = KC_FAULT_TOO_MANY, .chance = 0.1},
                       {.fault = KC_FAULT_SLOW, .chance = 0.2}),
                10);
}

TESTS(nothing_is_left_of_the_way, a_crash_after_any_write_changes_nothing,
      a_stale_cache_changes_nothing, lost_answers_change_nothing,
      lost_answers_and_a_stale_cache_change_nothing, missed_events_change_nothing,
      a_server_that_fails_now_and_then_changes_nothing)
