/* SPDX-License-Identifier: Apache-2.0 */
/* Slow probes and hooks, which run on their own threads. */
#include "pods_testing.h"

#include "kc/cancel.h"

/* A simulated runtime whose probes block, as those of processes do. */
typedef struct slow {
    kc__pods_runtime *runtime;
    const kc__pods_runtime_ops *real;
    kc__pods_runtime_ops ops;
    const kc_clock *clock;
    _Atomic int64_t takes;
    _Atomic bool fails;
    _Atomic int hooks, probes;
    _Atomic int measuring, most_measuring;
    _Atomic int64_t measure_takes;
    _Atomic bool is_full;
} slow;

static slow *shared; /* Of the test that runs: operations have no place for it. */

static kc__pod_probe_result slow_probe(kc__pods_runtime *runtime, const kc_pod *pod,
                                       const kc_container *c, int attempt, const kc_probe *probe,
                                       kc_cancel *cancel, kc_error *err)
{
    const bool hook = probe != c->readiness_probe && probe != c->liveness_probe;
    shared->hooks += hook;
    shared->probes += !hook;
    kc_cancel_sleep_until(cancel, shared->clock, kc_clock_deadline(shared->clock, shared->takes));
    if (hook && shared->fails) {
        kc_error_set(err, KC_INTERNAL, "it failed");
        return KC__POD_PROBE_FAILED;
    }
    return shared->real->probe(runtime, pod, c, attempt, probe, cancel, err);
}

static int slow_measure(kc__pods_runtime *runtime, const kc_pod *pod, kc_error *err)
{
    (void)runtime;
    (void)pod;
    const int now = ++shared->measuring;
    shared->most_measuring = KC_MAX(shared->most_measuring, now);
    kc_clock_sleep(shared->clock, shared->measure_takes);
    shared->measuring--;
    return shared->is_full ? kc_error_set(err, KC_FORBIDDEN, "Usage of EmptyDir volume \"v\"") : 0;
}

static void some_ignored(kc__pods_runtime *runtime, const kc_pod *pod, kc_buf *out)
{
    (void)runtime;
    if (pod->spec.hostname)
        kc_buf_puts(out, "hostname (no)");
}

static kc_testenv *begin(slow *s, uint64_t seed, int64_t takes)
{
    kc_scoped(kc_error) err = {0};
    kc_testenv *env = plane(seed);
    *s = (slow){.clock = kc_testenv_clock(env), .takes = takes};
    shared = s;
    s->runtime = kc__pods_simulated_runtime_new(&(kc_pods_opts){0}, s->clock, NULL);
    s->real = s->runtime->ops;
    s->ops = *s->real;
    s->ops.probe = slow_probe;
    s->ops.measure = slow_measure;
    s->ops.ignored = some_ignored;
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

static void slow_probe_does_not_delay_other_pods(void **state)
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

static void pre_stop_hook_delays_the_stop(void **state)
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

static void failed_post_start_hook_restarts_its_container(void **state)
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
    assert_true(has_recorded_event(env, "a", "FailedPostStartHook", "PostStartHook failed"));
    kc_testenv_advance(env, 20 * KC_SECOND);
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "a");
    kc_autofree char *count = text_at(pod, "status.containerStatuses.0.restartCount");
    assert_in_range(atoi(count), 1, 2);
    end(&s, env);
}

static void stop_does_not_wait_for_a_probe(void **state)
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

static void probes_work_with_real_threads(void **state)
{
    (void)state;
    slow s;
    kc_testenv *env = begin(&s, 0, 5 * KC_MILLISECOND);
    kc_auto(kc_object) *made =
        make(env, WITH("'readinessProbe':{'tcpSocket':{'port':80},'periodSeconds':1}"));
    for (int i = 0; i < 10000; i++) {
        kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "a");
        kc_autofree char *ready = text_at(pod, "status.containerStatuses.0.ready");
        if (!strcmp(ready, "true"))
            break;
        kc_testenv_advance(env, 10 * KC_MILLISECOND);
    }
    assert_condition(env, "a", "Ready", "True");
    end(&s, env);
}

#define LIMITED(name, more) \
    POD(name, "", more ",'volumes':[{'name':'v','emptyDir':{'sizeLimit':'1Mi'}}]")

static void pod_that_exceeds_its_storage_is_evicted(void **state)
{
    (void)state;
    slow s;
    kc_testenv *env = begin(&s, 1, 0);
    kc_auto(kc_object) *made = make(env, LIMITED("a", ""));
    kc_testenv_advance(env, 25 * KC_SECOND);
    assert_pod(env, "a", "status.phase", "Running");
    s.is_full = true;
    kc_testenv_advance(env, 15 * KC_SECOND);
    assert_pod(env, "a", "status.phase", "Failed");
    assert_pod(env, "a", "status.reason", "Evicted");
    assert_pod(env, "a", "status.message", "Usage of EmptyDir volume \"v\"");
    assert_true(has_recorded_event(env, "a", "Evicted", "Usage of EmptyDir volume"));
    end(&s, env);
}

static void measurements_leave_threads_for_probes(void **state)
{
    (void)state;
    slow s;
    kc_testenv *env = begin(&s, 1, 10 * KC_MILLISECOND);
    s.measure_takes = 60 * KC_SECOND;
    static const char *const names[] = {"b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *text = kc_asprintf(
            "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':'%s'},"
            "'spec':{'nodeName':'simulated-0','containers':[{'name':'main','image':'x'}],"
            "'volumes':[{'name':'v','emptyDir':{'sizeLimit':'1Mi'}}]}}",
            names[i]);
        kc_auto(kc_object) *made = make(env, text);
    }
    kc_auto(kc_object) *probed =
        make(env, WITH("'readinessProbe':{'tcpSocket':{'port':80},'periodSeconds':1}"));
    kc_testenv_advance(env, 15 * KC_SECOND);
    const int before = s.probes;
    kc_testenv_advance(env, 10 * KC_SECOND);
    assert_int_equal(s.most_measuring, 2);
    assert_in_range(s.probes - before, 9, 11);
    end(&s, env);
}

static void ignored_fields_are_reported_once(void **state)
{
    (void)state;
    slow s;
    kc_testenv *env = begin(&s, 1, 0);
    kc_auto(kc_object) *a = make(env, POD("a", "", ",'hostname':'x'"));
    kc_auto(kc_object) *b = make(env, POD("b", "", ""));
    kc_testenv_advance(env, KC_SECOND);
    assert_condition(env, "a", KC__POD_CONDITION_APPLIED, "False");
    assert_true(has_recorded_event(env, "a", KC__POD_REASON_IGNORED,
                                   "Not applied on this node: hostname (no)"));
    assert_false(has_recorded_event(env, "b", KC__POD_REASON_IGNORED, ""));
    assert_pod(env, "a", "status.phase", "Running");
    end(&s, env);
}

TESTS(pod_that_exceeds_its_storage_is_evicted, measurements_leave_threads_for_probes,
      ignored_fields_are_reported_once, slow_probe_does_not_delay_other_pods,
      pre_stop_hook_delays_the_stop, failed_post_start_hook_restarts_its_container,
      stop_does_not_wait_for_a_probe, probes_work_with_real_threads)
