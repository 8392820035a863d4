/* SPDX-License-Identifier: Apache-2.0 */
/* Probes and hooks that may take their time: on threads of their own. */
#include "pods_testing.h"

#include "kc/cancel.h"

/* A simulated runtime whose probes block, as those of processes do. */
typedef struct slow {
    kc__runtime *runtime;
    const kc__runtime_ops *real;
    kc__runtime_ops ops;
    const kc_clock *clock;
    _Atomic int64_t takes;
    _Atomic bool fails;
    _Atomic int hooks, probes;
} slow;

static slow *shared; /* Of the test that runs: operations have no place for it. */

static kc__probe_result slow_probe(kc__runtime *runtime, const kc_pod *pod, const kc_container *c,
                                   int attempt, const kc_probe *probe, kc_cancel *cancel,
                                   kc_error *err)
{
    const bool hook = probe != c->readiness_probe && probe != c->liveness_probe;
    shared->hooks += hook;
    shared->probes += !hook;
    kc_cancel_sleep_until(cancel, shared->clock, kc_clock_deadline(shared->clock, shared->takes));
    if (hook && shared->fails) {
        kc_error_set(err, KC_INTERNAL, "it failed");
        return KC__PROBE_FAILED;
    }
    return shared->real->probe(runtime, pod, c, attempt, probe, cancel, err);
}

static kc_testenv *begin(slow *s, uint64_t seed, int64_t takes)
{
    kc_scoped(kc_error) err = {0};
    kc_testenv *env = plane(seed);
    *s = (slow){.clock = kc_testenv_clock(env), .takes = takes};
    shared = s;
    s->runtime = kc__simulated_runtime_new(&(kc_pods_opts){0}, s->clock, NULL);
    s->real = s->runtime->ops;
    s->ops = *s->real;
    s->ops.probe = slow_probe;
    s->runtime->ops = &s->ops;
    s->runtime->probes_at_once = false;
    add_nodes(env, NULL, s->runtime);
    OK(kc_testenv_run(env, &err), &err);
    kc_testenv_advance(env, 100 * KC_MILLISECOND);
    return env;
}

static void end(slow *s, kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_restart(env, &err) ? 0 : -1, &err);
    s->real->free(s->runtime);
    kc_testenv_stop(env);
}

#define WITH(more)                                                                           \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':'a'},'spec':{" \
    "'nodeName':'simulated-0','containers':[{'name':'main','image':'x'," more "}]}}"

static void a_slow_probe_holds_nobody_up(void **state)
{
    (void)state;
    slow s;
    kc_testenv *env = begin(&s, 1, 3 * KC_SECOND);
    kc_auto(kc_object) *made =
        make(env, WITH("'readinessProbe':{'tcpSocket':{'port':80},'periodSeconds':1}"));
    kc_auto(kc_object) *other = make(env, POD("b", "", ""));
    kc_testenv_advance(env, KC_SECOND);
    assert_pod(env, "b", "status.phase", "Running");
    assert_pod(env, "a", "status.phase", "Running");
    assert_condition(env, "a", "Ready", "False");
    kc_testenv_advance(env, 3 * KC_SECOND);
    assert_condition(env, "a", "Ready", "True");
    assert_in_range(s.probes, 1, 2);
    end(&s, env);
}

static void a_pre_stop_hook_has_its_time(void **state)
{
    (void)state;
    slow s;
    kc_testenv *env = begin(&s, 1, 5 * KC_SECOND);
    kc_auto(kc_object) *made =
        make(env, WITH("'lifecycle':{'preStop':{'exec':{'command':['x']}}}"));
    kc_testenv_advance(env, KC_SECOND);
    remove_pod(env, "a");
    kc_testenv_advance(env, 4 * KC_SECOND);
    assert_true(is_there(env, "a"));
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_false(is_there(env, "a"));
    assert_int_equal(s.hooks, 1);
    end(&s, env);
}

static void a_post_start_hook_that_fails_ends_its_container(void **state)
{
    (void)state;
    slow s;
    kc_testenv *env = begin(&s, 1, KC_SECOND);
    s.fails = true;
    kc_auto(kc_object) *made =
        make(env, WITH("'lifecycle':{'postStart':{'exec':{'command':['x']}}}"));
    kc_testenv_advance(env, 500 * KC_MILLISECOND);
    assert_pod(env, "a", "status.containerStatuses.0.started", "false");
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_true(was_said(env, "a", "FailedPostStartHook", "PostStartHook failed"));
    kc_testenv_advance(env, 20 * KC_SECOND);
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "a");
    kc_autofree char *count = text_at(pod, "status.containerStatuses.0.restartCount");
    assert_in_range(atoi(count), 1, 2);
    end(&s, env);
}

static void stopping_does_not_wait_for_a_probe(void **state)
{
    (void)state;
    slow s;
    kc_testenv *env = begin(&s, 1, KC_HOUR);
    kc_auto(kc_object) *made = make(env, WITH("'livenessProbe':{'tcpSocket':{'port':80}}"));
    kc_testenv_advance(env, KC_SECOND);
    assert_int_equal(s.probes, 1);
    const int64_t before = kc_clock_now(s.clock);
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_restart(env, &err) ? 0 : -1, &err);
    assert_true(kc_clock_now(s.clock) - before < KC_SECOND);
    end(&s, env);
}

static void probes_work_with_threads_as_they_are(void **state)
{
    (void)state;
    slow s;
    kc_testenv *env = begin(&s, 0, 5 * KC_MILLISECOND);
    kc_auto(kc_object) *made =
        make(env, WITH("'readinessProbe':{'tcpSocket':{'port':80},'periodSeconds':1}"));
    for (int i = 0; i < 1000; i++) {
        kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "a");
        kc_autofree char *ready = text_at(pod, "status.containerStatuses.0.ready");
        if (!strcmp(ready, "true"))
            break;
        kc_testenv_advance(env, 10 * KC_MILLISECOND);
    }
    assert_condition(env, "a", "Ready", "True");
    end(&s, env);
}

TESTS(a_slow_probe_holds_nobody_up, a_pre_stop_hook_has_its_time,
      a_post_start_hook_that_fails_ends_its_container, stopping_does_not_wait_for_a_probe,
      probes_work_with_threads_as_they_are)
