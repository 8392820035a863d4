/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a controller does with the results of its reconciler, without a server: keys come from a
 * channel or are added to its queue. Tests with objects are in controller_objects.c.
 */
#include "runtime/controller_internal.h"

#include "testing.h"

#include <stdio.h>

/* Sanitizers keep signals for themselves. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* A controller that runs on a thread of its own, in virtual time. */
typedef struct fixture {
    kc_clock *clock;
    kc_metrics *metrics;
    kc_log *log;
    kc_buf lines; /* What was logged. Read while the controller sleeps. */
    kc_channel *channel;
    kc_controller *controller;
    kc_cancel *stop;
    kc_thread *thread;
    size_t sleepers; /* Threads of it that sleep when there is nothing to do. */
    kc_error failure;

    /* What the reconciler does, and did. */
    kc_result result;
    bool fails;
    int64_t takes; /* How long, unless cancelled. */
    _Atomic int calls;
    _Atomic int cancelled;
    kc_reason reason; /* Of failures. Defaults to KC_CONFLICT. */
    _Atomic int last_priority;
    int64_t last_deadline;
    kc_queue_cause last_cause;
    bool crashes, faults;
    char *nowhere;
} fixture;

static void keep_line(kc_str line, void *user)
{
    kc_buf_append(user, line);
}

static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    fixture *f = ctx->user;
    f->calls++;
    f->last_priority = request->priority;
    f->last_deadline = ctx->deadline;
    f->last_cause = request->item->causes[0];
    if (f->takes)
        f->cancelled += !kc_cancel_sleep_until(ctx->cancel, ctx->clock,
                                               kc_clock_deadline(ctx->clock, f->takes));
    if (f->faults)
        *(volatile char *volatile)f->nowhere = 1;
    if (f->crashes)
        kc_reconcile_abort("the robot %s has three arms", "r1");
    if (f->fails)
        kc_error_set(err, f->reason ? f->reason : KC_CONFLICT, "somebody was faster");
    return f->result;
}

static void run(void *user)
{
    fixture *f = user;
    kc__controller_run(f->stop, f->controller, &f->failure);
}

static void begin(fixture *f, kc_controller_opts opts)
{
    *f = (fixture){.clock = kc_clock_virtual_new(0), .metrics = kc_metrics_new()};
    f->log = kc_log_new(&(kc_log_opts){
        .format = KC_LOG_JSON, .clock = f->clock, .write = keep_line, .user = &f->lines});
    f->channel = kc_channel_new();
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    opts.name = "robot";
    opts.user = f;
    opts.reconcile = reconcile;
    opts.sources = KC_SOURCES(kc_source_channel(f->channel));
    f->controller = kc__controller_create(
        &(kc__controller_env){
            .log = f->log, .metrics = f->metrics, .clock = f->clock, .rand = &rand},
        &opts, &f->failure);
    assert_non_null(f->controller);
    f->sleepers = 1 + (size_t)KC_MAX(opts.workers, 1) + (opts.timeout > 0);
    f->stop = kc_cancel_new(NULL);
    f->thread = kc_thread_start("controller", run, f, NULL);
    kc_clock_await_waiters(f->clock, f->sleepers);
}

static void stop(fixture *f)
{
    kc_cancel_fire(f->stop);
    f->thread = kc_thread_join(f->thread);
}

static void fixture_done(fixture *f)
{
    stop(f);
    kc__controller_free(f->controller);
    kc_channel_unref(f->channel);
    kc_cancel_unref(f->stop);
    kc_log_free(f->log);
    kc_metrics_free(f->metrics);
    kc_buf_done(&f->lines);
    kc_error_done(&f->failure);
    kc_clock_free(f->clock);
}

/* Sends a key, and waits until nothing more happens by itself. */
static void send(fixture *f, const char *name)
{
    kc_channel_send(f->channel, KC_KEY("plant", name), NULL);
    kc_clock_await_waiters(f->clock, f->sleepers);
}

static kc_queue_counts counts_of(const fixture *f)
{
    return kc_queue_count(kc_controller_queue(f->controller));
}

static int failures_of(const fixture *f, const char *name)
{
    return kc_queue_failures(kc_controller_queue(f->controller), KC_KEY("plant", name));
}

static void assert_metric(const fixture *f, const char *line)
{
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(f->metrics, &out);
    assert_contains(kc_buf_cstr(&out), line);
}

/* ---- results ---- */

static void done_forgets_failures(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    kc_queue_add_rate_limited(kc_controller_queue(f.controller), KC_KEY("plant", "r1"));
    assert_int_equal(failures_of(&f, "r1"), 1);
    send(&f, "r1");
    assert_int_equal(f.calls, 1);
    assert_int_equal(failures_of(&f, "r1"), 0);
    kc_queue_counts counts = counts_of(&f);
    assert_int_equal(counts.ready + counts.delayed + counts.processing, 0);
    assert_metric(&f, "controller_runtime_reconcile_total{controller=\"robot\",result=\"success\"} "
                      "1\n");
    assert_metric(&f, "controller_runtime_reconcile_time_seconds_count{controller=\"robot\"} 1\n");
    assert_metric(&f, "controller_runtime_active_workers{controller=\"robot\"} 0\n");
}

static void after_forgets_and_comes_again_then(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.result = kc_again_after(KC_MINUTE);
    kc_queue_add_rate_limited(kc_controller_queue(f.controller), KC_KEY("plant", "r1"));
    send(&f, "r1");
    assert_int_equal(failures_of(&f, "r1"), 0);
    assert_int_equal(counts_of(&f).delayed, 1);
    assert_int_equal(counts_of(&f).retrying, 0);
    kc_clock_run(f.clock, KC_MINUTE - 1, f.sleepers);
    assert_int_equal(f.calls, 1);
    kc_clock_run(f.clock, 1, f.sleepers);
    assert_int_equal(f.calls, 2);
    assert_int_equal(f.last_cause.why, KC_WHY_REQUEUE);
    assert_metric(
        &f,
        "controller_runtime_reconcile_total{controller=\"robot\",result=\"requeue_after\"} 2\n");
}

static void after_nothing_is_done(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.result = (kc_result){.outcome = KC_OUTCOME_AFTER};
    send(&f, "r1");
    assert_int_equal(counts_of(&f).delayed, 0);
    assert_metric(&f, "result=\"success\"} 1\n");
}

static void again_is_rate_limited_and_no_error(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.result = kc_again();
    send(&f, "r1");
    assert_int_equal(failures_of(&f, "r1"), 1);
    kc_clock_run(f.clock, 5 * KC_MILLISECOND, f.sleepers);
    assert_int_equal(f.calls, 2);
    assert_int_equal(failures_of(&f, "r1"), 2);
    assert_metric(&f, "result=\"requeue\"} 2\n");
    assert_metric(&f, "controller_runtime_reconcile_errors_total{controller=\"robot\"} 0\n");
}

static void a_failure_is_retried_and_says_why(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.fails = true;
    f.result = (kc_result){.outcome = KC_OUTCOME_RETRY};
    send(&f, "r1");
    assert_int_equal(counts_of(&f).retrying, 1);
    assert_contains(kc_buf_cstr(&f.lines), "\"msg\":\"Reconciler error\",\"controller\":\"robot\","
                                           "\"namespace\":\"plant\",\"name\":\"r1\",\"err\":"
                                           "\"somebody was faster\"");
    kc_clock_run(f.clock, 5 * KC_MILLISECOND, f.sleepers);
    assert_int_equal(f.calls, 2);
    assert_int_equal(f.last_cause.why, KC_WHY_RETRY);
    kc_clock_run(f.clock, 10 * KC_MILLISECOND - 1, f.sleepers);
    assert_int_equal(f.calls, 2);
    kc_clock_run(f.clock, 1, f.sleepers);
    assert_int_equal(f.calls, 3);
    assert_metric(&f, "result=\"error\"} 3\n");
    assert_metric(&f, "controller_runtime_reconcile_errors_total{controller=\"robot\"} 3\n");
    assert_metric(&f,
                  "controller_runtime_terminal_reconcile_errors_total{controller=\"robot\"} 0\n");
}

static void its_page_says_why_a_key_failed_until_it_succeeds(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    kc_scoped(kc_buf) failing = {0}, well = {0};
    begin(&f, (kc_controller_opts){0});
    f.fails = true;
    f.result = (kc_result){.outcome = KC_OUTCOME_RETRY};
    send(&f, "r1");
    kc__controller_write(f.controller, &failing);
    assert_contains(kc_buf_cstr(&failing), "\"failed\":[{\"key\":\"plant/r1\",\"error\":"
                                           "\"somebody was faster\",\"reason\":\"Conflict\",");
    f.fails = false;
    f.result = kc_done();
    kc_clock_run(f.clock, KC_SECOND, f.sleepers);
    kc__controller_write(f.controller, &well);
    assert_contains(kc_buf_cstr(&well), "\"failed\":[],");
}

static void a_failure_ignores_after_with_a_warning(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.result = (kc_result){.outcome = KC_OUTCOME_RETRY, .after = KC_HOUR};
    send(&f, "r1");
    assert_contains(kc_buf_cstr(&f.lines), "\"level\":\"warn\"");
    assert_contains(kc_buf_cstr(&f.lines), "did not say why");
    kc_clock_run(f.clock, 5 * KC_MILLISECOND, f.sleepers);
    assert_int_equal(f.calls, 2);
}

static void a_terminal_failure_is_neither_retried_nor_forgotten(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.fails = true;
    kc_queue_add_rate_limited(kc_controller_queue(f.controller), KC_KEY("plant", "r1"));
    f.result = (kc_result){.outcome = KC_OUTCOME_TERMINAL};
    send(&f, "r1");
    assert_int_equal(f.calls, 1);
    assert_int_equal(failures_of(&f, "r1"), 1);
    kc_queue_counts counts = counts_of(&f);
    assert_int_equal(counts.ready + counts.delayed, 0);
    assert_metric(&f, "result=\"error\"} 1\n");
    assert_metric(&f, "controller_runtime_reconcile_errors_total{controller=\"robot\"} 1\n");
    assert_metric(&f,
                  "controller_runtime_terminal_reconcile_errors_total{controller=\"robot\"} 1\n");
}

static void a_priority_is_kept_unless_the_result_says_another(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.result = kc_again_after(KC_SECOND);
    kc_queue_add_with(kc_controller_queue(f.controller), KC_KEY("plant", "r1"),
                      &(kc_queue_add_opts){.priority = KC_PRIORITY_LOW});
    kc_clock_await_waiters(f.clock, f.sleepers);
    kc_clock_run(f.clock, KC_SECOND, f.sleepers);
    assert_int_equal(f.calls, 2);
    assert_int_equal(f.last_priority, KC_PRIORITY_LOW);
    f.result.has_priority = true;
    f.result.priority = 3;
    kc_clock_run(f.clock, KC_SECOND, f.sleepers);
    kc_clock_run(f.clock, KC_SECOND, f.sleepers);
    assert_int_equal(f.calls, 4);
    assert_int_equal(f.last_priority, 3);
}

/* ---- time ---- */

static void a_call_that_takes_too_long_is_told(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){.timeout = 10 * KC_SECOND});
    f.takes = KC_MINUTE;
    send(&f, "r1");
    assert_int_equal(f.last_deadline, kc_clock_now(f.clock) + 10 * KC_SECOND);
    kc_clock_run(f.clock, 10 * KC_SECOND - 1, f.sleepers);
    assert_int_equal(f.cancelled, 0);
    kc_clock_run(f.clock, 1, f.sleepers);
    assert_int_equal(f.cancelled, 1);
    assert_metric(&f, "controller_runtime_reconcile_timeouts_total{controller=\"robot\"} 1\n");
    f.takes = 9 * KC_SECOND; /* The next has a time of its own. */
    send(&f, "r2");
    kc_clock_run(f.clock, KC_MINUTE, f.sleepers);
    assert_int_equal(f.calls, 2);
    assert_int_equal(f.cancelled, 1);
    assert_metric(&f, "controller_runtime_reconcile_timeouts_total{controller=\"robot\"} 1\n");
}

static void without_a_timeout_there_is_no_deadline(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    send(&f, "r1");
    assert_true(f.last_deadline == KC_FOREVER);
}

static void what_the_stop_cuts_short_is_no_error(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.takes = KC_HOUR;
    f.fails = true;
    f.reason = KC_TIMEOUT;
    f.result = (kc_result){.outcome = KC_OUTCOME_RETRY};
    send(&f, "r1");
    stop(&f);
    assert_int_equal(f.cancelled, 1);
    assert_null(strstr(kc_buf_cstr(&f.lines), "Reconciler error"));
    assert_contains(kc_buf_cstr(&f.lines), "stopped before it was done");
}

static void stopping_cancels_calls_and_waits_for_them(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){.workers = 2});
    f.takes = KC_HOUR;
    send(&f, "r1");
    send(&f, "r2");
    send(&f, "r3");
    assert_int_equal(f.calls, 2);
    assert_int_equal(counts_of(&f).processing, 2);
    assert_true(kc__controller_running(f.controller));
    stop(&f);
    assert_int_equal(f.cancelled, 2);
    assert_int_equal(f.calls, 2);
    assert_false(kc__controller_running(f.controller));
    assert_int_equal(f.failure.reason, 0);
    assert_metric(&f, "controller_runtime_max_concurrent_reconciles{controller=\"robot\"} 2\n");
}

static void a_controller_may_run_again(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    send(&f, "r1");
    stop(&f);
    kc_channel_send(f.channel, KC_KEY("plant", "r2"), NULL);
    assert_int_equal(f.calls, 1);
    kc_cancel_unref(f.stop);
    f.stop = kc_cancel_new(NULL);
    f.thread = kc_thread_start("controller", run, &f, NULL);
    kc_clock_await_waiters(f.clock, f.sleepers);
    assert_int_equal(f.calls, 2);
}

/* ---- crashes and loops ---- */

static void an_aborted_reconcile_is_a_failed_one(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.crashes = true;
    send(&f, "r1");
    assert_int_equal(counts_of(&f).retrying, 1);
    assert_metric(&f, "controller_runtime_reconcile_panics_total{controller=\"robot\"} 1\n");
    assert_metric(&f, "result=\"error\"} 1\n");
    assert_contains(kc_buf_cstr(&f.lines), "panic: the robot r1 has three arms [recovered]");
    f.crashes = false;
    kc_clock_run(f.clock, KC_SECOND, f.sleepers);
    assert_int_equal(f.calls, 2);
    assert_metric(&f, "result=\"success\"} 1\n");
}

static void a_fault_is_a_failed_reconcile_too(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.faults = true;
    send(&f, "r1");
    assert_contains(kc_buf_cstr(&f.lines), "panic: SIGSEGV at address (nil) [recovered]");
    assert_contains(kc_buf_cstr(&f.lines), "\"name\":\"r1\"");
    f.faults = false;
    kc_clock_run(f.clock, KC_SECOND, f.sleepers);
    assert_metric(&f, "result=\"success\"} 1\n");
    assert_metric(&f, "controller_runtime_reconcile_panics_total{controller=\"robot\"} 1\n");
}

static void a_key_that_loops_is_named_with_its_causes(void **state)
{
    (void)state;
    static const kc_kind pod = {.version = "v1", .kind = "Pod"};
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){.hot_loop = 20});
    const kc_queue_add_opts updated = {
        .cause = &(kc_queue_cause){.why = KC_WHY_UPDATED, .kind = &pod, .key = KC_KEY("x", "p")}};
    for (int i = 0; i < 20; i++)
        send(&f, "calm");
    assert_null(strstr(kc_buf_cstr(&f.lines), "loop"));
    for (int i = 0; i < 40; i++) {
        kc_queue_add_with(kc_controller_queue(f.controller), KC_KEY("plant", "hot"), &updated);
        kc_clock_await_waiters(f.clock, f.sleepers);
    }
    const char *line = strstr(kc_buf_cstr(&f.lines), "\"msg\":\"key is reconciled in a loop\"");
    assert_non_null(line);
    assert_contains(line, "\"name\":\"hot\",\"reconciles\":21,\"causes\":\"Updated Pod 11\"");
    assert_null(strstr(strchr(line, '\n'), "loop")); /* Once a minute. */
    assert_metric(&f, "kc_controller_hot_loops_total{controller=\"robot\"} 1\n");
    kc_scoped(kc_buf) page = {0};
    kc__controller_write(f.controller, &page);
    assert_contains(kc_buf_cstr(&page),
                    "{\"controller\":\"robot\",\"workers\":1,\"running\":true,\"loops\":[{\"key\":"
                    "\"plant/hot\",\"reconciles\":40,\"causes\":\"Updated Pod 30\"}],"
                    "\"failed\":[],\"queue\":{");
}

static void keys_that_come_seldom_do_not_loop(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){.hot_loop = 20});
    for (int i = 0; i < 100; i++) {
        send(&f, "r1");
        kc_clock_run(f.clock, 4 * KC_SECOND, f.sleepers);
    }
    assert_null(strstr(kc_buf_cstr(&f.lines), "loop"));
}

/* ---- options ---- */

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const kc_kind pod = {.version = "v1", .kind = "Pod"};
    const kc__controller_env env = {0};
    kc_scoped(kc_error) err = {0};
    assert_null(kc__controller_create(
        &env, &(kc_controller_opts){.sources = KC_SOURCES(kc_source_timer(1, KC_KEY("", "a")))},
        &err));
    assert_error(&err, KC_BAD_REQUEST, "no function");
    assert_null(kc__controller_create(&env, &(kc_controller_opts){.reconcile = reconcile}, &err));
    assert_error(&err, KC_BAD_REQUEST, "no kind");
    assert_null(kc__controller_create(&env,
                                      &(kc_controller_opts){.reconcile = reconcile,
                                                            .predicate = kc_predicate_labels(),
                                                            .kind_predicate = kc_predicate_labels(),
                                                            .limiter = kc_limiter_exponential(0, 0),
                                                            .owns = KC_KINDS(&pod)},
                                      &err));
    assert_error(&err, KC_BAD_REQUEST, "owns");
}

static void a_controller_is_named_after_its_kind(void **state)
{
    (void)state;
    static const kc_kind pod = {.version = "v1", .kind = "ConfigMap"};
    kc_controller *controller =
        kc__controller_create(&(kc__controller_env){0},
                              &(kc_controller_opts){.kind = &pod, .reconcile = reconcile}, NULL);
    assert_string_equal(kc_controller_name(controller), "configmap");
    assert_true(kc__controller_leads(controller));
    kc__controller_free(controller);
}

static int refuse(void *user, kc_queue *queue, kc_error *err)
{
    (void)user;
    (void)queue;
    return kc_error_set(err, KC_FORBIDDEN, "not today");
}

static bool never(void *user, int64_t deadline, kc_cancel *cancel, kc_error *err)
{
    (void)err;
    kc_cancel_sleep_until(cancel, user, deadline);
    return false;
}

static void a_source_that_does_not_start_or_sync_fails_the_run(void **state)
{
    (void)state;
    static const kc_source_ops refusing = {.start = refuse}, endless = {.wait_synced = never};
    const kc_clock *clock = kc_clock_real();
    kc_scoped(kc_error) err = {0};
    kc_controller *controller = kc__controller_create(
        &(kc__controller_env){0},
        &(kc_controller_opts){.reconcile = reconcile,
                              .sources = KC_SOURCES(kc_source_new(&refusing, NULL))},
        NULL);
    assert_true(kc__controller_run(NULL, controller, &err) < 0);
    assert_error(&err, KC_FORBIDDEN, "controller controller: not today");
    kc__controller_free(controller);
    controller = kc__controller_create(
        &(kc__controller_env){0},
        &(kc_controller_opts){.reconcile = reconcile,
                              .sync_timeout = KC_MILLISECOND,
                              .sources = KC_SOURCES(kc_source_new(&endless, (void *)clock))},
        NULL);
    assert_true(kc__controller_run(NULL, controller, &err) < 0);
    assert_error(&err, KC_TIMEOUT, "did not sync in time");
    kc__controller_free(controller);
}

TESTS(done_forgets_failures, after_forgets_and_comes_again_then, after_nothing_is_done,
      again_is_rate_limited_and_no_error, a_failure_is_retried_and_says_why,
      its_page_says_why_a_key_failed_until_it_succeeds, a_failure_ignores_after_with_a_warning,
      a_terminal_failure_is_neither_retried_nor_forgotten,
      a_priority_is_kept_unless_the_result_says_another, a_call_that_takes_too_long_is_told,
      without_a_timeout_there_is_no_deadline, what_the_stop_cuts_short_is_no_error,
      stopping_cancels_calls_and_waits_for_them, a_controller_may_run_again,
      an_aborted_reconcile_is_a_failed_one, a_fault_is_a_failed_reconcile_too,
      a_key_that_loops_is_named_with_its_causes, keys_that_come_seldom_do_not_loop,
      options_that_make_no_sense_are_refused, a_controller_is_named_after_its_kind,
      a_source_that_does_not_start_or_sync_fails_the_run)
