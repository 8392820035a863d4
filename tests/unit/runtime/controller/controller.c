/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a controller does with the results of its reconciler, without a server: keys come from a
 * channel or are added to its queue. Tests with objects are in controller_objects.c.
 */
#include "runtime/controller/worker.h"

#include "crash_testing.h"

#include "kc/sim.h"

#include <stdio.h>

/* A controller that runs on a thread of its own, in virtual time. */
typedef struct fixture {
    kc_sim *sim;
    const kc_clock *clock; /* The simulation's. */
    kc_metrics *metrics;
    kc_log *log;
    kc_buf lines; /* What was logged. Read while the controller sleeps. */
    kc_channel *channel;
    kc_controller *controller;
    kc_cancel *stop;
    kc_thread *thread;
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
    if (kc__controller_begin(f->stop, f->controller, &f->failure) != KC_RUN_PARKED)
        return;
    kc_cancel_sleep_until(f->stop, f->clock, KC_FOREVER);
    kc__controller_end(f->controller);
}

static void begin(fixture *f, kc_controller_opts opts)
{
    *f = (fixture){.sim = kc_sim_new(1, 0), .metrics = kc_metrics_new()};
    f->clock = kc_sim_clock(f->sim);
    kc_sim_enter(f->sim);
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
    f->stop = kc_cancel_new(NULL);
    f->thread = kc_thread_start("controller", run, f, NULL);
    kc_sim_settle(f->sim);
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
    kc_sim_leave(f->sim);
    kc_sim_free(f->sim);
}

/* Sends a key, and waits until nothing more happens by itself. */
static void send(fixture *f, const char *name)
{
    kc_channel_send(f->channel, KC_KEY("plant", name), NULL);
    kc_sim_settle(f->sim);
}

static kc_queue_counts counts_of(const fixture *f)
{
    return kc_queue_count(kc_controller_queue(f->controller));
}

static int failures_of(const fixture *f, const char *name)
{
    return kc_queue_num_requeues(kc_controller_queue(f->controller), KC_KEY("plant", name));
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

static void requeue_after_forgets_failures_and_delays_the_key(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.result = kc_requeue_after(KC_MINUTE);
    kc_queue_add_rate_limited(kc_controller_queue(f.controller), KC_KEY("plant", "r1"));
    send(&f, "r1");
    assert_int_equal(failures_of(&f, "r1"), 0);
    assert_int_equal(counts_of(&f).delayed, 1);
    assert_int_equal(counts_of(&f).retrying, 0);
    kc_sim_run_for(f.sim, KC_MINUTE - 1);
    assert_int_equal(f.calls, 1);
    kc_sim_run_for(f.sim, 1);
    assert_int_equal(f.calls, 2);
    assert_int_equal(f.last_cause.reason, KC_QUEUE_REASON_REQUEUE);
    assert_metric(
        &f,
        "controller_runtime_reconcile_total{controller=\"robot\",result=\"requeue_after\"} 2\n");
}

static void requeue_after_zero_is_done(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.result = (kc_result){.outcome = KC_OUTCOME_REQUEUE_AFTER};
    send(&f, "r1");
    assert_int_equal(counts_of(&f).delayed, 0);
    assert_metric(&f, "result=\"success\"} 1\n");
}

static void requeue_is_rate_limited_and_no_error(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.result = kc_requeue();
    send(&f, "r1");
    assert_int_equal(failures_of(&f, "r1"), 1);
    kc_sim_run_for(f.sim, 5 * KC_MILLISECOND);
    assert_int_equal(f.calls, 2);
    assert_int_equal(failures_of(&f, "r1"), 2);
    assert_metric(&f, "result=\"requeue\"} 2\n");
    assert_metric(&f, "controller_runtime_reconcile_errors_total{controller=\"robot\"} 0\n");
}

static void retry_is_rate_limited_and_logs_the_error(void **state)
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
    kc_sim_run_for(f.sim, 5 * KC_MILLISECOND);
    assert_int_equal(f.calls, 2);
    assert_int_equal(f.last_cause.reason, KC_QUEUE_REASON_RETRY);
    kc_sim_run_for(f.sim, 10 * KC_MILLISECOND - 1);
    assert_int_equal(f.calls, 2);
    kc_sim_run_for(f.sim, 1);
    assert_int_equal(f.calls, 3);
    assert_metric(&f, "result=\"error\"} 3\n");
    assert_metric(&f, "controller_runtime_reconcile_errors_total{controller=\"robot\"} 3\n");
    assert_metric(&f,
                  "controller_runtime_terminal_reconcile_errors_total{controller=\"robot\"} 0\n");
}

static void page_shows_failed_key_until_it_succeeds(void **state)
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
    kc_sim_run_for(f.sim, KC_SECOND);
    kc__controller_write(f.controller, &well);
    assert_contains(kc_buf_cstr(&well), "\"failed\":[],");
}

static void retry_with_after_ignores_it_with_a_warning(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.result = (kc_result){.outcome = KC_OUTCOME_RETRY, .after = KC_HOUR};
    send(&f, "r1");
    assert_contains(kc_buf_cstr(&f.lines), "\"level\":\"warn\"");
    assert_contains(kc_buf_cstr(&f.lines), "without an error message");
    kc_sim_run_for(f.sim, 5 * KC_MILLISECOND);
    assert_int_equal(f.calls, 2);
}

static void terminal_error_is_not_retried(void **state)
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

static void priority_is_kept_unless_the_result_sets_another(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    f.result = kc_requeue_after(KC_SECOND);
    kc_queue_add_with(kc_controller_queue(f.controller), KC_KEY("plant", "r1"),
                      &(kc_queue_add_opts){.priority = KC_PRIORITY_LOW});
    kc_sim_settle(f.sim);
    kc_sim_run_for(f.sim, KC_SECOND);
    assert_int_equal(f.calls, 2);
    assert_int_equal(f.last_priority, KC_PRIORITY_LOW);
    f.result.has_priority = true;
    f.result.priority = 3;
    kc_sim_run_for(f.sim, KC_SECOND);
    kc_sim_run_for(f.sim, KC_SECOND);
    assert_int_equal(f.calls, 4);
    assert_int_equal(f.last_priority, 3);
}

/* ---- time ---- */

static void reconcile_beyond_its_timeout_is_cancelled(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){.timeout = 10 * KC_SECOND});
    f.takes = KC_MINUTE;
    send(&f, "r1");
    assert_int_equal(f.last_deadline, kc_clock_now(f.clock) + 10 * KC_SECOND);
    kc_sim_run_for(f.sim, 10 * KC_SECOND - 1);
    assert_int_equal(f.cancelled, 0);
    kc_sim_run_for(f.sim, 1);
    assert_int_equal(f.cancelled, 1);
    assert_metric(&f, "controller_runtime_reconcile_timeouts_total{controller=\"robot\"} 1\n");
    f.takes = 9 * KC_SECOND; /* The next has a time of its own. */
    send(&f, "r2");
    kc_sim_run_for(f.sim, KC_MINUTE);
    assert_int_equal(f.calls, 2);
    assert_int_equal(f.cancelled, 1);
    assert_metric(&f, "controller_runtime_reconcile_timeouts_total{controller=\"robot\"} 1\n");
}

static void reconcile_without_timeout_has_no_deadline(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){0});
    send(&f, "r1");
    assert_true(f.last_deadline == KC_FOREVER);
}

static void reconcile_cancelled_by_stop_is_no_error(void **state)
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
    assert_contains(kc_buf_cstr(&f.lines), "reconcile interrupted by shutdown");
}

static void stop_cancels_reconciles_and_waits_for_them(void **state)
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

static void controller_may_run_again(void **state)
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
    kc_sim_settle(f.sim);
    assert_int_equal(f.calls, 2);
}

/* ---- crashes and loops ---- */

static void abort_without_recovery(void *user)
{
    fixture f;
    (void)user;
    begin(&f, (kc_controller_opts){0});
    f.crashes = true;
    send(&f, "r1");
}

static void crash_without_recovery_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(in_child(abort_without_recovery, NULL), -SIGABRT);
}

static void aborted_reconcile_is_a_failed_reconcile(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){.crash_recovery = true});
    f.crashes = true;
    send(&f, "r1");
    assert_int_equal(counts_of(&f).retrying, 1);
    assert_metric(&f, "controller_runtime_reconcile_panics_total{controller=\"robot\"} 1\n");
    assert_metric(&f, "result=\"error\"} 1\n");
    assert_contains(kc_buf_cstr(&f.lines), "panic: the robot r1 has three arms [recovered]");
    f.crashes = false;
    kc_sim_run_for(f.sim, KC_SECOND);
    assert_int_equal(f.calls, 2);
    assert_metric(&f, "result=\"success\"} 1\n");
}

static void fault_in_reconcile_is_a_failed_reconcile(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){.crash_recovery = true});
    f.faults = true;
    send(&f, "r1");
    assert_contains(kc_buf_cstr(&f.lines), "panic: SIGSEGV at address (nil) [recovered]");
    assert_contains(kc_buf_cstr(&f.lines), "\"name\":\"r1\"");
    f.faults = false;
    kc_sim_run_for(f.sim, KC_SECOND);
    assert_metric(&f, "result=\"success\"} 1\n");
    assert_metric(&f, "controller_runtime_reconcile_panics_total{controller=\"robot\"} 1\n");
}

/* Without a kind there is no object whose change would release the key. */
static void key_that_crashes_twice_is_quarantined_for_ten_minutes(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    kc_scoped(kc_buf) page = {0};
    begin(&f, (kc_controller_opts){.crash_recovery = true});
    f.crashes = true;
    send(&f, "r1");
    kc_sim_run_for(f.sim, KC_SECOND);
    assert_int_equal(f.calls, 2);
    assert_metric(&f, "kc_controller_quarantined_keys{controller=\"robot\"} 1\n");
    assert_contains(kc_buf_cstr(&f.lines), "\"quarantined\":true");
    send(&f, "r1"); /* Another event of it. */
    kc_sim_run_for(f.sim, KC_MINUTE);
    assert_int_equal(f.calls, 2);
    kc__controller_write(f.controller, &page);
    assert_contains(kc_buf_cstr(&page), "\"quarantined\":[{\"crashes\":2,\"key\":\"plant/r1\","
                                        "\"what\":\"the robot r1 has three arms\"");
    f.crashes = false;
    kc_sim_run_for(f.sim, 10 * KC_MINUTE);
    assert_int_equal(f.calls, 3);
    assert_metric(&f, "kc_controller_quarantined_keys{controller=\"robot\"} 0\n");
}

static void eight_crashes_pause_the_controller(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){.crash_recovery = true});
    f.crashes = true;
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof(name), "r%d", i);
        send(&f, name);
        kc_sim_run_for(f.sim, KC_SECOND);
    }
    assert_int_equal(f.calls, 8);
    assert_true(kc__controller_paused(f.controller));
    assert_metric(&f, "kc_controller_paused{controller=\"robot\"} 1\n");
    f.crashes = false;
    send(&f, "well");
    assert_int_equal(f.calls, 8);
}

static void hot_loop_is_logged_with_its_causes(void **state)
{
    (void)state;
    static const kc_kind pod = {.version = "v1", .kind = "Pod"};
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){.hot_loop = 20});
    const kc_queue_add_opts updated = {.cause = &(kc_queue_cause){.reason = KC_QUEUE_REASON_UPDATED,
                                                                  .kind = &pod,
                                                                  .key = KC_KEY("x", "p")}};
    for (int i = 0; i < 20; i++)
        send(&f, "calm");
    assert_null(strstr(kc_buf_cstr(&f.lines), "loop"));
    for (int i = 0; i < 40; i++) {
        kc_queue_add_with(kc_controller_queue(f.controller), KC_KEY("plant", "hot"), &updated);
        kc_sim_settle(f.sim);
    }
    const char *line = strstr(kc_buf_cstr(&f.lines), "\"msg\":\"key is reconciled in a loop\"");
    assert_non_null(line);
    assert_contains(line, "\"name\":\"hot\",\"reconciles\":21,\"causes\":\"Updated Pod 11\"");
    assert_null(strstr(strchr(line, '\n'), "loop")); /* Once a minute. */
    assert_metric(&f, "kc_controller_hot_loops_total{controller=\"robot\"} 1\n");
    kc_scoped(kc_buf) page = {0};
    kc__controller_write(f.controller, &page);
    assert_contains(
        kc_buf_cstr(&page),
        "{\"controller\":\"robot\",\"workers\":1,\"running\":true,\"paused\":false,"
        "\"loops\":[{\"key\":\"plant/hot\",\"reconciles\":40,\"causes\":\"Updated Pod 30\"}],"
        "\"failed\":[],\"quarantined\":[],\"queue\":{");
}

static void infrequent_key_is_no_hot_loop(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){.hot_loop = 20});
    for (int i = 0; i < 100; i++) {
        send(&f, "r1");
        kc_sim_run_for(f.sim, 4 * KC_SECOND);
    }
    assert_null(strstr(kc_buf_cstr(&f.lines), "loop"));
}

/* ---- options ---- */

static void invalid_options_are_refused(void **state)
{
    (void)state;
    static const kc_kind pod = {.version = "v1", .kind = "Pod"};
    const kc__controller_env env = {0};
    kc_scoped(kc_error) err = {0};
    assert_null(kc__controller_create(
        &env, &(kc_controller_opts){.sources = KC_SOURCES(kc_source_timer(1, KC_KEY("", "a")))},
        &err));
    assert_error(&err, KC_BAD_REQUEST, "no reconcile function");
    assert_null(kc__controller_create(&env, &(kc_controller_opts){.reconcile = reconcile}, &err));
    assert_error(&err, KC_BAD_REQUEST, "no kind");
    assert_null(
        kc__controller_create(&env,
                              &(kc_controller_opts){.reconcile = reconcile,
                                                    .predicate = kc_predicate_labels_changed(),
                                                    .kind_predicate = kc_predicate_labels_changed(),
                                                    .limiter = kc_rate_limiter_exponential(0, 0),
                                                    .owns = KC_KINDS(&pod)},
                              &err));
    assert_error(&err, KC_BAD_REQUEST, "owns");
}

static void controller_is_named_after_its_kind(void **state)
{
    (void)state;
    static const kc_kind pod = {.version = "v1", .kind = "ConfigMap"};
    kc_controller *controller =
        kc__controller_create(&(kc__controller_env){0},
                              &(kc_controller_opts){.kind = &pod, .reconcile = reconcile}, NULL);
    assert_string_equal(kc_controller_name(controller), "configmap");
    assert_true(kc__controller_needs_leader(controller));
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

static void source_that_does_not_start_or_sync_fails_the_run(void **state)
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
    assert_true(kc__controller_begin(NULL, controller, &err) < 0);
    assert_error(&err, KC_FORBIDDEN, "controller controller: not today");
    kc__controller_free(controller);
    controller = kc__controller_create(
        &(kc__controller_env){0},
        &(kc_controller_opts){.reconcile = reconcile,
                              .sync_timeout = KC_MILLISECOND,
                              .sources = KC_SOURCES(kc_source_new(&endless, (void *)clock))},
        NULL);
    assert_true(kc__controller_begin(NULL, controller, &err) < 0);
    assert_error(&err, KC_TIMEOUT, "timed out waiting for");
    kc__controller_free(controller);
}

/* ---- threads ---- */

static void workers_start_with_keys_up_to_the_limit_and_end_when_idle(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_controller_opts){.workers = 3});
    const kc__worker_pool *pool = &f.controller->pool;
    assert_int_equal(pool->running, 0);
    f.takes = KC_SECOND;
    f.result = kc_requeue_after(KC_MINUTE);
    send(&f, "r1");
    assert_int_equal(pool->running, 1);
    for (int i = 2; i <= 5; i++) {
        char name[16];
        snprintf(name, sizeof(name), "r%d", i);
        send(&f, name);
    }
    assert_int_equal(pool->running, 3);
    kc_sim_run_for(f.sim, 10 * KC_SECOND);
    assert_int_equal(f.calls, 5);
    assert_int_equal(pool->running, 0);
    /* Delayed keys start them again. */
    kc_sim_run_for(f.sim, KC_MINUTE);
    assert_int_equal(f.calls, 10);
    assert_int_equal(pool->running, 0);
}

TESTS(workers_start_with_keys_up_to_the_limit_and_end_when_idle, done_forgets_failures,
      requeue_after_forgets_failures_and_delays_the_key, requeue_after_zero_is_done,
      requeue_is_rate_limited_and_no_error, retry_is_rate_limited_and_logs_the_error,
      page_shows_failed_key_until_it_succeeds, retry_with_after_ignores_it_with_a_warning,
      terminal_error_is_not_retried, priority_is_kept_unless_the_result_sets_another,
      reconcile_beyond_its_timeout_is_cancelled, reconcile_without_timeout_has_no_deadline,
      reconcile_cancelled_by_stop_is_no_error, stop_cancels_reconciles_and_waits_for_them,
      controller_may_run_again, aborted_reconcile_is_a_failed_reconcile,
      crash_without_recovery_ends_the_process, fault_in_reconcile_is_a_failed_reconcile,
      key_that_crashes_twice_is_quarantined_for_ten_minutes, eight_crashes_pause_the_controller,
      hot_loop_is_logged_with_its_causes, infrequent_key_is_no_hot_loop,
      invalid_options_are_refused, controller_is_named_after_its_kind,
      source_that_does_not_start_or_sync_fails_the_run)
