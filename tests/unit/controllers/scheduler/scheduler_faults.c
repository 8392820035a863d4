/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler under faults: failed requests, crashes, a stale cache; and on real threads. */
#include "scheduling_testing.h"

enum { MANY = 12 };

static void make_many(kc_testenv *env, int from, int to)
{
    for (int i = from; i < to; i++) {
        kc_autofree char *name = kc_asprintf("p%d", i);
        pod(env, name, "500m", "");
    }
}

/* All are bound, no node has more than it can take, and of none it was said twice. */
static void assert_all_bound(kc_testenv *env, int n, kc_fault fault, uint64_t seed)
{
    int per_node[4] = {0};
    for (int i = 0; i < n; i++) {
        kc_autofree char *name = kc_asprintf("p%d", i), *where = node_of(env, name);
        if (!where || !*where)
            fail_msg("%s is pending (fault %d, seed %d)", name, fault, (int)seed);
        const size_t scheduled_events = count_events(env, name, "Scheduled", "");
        if (scheduled_events > 1 || scheduled_events != count_events(env, name, "Scheduled", where))
            fail_msg("%s was bound twice (fault %d, seed %d)", name, fault, (int)seed);
        per_node[where[strlen("node-")] - '0']++;
    }
    for (int i = 0; i < 4; i++)
        if (per_node[i] > 4)
            fail_msg("node-%d has %d pods (fault %d, seed %d)", i, per_node[i], fault, (int)seed);
}

static void assert_converges(kc_fault fault, uint64_t seed)
{
    kc_auto(kc_testenv) *env = scheduling(seed);
    nodes(env, 4);
    kc_testenv_fault(env, &(kc_fault_opts){fault, .chance = 0.3});
    make_many(env, 0, MANY / 2);
    kc_testenv_settle_within(env, 2 * KC_MINUTE, NULL);
    make_many(env, MANY / 2, MANY);
    kc_testenv_advance(env, KC_MINUTE);
    kc_testenv_clear_faults(env);
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_settle_within(env, 10 * KC_MINUTE, &err), &err);
    kc_testenv_advance(env, 30 * KC_SECOND);
    assert_all_bound(env, MANY, fault, seed);
}

static void scheduler_converges_under_every_fault(void **state)
{
    (void)state;
    for (int fault = 1; fault < KC_FAULTS; fault++)
        for (uint64_t seed = 1; seed <= SEEDS_OF(3); seed++)
            assert_converges((kc_fault)fault, seed);
}

static void stale_cache_overcommits_no_node(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(5); seed++) {
        kc_auto(kc_testenv) *env = scheduling(seed);
        nodes(env, 3);
        settle(env);
        kc_testenv_fault(env,
                         &(kc_fault_opts){KC_FAULT_STALE_READ, .chance = 1, .kind = &kc_kind_pod});
        make_many(env, 0, MANY);
        kc_testenv_advance(env, KC_MINUTE);
        kc_testenv_clear_faults(env);
        kc_testenv_advance(env, KC_MINUTE);
        assert_all_bound(env, MANY, KC_FAULT_STALE_READ, seed);
    }
}

/* However late what was said before arrives. */
static void last_condition_stays_when_older_patches_arrive_late(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(5); seed++) {
        kc_auto(kc_testenv) *env = scheduling(seed);
        kc_testenv_fault(env, &(kc_fault_opts){KC_FAULT_SLOW, .chance = 1, .method = "PATCH"});
        node(env, "one", "", "{'key':'k','effect':'NoSchedule'}");
        pod(env, "big", "3", "");
        settle(env);
        for (int i = 0; i < 4; i++) {
            patch(env, &kc_kind_node, "one", NULL,
                  i % 2 ? "{'spec':{'taints':null}}"
                        : "{'spec':{'taints':[{'key':'l','effect':'NoSchedule'}]}}");
            kc_testenv_advance(env, 1500 * KC_MILLISECOND);
        }
        kc_testenv_advance(env, 30 * KC_SECOND);
        kc_autofree char *why = condition_of(env, "big");
        assert_contains(why, "0/1 nodes are available: 1 Insufficient cpu.");
    }
}

static void crash_between_two_writes_is_recovered(void **state)
{
    (void)state;
    for (size_t writes = 1; writes <= 2 * MANY + 1; writes += CRASH_STEP) {
        kc_auto(kc_testenv) *env = scheduling(20);
        nodes(env, 4);
        make_many(env, 0, MANY);
        kc_testenv_crash_after(env, writes);
        kc_testenv_settle(env, NULL);
        kc_testenv_advance(env, KC_SECOND);
        if (kc_testenv_crashed(env)) {
            assert_non_null(kc_testenv_restart(env, NULL));
            add_scheduler(kc_testenv_manager(env));
        }
        settle(env);
        kc_testenv_advance(env, 30 * KC_SECOND);
        assert_all_bound(env, MANY, KC_FAULT_NONE, writes);
    }
}
static uint64_t fingerprint(uint64_t seed)
{
    kc_auto(kc_testenv) *env = scheduling(seed);
    nodes(env, 4);
    make_many(env, 0, MANY);
    settle(env);
    return kc_testenv_fingerprint(env);
}

static void equal_seeds_give_equal_runs(void **state)
{
    (void)state;
    assert_true(fingerprint(1) == fingerprint(1));
    assert_true(fingerprint(1) != fingerprint(2));
}

static void assert_bound_soon(kc_testenv *env, const char *name)
{
    for (int tries = 0; tries < 10000 && !is_bound(env, name); tries++)
        kc_testenv_advance(env, 10 * KC_MILLISECOND);
    assert_true(is_bound(env, name));
}

/* Pods come and go while others are bound, on real threads. */
static void pods_are_scheduled_during_churn_with_real_clock(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(0);
    nodes(env, 4);
    settle(env);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 4 * MANY; i++) {
            kc_autofree char *name = kc_asprintf("r%d-%d", round, i);
            pod(env, name, "10m", "terminationGracePeriodSeconds: 0");
        }
        for (int i = 0; i < 4 * MANY && round; i++) {
            kc_autofree char *name = kc_asprintf("r%d-%d", round - 1, i);
            delete_pod(env, name);
        }
    }
    for (int i = 0; i < 30; i++) {
        kc_autofree char *name = kc_asprintf("r3-%d", i);
        delete_pod(env, name);
    }
    for (int i = 30; i < 4 * MANY; i++) {
        kc_autofree char *name = kc_asprintf("r3-%d", i);
        assert_bound_soon(env, name);
    }
}

static void works_with_real_clock_and_threads(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(0);
    nodes(env, 4);
    make_many(env, 0, MANY);
    settle(env);
    for (int i = 0; i < MANY; i++) {
        kc_autofree char *name = kc_asprintf("p%d", i);
        assert_bound_soon(env, name);
    }
}

TESTS(last_condition_stays_when_older_patches_arrive_late, scheduler_converges_under_every_fault,
      stale_cache_overcommits_no_node, crash_between_two_writes_is_recovered,
      equal_seeds_give_equal_runs, pods_are_scheduled_during_churn_with_real_clock,
      works_with_real_clock_and_threads)
