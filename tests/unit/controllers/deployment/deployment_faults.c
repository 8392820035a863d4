/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deployments and ReplicaSets under injected faults: the final state is the same as without faults.
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

/* Each: how often the manager ended. Short, since they are lived through once for each write. */
typedef int life(kc_testenv *env);

static int rolled_out_and_undone(kc_testenv *env)
{
    make_deployment_with(env, "web", 2, "'revisionHistoryLimit':0,'progressDeadlineSeconds':3600");
    int crashes = run_through(env);
    set_image(env, "web", "web:2");
    crashes += run_through(env);
    set_image(env, "web", "web:1");
    return crashes + run_through(env);
}

static int paused_and_scaled_in_the_middle(kc_testenv *env)
{
    make_deployment_with(env, "web", 2, "'paused':true,'progressDeadlineSeconds':3600");
    int crashes = run_through(env);
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL, "{'spec':{'paused':false}}");
    crashes += run_through(env);
    set_image(env, "web", "web:2");
    crashes += settle_through(env, BOTH);
    scale_to(env, DEPLOYMENT, "web", 4);
    return crashes + run_through(env);
}

static int recreated(kc_testenv *env)
{
    make_deployment_with(env, "web", 2, "'strategy':{'type':'Recreate'}");
    int crashes = run_through(env);
    set_image(env, "web", "web:2");
    return crashes + run_through(env);
}

static life *const runs[] = {rolled_out_and_undone, paused_and_scaled_in_the_middle, recreated};

static char *without_faults(life *live)
{
    kc_auto(kc_testenv) *env = workloads(1, BOTH);
    live(env);
    return state_text_of(env);
}

static void assert_same(const char *expected, kc_testenv *env, const char *what, size_t n)
{
    kc_autofree char *state_text = state_text_of(env);
    if (strcmp(state_text, expected) != 0)
        fprintf(stderr, "%s %zu:\n%srather than\n%s", what, n, state_text, expected);
    assert_true(strcmp(state_text, expected) == 0);
    assert_true(ever_made(env, SET) <= 3);
}

static void crash_everywhere(life *live)
{
    kc_autofree char *expected = without_faults(live);
    for (size_t n = 1;; n += CRASH_STEP) {
        kc_auto(kc_testenv) *env = workloads(n, BOTH);
        kc_testenv_crash_after(env, n);
        const int crashes = live(env);
        assert_same(expected, env, "crash after write", n);
        if (!crashes) {
            assert_true(n > 15);
            break;
        }
    }
}

static void crash_after_any_write_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(runs); i++)
        crash_everywhere(runs[i]);
}

static void run_with_faults(life *live, const char *expected, const kc_fault_opts *faults,
                            size_t n_faults, uint64_t seed, size_t happened[KC_FAULTS])
{
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

static void with_faults(const kc_fault_opts *faults, size_t n_faults, uint64_t seeds)
{
    size_t happened[KC_FAULTS] = {0};
    for (size_t i = 0; i < KC_COUNT(runs); i++) {
        kc_autofree char *expected = without_faults(runs[i]);
        for (uint64_t seed = 1; seed <= SEEDS_OF(seeds); seed++)
            run_with_faults(runs[i], expected, faults, n_faults, seed, happened);
    }
    for (size_t i = 0; i < n_faults; i++)
        assert_true(happened[faults[i].fault] > 0 || SEEDS_OF(seeds) < seeds);
}

#define FAULTS(...) \
    ((const kc_fault_opts[]){__VA_ARGS__}), KC_COUNT(((const kc_fault_opts[]){__VA_ARGS__}))

static void stale_cache_changes_nothing(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_STALE_READ, .chance = 1}), 5);
}

static void lost_responses_change_nothing(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_LOST_RESPONSE, .chance = 0.3}), 5);
}

static void lost_responses_and_stale_cache_change_nothing(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_STALE_READ, .chance = 1},
                       {.fault = KC_FAULT_LOST_RESPONSE, .chance = 0.2, .kind = SET},
                       {.fault = KC_FAULT_LOST_RESPONSE, .chance = 0.2, .kind = POD},
                       {.fault = KC_FAULT_LOST_RESPONSE, .chance = 0.2, .kind = DEPLOYMENT}),
                5);
}

static void missed_events_change_nothing(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_DROP_WATCH, .chance = 0.5},
                       {.fault = KC_FAULT_EXPIRE_WATCH, .chance = 0.5}),
                5);
}

static void occasional_server_errors_change_nothing(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_UNAVAILABLE, .chance = 0.2},
                       {.fault = KC_FAULT_CONFLICT, .chance = 0.2},
                       {.fault = KC_FAULT_TOO_MANY, .chance = 0.1},
                       {.fault = KC_FAULT_SLOW, .chance = 0.2}),
                5);
}

TESTS(crash_after_any_write_changes_nothing, stale_cache_changes_nothing,
      lost_responses_change_nothing, lost_responses_and_stale_cache_change_nothing,
      missed_events_change_nothing, occasional_server_errors_change_nothing)
