/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pod runner under faults: it crashes between any two writes and is restarted, over a runtime
 * whose containers continue; its cache is stale; watches break. The final pods are the same.
 */
#include "pods_testing.h"

/* A runtime that outlives runners, as processes do. */
typedef struct fixture {
    kc_testenv *env;
    kc__pods_runtime *runtime;
} fixture;

static fixture begin(uint64_t seed)
{
    fixture s = {.env = plane(seed)};
    s.runtime = kc__pods_simulated_runtime_new(&(kc_pods_opts){.start_delay = 100 * KC_MILLISECOND},
                                               kc_testenv_clock(s.env), NULL);
    add_nodes(s.env, &(kc_pods_opts){.nodes = 2, .quiet = true}, s.runtime);
    return s;
}

static void end(fixture *s)
{
    kc__pods_runtime *runtime = s->runtime;
    /* The runner first, then what it works with, then time itself. */
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_restart(s->env, &err) ? 0 : -1, &err);
    runtime->ops->free(runtime);
    kc_testenv_stop(s->env);
}

/* Pods of all sorts; one of them is deleted halfway. Whatever can crash, does so in `pass`. */
static void play(fixture *s, void (*pass)(fixture *s, int64_t ns, void *user), void *user)
{
    kc_auto(kc_object) *a = make(s->env, POD("runs", "", ""));
    kc_auto(kc_object) *b =
        make(s->env, POD("completes", SIMULATED("run-for", "20s"), ",'restartPolicy':'Never'"));
    kc_auto(kc_object) *c = make(s->env, POD("initializes", SIMULATED("run-for.one", "3s"),
                                             ",'initContainers':[{'name':'one','image':'x'}]"));
    kc_auto(kc_object) *d = make(s->env, POD("goes", SIMULATED("stop-delay", "4s"), ""));
    kc_auto(kc_object) *e = make(s->env, POD("refused", "", ",'nodeSelector':{'a':'b'}"));
    pass(s, 10 * KC_SECOND, user);
    remove_pod(s->env, "goes");
    pass(s, 30 * KC_SECOND, user);
}

static void assert_expected_state(fixture *s)
{
    assert_pod(s->env, "runs", "status.phase", "Running");
    assert_condition(s->env, "runs", "Ready", "True");
    assert_pod(s->env, "runs", "status.containerStatuses.0.restartCount", "0");
    assert_pod(s->env, "completes", "status.phase", "Succeeded");
    assert_pod(s->env, "completes", "status.containerStatuses.0.restartCount", "0");
    assert_pod(s->env, "initializes", "status.phase", "Running");
    assert_pod(s->env, "initializes", "status.initContainerStatuses.0.state.terminated.exitCode",
               "0");
    assert_pod(s->env, "refused", "status.reason", "NodeAffinity");
    assert_false(is_there(s->env, "goes"));
    assert_int_equal(kc__pods_simulated_starts(s->runtime), 5);
}

/* ---- crashes ---- */

typedef struct crashes {
    size_t after, seen;
} crashes;

/* Time passes; a runner that has crashed is started again, to crash again after as many writes. */
static void pass_with_crashes(fixture *s, int64_t ns, void *user)
{
    crashes *c = user;
    kc_scoped(kc_error) err = {0};
    for (int64_t t = 0; t < ns; t += KC_SECOND) {
        kc_testenv_advance(s->env, KC_SECOND);
        if (!kc_testenv_crashed(s->env))
            continue;
        c->seen++;
        OK(kc_testenv_restart(s->env, &err) ? 0 : -1, &err);
        add_nodes(s->env, &(kc_pods_opts){.nodes = 2, .quiet = true}, s->runtime);
        OK(kc_testenv_run(s->env, &err), &err);
        if (c->after)
            kc_testenv_crash_after(s->env, c->after);
    }
}

static void crash_after_any_write_changes_nothing(void **state)
{
    (void)state;
    for (size_t after = 1; after <= 24; after += CRASH_STEP) {
        kc_scoped(kc_error) err = {0};
        fixture s = begin(after);
        crashes c = {.after = after};
        OK(kc_testenv_run(s.env, &err), &err);
        kc_testenv_crash_after(s.env, after);
        play(&s, pass_with_crashes, &c);
        c.after = 0;
        pass_with_crashes(&s, 30 * KC_SECOND, &c);
        assert_true(c.seen > 0);
        assert_expected_state(&s);
        end(&s);
    }
}

/* ---- everything else ---- */

static void pass(fixture *s, int64_t ns, void *user)
{
    (void)user;
    kc_testenv_advance(s->env, ns);
}

/* How often the fault has happened. */
static size_t play_with(const kc_fault_opts *fault, uint64_t seed)
{
    size_t times = 0;
    kc_scoped(kc_error) err = {0};
    fixture s = begin(seed);
    if (fault)
        kc_testenv_fault(s.env, fault);
    OK(kc_testenv_run(s.env, &err), &err);
    play(&s, pass, NULL);
    kc_testenv_clear_faults(s.env);
    kc_testenv_advance(s.env, 2 * KC_MINUTE);
    if (fault)
        times = kc_testenv_faults(s.env, fault->fault);
    assert_expected_state(&s);
    end(&s);
    return times;
}

static void run_without_faults_gives_expected_state(void **state)
{
    (void)state;
    play_with(NULL, 1);
}

static void play_seeds(kc_fault fault)
{
    size_t times = 0;
    for (uint64_t seed = 1; seed <= SEEDS_OF(4); seed++)
        times += play_with(&(kc_fault_opts){.fault = fault, .chance = 0.4}, seed);
    assert_true(times > 0);
}

static void stale_cache_changes_nothing(void **state)
{
    (void)state;
    play_seeds(KC_FAULT_STALE_READ);
}

static void missed_events_change_nothing(void **state)
{
    (void)state;
    play_seeds(KC_FAULT_DROP_WATCH);
    play_seeds(KC_FAULT_EXPIRE_WATCH);
}

static void failing_requests_change_nothing(void **state)
{
    (void)state;
    static const kc_fault faults[] = {KC_FAULT_UNAVAILABLE, KC_FAULT_LOST_RESPONSE,
                                      KC_FAULT_CONFLICT, KC_FAULT_TOO_MANY, KC_FAULT_SLOW};
    for (size_t i = 0; i < KC_COUNT(faults); i++)
        play_seeds(faults[i]);
}

static void equal_seeds_give_equal_histories(void **state)
{
    (void)state;
    uint64_t prints[2];
    for (size_t i = 0; i < 2; i++) {
        kc_scoped(kc_error) err = {0};
        fixture s = begin(9);
        OK(kc_testenv_run(s.env, &err), &err);
        play(&s, pass, NULL);
        prints[i] = kc_testenv_fingerprint(s.env);
        end(&s);
    }
    assert_true(prints[0] == prints[1]);
}

/* ---- runtime without state ---- */

static void simulated_pods_continue_after_restart_of_the_process(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *a = make(env, POD("runs", "", ""));
    kc_auto(kc_object) *b =
        make(env, POD("completes", SIMULATED("run-for", "20s"), ",'restartPolicy':'Never'"));
    kc_testenv_advance(env, 10 * KC_SECOND);
    kc_auto(kc_object) *before = look_up(env, &kc_kind_pod, "runs");
    OK(kc_testenv_restart(env, &err) ? 0 : -1, &err);
    add_nodes(env, NULL, NULL);
    kc_auto(kc_object) *c = make(env, POD("new", "", ""));
    settle(env);
    kc_auto(kc_object) *after = look_up(env, &kc_kind_pod, "runs");
    assert_int_equal(kc_object_revision(before), kc_object_revision(after));
    assert_pod(env, "new", "status.podIP", "10.0.0.3");
    kc_testenv_advance(env, 11 * KC_SECOND);
    assert_pod(env, "completes", "status.phase", "Succeeded");
}

static void containers_of_deleted_pods_are_removed(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    fixture s = begin(3);
    OK(kc_testenv_run(s.env, &err), &err);
    kc_auto(kc_object) *a = make(s.env, POD("runs", "", ""));
    kc_auto(kc_object) *b = make(s.env, POD("other", "", ""));
    kc_testenv_advance(s.env, KC_SECOND);
    OK(kc_testenv_restart(s.env, &err) ? 0 : -1, &err);
    OK(kc_client_delete(kc_testenv_client(s.env), &kc_kind_pod, KC_KEY("default", "runs"),
                        &(kc_delete_opts){.immediately = true}, &err),
       &err);
    add_nodes(s.env, &(kc_pods_opts){.nodes = 2}, s.runtime);
    settle(s.env);
    kc__pod_container_report report = {.attempt = -1};
    s.runtime->ops->observe(
        s.runtime, (kc__pod_container_id){kc_object_uid(a), KC_STR("main"), KC__POD_LATEST_ATTEMPT},
        &report);
    assert_int_equal(report.attempt, -1);
    s.runtime->ops->observe(
        s.runtime, (kc__pod_container_id){kc_object_uid(b), KC_STR("main"), KC__POD_LATEST_ATTEMPT},
        &report);
    assert_int_equal(report.phase, KC__POD_CONTAINER_RUNNING);
    end(&s);
}

TESTS(run_without_faults_gives_expected_state, crash_after_any_write_changes_nothing,
      stale_cache_changes_nothing, missed_events_change_nothing, failing_requests_change_nothing,
      equal_seeds_give_equal_histories, simulated_pods_continue_after_restart_of_the_process,
      containers_of_deleted_pods_are_removed)
