/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The garbage collector under faults: crashes between two writes, stale caches, broken watches,
 * failed requests. The final state is the same as without faults.
 */
#include "garbage_testing.h"

/* One of each: trees that are deleted in the background, in the foreground and without their
 * dependents, a circle, and children that keep another owner. */
static void create_objects(kc_testenv *env)
{
    kc_auto(kc_object) *keeper = map(env, "keeper", NO_OWNERS);
    static const char *const trees[] = {"background", "foreground", "orphan"};
    for (size_t i = 0; i < KC_COUNT(trees); i++) {
        kc_auto(kc_object) *root = map(env, trees[i], NO_OWNERS);
        kc_autofree char *name = kc_asprintf("%s-child", trees[i]);
        kc_autofree char *below = kc_asprintf("%s-grandchild", trees[i]);
        kc_autofree char *shared = kc_asprintf("%s-shared", trees[i]);
        kc_autofree char *secret = kc_asprintf("%s-secret", trees[i]);
        kc_auto(kc_object) *child = map(env, name, OWNERS(root));
        kc_object_unref(map(env, below, OWNERS(child)));
        kc_object_unref(map(env, shared, OWNERS(root, keeper)));
        kc_object_unref(make_owned(env, "v1 Secret", "default", secret, OWNERS(root), false));
    }
    kc_auto(kc_object) *a = map(env, "circle-a", NO_OWNERS);
    kc_auto(kc_object) *b = map(env, "circle-b", OWNERS(a));
    kc_scoped(kc_buf) patch = {0};
    kc_buf_puts(&patch, "{\"metadata\":{\"ownerReferences\":[");
    write_owners(&patch, OWNERS(b), true);
    kc_buf_puts(&patch, "]}}");
    change_map(env, "circle-a", kc_buf_cstr(&patch));
}

static void delete_owners(kc_testenv *env)
{
    remove_map(env, "background", "Background");
    remove_map(env, "foreground", "Foreground");
    remove_map(env, "orphan", "Orphan");
    remove_map(env, "circle-a", "Foreground");
}

static void write_state(kc_testenv *env, const kc_kind *kind, kc_buf *out)
{
    kc_scoped(kc_object_list) list = {0};
    kc_scoped(kc_error) err = {0};
    OK(kc_client_list(kc_testenv_client(env), kind, &(kc_list_opts){.ns = "default"}, &list, &err),
       &err);
    for (size_t i = 0; i < list.n; i++) {
        kc_scoped(kc_arena) arena = {0};
        kc_meta_iter at = kc_object_owners(list.items[i], &arena);
        kc_owner owner;
        kc_buf_printf(out, "%.*s%s:", KC_ARG(kc_object_name(list.items[i])),
                      kc_object_being_deleted(list.items[i]) ? " (going)" : "");
        while (kc_meta_next_owner(&at, &owner))
            kc_buf_printf(out, " %.*s", KC_ARG(owner.name));
        kc_buf_putc(out, '\n');
    }
}

/* What is there in the end. */
static const char expected[] = "keeper:\n"
                               "orphan-child:\n"
                               "orphan-grandchild: orphan-child\n"
                               "orphan-shared: keeper\n"
                               "background-shared: keeper\n"
                               "foreground-shared: keeper\n"
                               "orphan-secret:\n";

static void assert_converged(kc_testenv *env, const char *what, int n)
{
    kc_scoped(kc_buf) state = {0};
    write_state(env, &kc_kind_config_map, &state);
    write_state(env, &kc_kind_secret, &state);
    kc_str rest = kc_cstr(expected);
    size_t lines = 0;
    while (rest.n) {
        const kc_str line = kc_str_cut(&rest, '\n');
        if (!kc_str_contains(kc_buf_str(&state), line))
            fail_msg("%s %d: \"%.*s\" is not in:\n%s", what, n, KC_ARG(line), kc_buf_cstr(&state));
        lines++;
    }
    for (size_t i = 0; i < state.n; i++)
        lines -= state.p[i] == '\n';
    if (lines)
        fail_msg("%s %d: unexpected objects:\n%s", what, n, kc_buf_cstr(&state));
}

static void settle_long(kc_testenv *env, const char *what, int n)
{
    kc_scoped(kc_error) err = {0};
    if (kc_testenv_settle_within(env, 20 * KC_MINUTE, &err) < 0)
        fail_msg("%s %d: %s", what, n, kc_error_text(&err));
}

static void collector_converges_without_faults(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(20); seed++) {
        kc_auto(kc_testenv) *env = collected(seed);
        create_objects(env);
        settle(env);
        delete_owners(env);
        settle(env);
        assert_converged(env, "seed", (int)seed);
    }
}

static void deletions_before_the_start_are_collected(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(20); seed++) {
        kc_auto(kc_testenv) *env = collected(seed);
        create_objects(env);
        delete_owners(env);
        settle(env);
        assert_converged(env, "seed", (int)seed);
    }
}

/* True when there were so many writes. */
static bool crash_after(size_t writes, uint64_t seed)
{
    kc_auto(kc_testenv) *env = collected(seed);
    kc_scoped(kc_error) err = {0};
    create_objects(env);
    settle(env);
    kc_testenv_crash_after(env, writes);
    delete_owners(env);
    kc_testenv_settle(env, NULL);
    const bool crashed = kc_testenv_crashed(env);
    if (crashed) {
        kc_manager *next = kc_testenv_restart(env, &err);
        if (!next)
            fail_msg("%s", kc_error_text(&err));
        add_collector(next);
    }
    settle_long(env, "crash after write", (int)writes);
    assert_converged(env, "crash after write", (int)writes);
    return crashed;
}

static void crash_after_any_write_is_recovered(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(3); seed++) {
        size_t writes = 1;
        while (crash_after(writes, seed))
            writes += CRASH_STEP;
        assert_true(writes > 10);
    }
}

static void assert_converges_with(const kc_fault_opts *fault, uint64_t seed)
{
    kc_auto(kc_testenv) *env = collected(seed);
    create_objects(env);
    settle(env);
    kc_testenv_fault(env, fault);
    delete_owners(env);
    kc_testenv_settle_within(env, 5 * KC_MINUTE, NULL);
    kc_testenv_clear_faults(env);
    settle_long(env, "fault", (int)fault->fault);
    assert_converged(env, "fault", (int)fault->fault);
}

static void collector_converges_under_every_fault(void **state)
{
    (void)state;
    for (int fault = 1; fault < KC_FAULTS; fault++)
        for (uint64_t seed = 1; seed <= SEEDS_OF(5); seed++)
            assert_converges_with(&(kc_fault_opts){.fault = (kc_fault)fault, .chance = 0.3}, seed);
}

static void stale_caches_do_not_delete_too_much(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(10); seed++)
        assert_converges_with(&(kc_fault_opts){.fault = KC_FAULT_STALE_READ, .chance = 1}, seed);
}

static void deletions_missed_by_the_watch_are_collected(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(5); seed++) {
        assert_converges_with(
            &(kc_fault_opts){.fault = KC_FAULT_EXPIRE_WATCH, .chance = 1, .times = 200}, seed);
        assert_converges_with(
            &(kc_fault_opts){.fault = KC_FAULT_DROP_WATCH, .chance = 1, .times = 200}, seed);
    }
}

static void new_leader_continues_the_collection(void **state)
{
    (void)state;
    kc_testenv_opts opts = {.seed = 5,
                            .manager = {.election.name = "gc", .restart_on_lost_lease = true}};
    kc_auto(kc_testenv) *env = kc_testenv_start(&opts, NULL);
    add_collector(kc_testenv_manager(env));
    create_objects(env);
    settle(env);
    assert_int_equal(kc_testenv_steal_lease(env, NULL), 0);
    kc_testenv_advance(env, 14 * KC_SECOND);
    assert_false(kc_manager_is_leader(kc_testenv_manager(env)));
    delete_owners(env);
    kc_testenv_advance(env, KC_SECOND);
    assert_true(has_map(env, "background-child"));
    settle_long(env, "leader", 0);
    assert_converged(env, "leader", 0);
}

static void collector_survives_restart_of_the_server(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(6);
    create_objects(env);
    settle(env);
    assert_int_equal(kc_testenv_restart_server(env, NULL), 0);
    delete_owners(env);
    settle_long(env, "server", 0);
    assert_converged(env, "server", 0);
}

static uint64_t fingerprint(uint64_t seed)
{
    kc_auto(kc_testenv) *env = collected(seed);
    create_objects(env);
    kc_testenv_fault(env, &(kc_fault_opts){KC_FAULT_SLOW, .chance = 0.3});
    delete_owners(env);
    settle(env);
    return kc_testenv_fingerprint(env);
}

static void equal_seeds_give_equal_runs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(3); seed++)
        assert_true(fingerprint(seed) == fingerprint(seed));
}

static void works_with_real_clock_and_threads(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(0);
    create_objects(env);
    settle(env);
    delete_owners(env);
    settle(env);
    assert_converged(env, "real time", 0);
}

TESTS(collector_converges_without_faults, deletions_before_the_start_are_collected,
      crash_after_any_write_is_recovered, collector_converges_under_every_fault,
      stale_caches_do_not_delete_too_much, deletions_missed_by_the_watch_are_collected,
      new_leader_continues_the_collection, collector_survives_restart_of_the_server,
      equal_seeds_give_equal_runs, works_with_real_clock_and_threads)
