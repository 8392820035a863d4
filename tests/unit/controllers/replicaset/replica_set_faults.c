/* SPDX-License-Identifier: Apache-2.0 */
/* ReplicaSets under injected faults: the final state is the same, and no pod was created twice. */
#include "workload_testing.h"

#define SET         &kc_kind_replica_set
#define POD         &kc_kind_pod
#define CONTROLLERS "replicaset"

/* What a run leaves. */
typedef struct outcome {
    char *state_text;
    size_t pods; /* Ever made. */
} outcome;

static void outcome_done(outcome *o)
{
    free(o->state_text);
}

/* The pods that are the set's, and of them the i-th by name. */
static char *choose_pod(kc_testenv *env, size_t i)
{
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    for (size_t k = 0; k < pods.n; k++) {
        kc_autofree char *phase = text_at(pods.items[k], "status.phase");
        if (kc_object_owners_json(pods.items[k]).n && strcmp(phase, "Failed") != 0 && i-- == 0)
            return kc_str_dup(kc_object_name(pods.items[k]));
    }
    fail_msg("fewer pods than expected");
    return NULL;
}

static int go(kc_testenv *env)
{
    return settle_through(env, CONTROLLERS);
}

/* A set that grows, loses pods in every way, and shrinks. How often the manager ended. */
static int run_scenario(kc_testenv *env)
{
    int crashes = 0;
    make_set(env, "web", 6);
    crashes += go(env);
    run_pods(env);
    crashes += go(env);
    kc_autofree char *first = choose_pod(env, 0), *second = choose_pod(env, 1),
                     *third = choose_pod(env, 2);
    set_pod(env, kc_cstr(first), "Failed", false);
    crashes += go(env);
    patch_with(env, POD, kc_cstr(second), NULL, "{'metadata':{'labels':{'app':'debug'}}}");
    crashes += go(env);
    kc_client_delete(kc_testenv_client(env), POD, KC_KEY("default", third), NULL, NULL);
    crashes += go(env);
    run_pods(env);
    scale_to(env, SET, "web", 9);
    crashes += go(env);
    run_pods(env);
    scale_to(env, SET, "web", 4);
    crashes += go(env);
    return crashes;
}

static outcome outcome_of(kc_testenv *env)
{
    return (outcome){state_text_of(env), ever_made(env, POD)};
}

static outcome without_faults(uint64_t seed)
{
    kc_auto(kc_testenv) *env = workloads(seed, CONTROLLERS);
    run_scenario(env);
    return outcome_of(env);
}

static void assert_same(const outcome *a, const outcome *b, const char *what, size_t n)
{
    if (strcmp(a->state_text, b->state_text) != 0 || a->pods != b->pods)
        print_error("%s %zu: pods made %zu, not %zu\n%s\nrather than\n%s", what, n, b->pods,
                    a->pods, b->state_text, a->state_text);
    assert_string_equal(a->state_text, b->state_text);
    assert_int_equal(a->pods, b->pods);
}

/* ---- crashes ---- */

static void crash_after_any_write_changes_nothing(void **state)
{
    (void)state;
    kc_scoped(outcome) expected = without_faults(1);
    for (size_t n = 1;; n += CRASH_STEP) {
        kc_auto(kc_testenv) *env = workloads(n, CONTROLLERS);
        kc_testenv_crash_after(env, n);
        const int crashes = run_scenario(env);
        kc_scoped(outcome) o = outcome_of(env);
        assert_same(&expected, &o, "crash after write", n);
        if (!crashes) {
            assert_true(n > 30);
            break;
        }
    }
}

/* ---- everything else ---- */

static void with_faults(const kc_fault_opts *faults, size_t n_faults, uint64_t seeds)
{
    size_t happened[KC_FAULTS] = {0};
    kc_scoped(outcome) expected = without_faults(1);
    for (uint64_t seed = 1; seed <= SEEDS_OF(seeds); seed++) {
        kc_auto(kc_testenv) *env = workloads(seed, CONTROLLERS);
        for (size_t i = 0; i < n_faults; i++)
            kc_testenv_fault(env, &faults[i]);
        run_scenario(env);
        for (size_t i = 0; i < n_faults; i++)
            happened[faults[i].fault] += kc_testenv_faults(env, faults[i].fault);
        kc_testenv_clear_faults(env);
        go(env);
        kc_scoped(outcome) o = outcome_of(env);
        assert_same(&expected, &o, "seed", seed);
    }
    for (size_t i = 0; i < n_faults; i++)
        assert_true(happened[faults[i].fault] > 0 || SEEDS_OF(seeds) < seeds);
}

#define FAULTS(...) \
    ((const kc_fault_opts[]){__VA_ARGS__}), KC_COUNT(((const kc_fault_opts[]){__VA_ARGS__}))

static void stale_cache_creates_nothing_twice(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_STALE_READ, .chance = 1}), 10);
}

static void lost_response_creates_nothing_twice(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_LOST_RESPONSE, .chance = 0.3}), 10);
}

static void lost_response_and_stale_cache_create_nothing_twice(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_STALE_READ, .chance = 1},
                       {.fault = KC_FAULT_LOST_RESPONSE, .chance = 0.3, .kind = POD}),
                20);
}

static void missed_events_change_nothing(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_DROP_WATCH, .chance = 0.5},
                       {.fault = KC_FAULT_EXPIRE_WATCH, .chance = 0.5}),
                10);
}

static void occasional_server_errors_change_nothing(void **state)
{
    (void)state;
    with_faults(FAULTS({.fault = KC_FAULT_UNAVAILABLE, .chance = 0.2},
                       {.fault = KC_FAULT_CONFLICT, .chance = 0.2},
                       {.fault = KC_FAULT_TOO_MANY, .chance = 0.1},
                       {.fault = KC_FAULT_SLOW, .chance = 0.2}),
                10);
}

TESTS(crash_after_any_write_changes_nothing, stale_cache_creates_nothing_twice,
      lost_response_creates_nothing_twice, lost_response_and_stale_cache_create_nothing_twice,
      missed_events_change_nothing, occasional_server_errors_change_nothing)
