/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller.c: the parts of a controller, and the order in which it starts and stops.
 *
 *     start   sources (each gets its informer from the cache) → wait until all synced → workers
 *     stop    the queue drops waiting keys → sources → workers, which finish the calls in progress
 *             (their tokens have fired)
 *
 * Between start and stop a controller has no thread of its own; workers start on demand
 * (worker_pool.c).
 *
 * A controller may run several times, one after the other: a manager that loses the lease stops it,
 * and starts it again when it is the leader again. What kc__controller_create makes stays; threads
 * and the state of a run do not.
 */
#include "runtime/cache/cache_internal.h"
#include "runtime/controller/source_internal.h"
#include "runtime/controller/worker.h"

#include "kc/ascii.h"
#include "kc/json.h"
#include "kc/manager.h"
#include "kc/recorder.h"

enum { DEFAULT_HOT_LOOP = 300 };

/* ---- lifecycle ---- */

static char *controller_name_of(const kc_controller_opts *opts)
{
    if (opts->name)
        return kc_strdup(opts->name);
    char *name = kc_strdup(opts->kind ? opts->kind->kind : "controller");
    for (char *p = name; *p; p++)
        *p = kc_lower(*p);
    return name;
}

static void add_watch(kc_controller *c, const kc_watch_spec *watch)
{
    kc_vec_push(&c->sources, kc__source_watch(c->env.cache, watch, c->predicate));
}

/* Takes over everything that the options pass ownership of. */
static void add_sources(kc_controller *c, const kc_controller_opts *opts)
{
    if (opts->kind)
        add_watch(c, &(kc_watch_spec){.kind = opts->kind,
                                      .predicate = opts->kind_predicate,
                                      .resync = opts->resync});
    else
        kc_predicate_free(opts->kind_predicate);
    for (size_t i = 0; opts->owns && opts->owns[i]; i++)
        add_watch(c, &(kc_watch_spec){.kind = opts->owns[i], .owner = opts->kind});
    for (size_t i = 0; opts->watches && opts->watches[i].kind; i++)
        add_watch(c, &opts->watches[i]);
    for (size_t i = 0; opts->sources && opts->sources[i]; i++)
        kc_vec_push(&c->sources, opts->sources[i]);
}

static int controller_check(const kc_controller *c, const kc_controller_opts *opts, kc_error *err)
{
    const char *wrong = NULL;
    if (!opts->reconcile)
        wrong = "no reconcile function";
    else if (!c->sources.n)
        wrong = "no kind, no watches and no sources";
    else if (opts->owns && opts->owns[0] && !opts->kind)
        wrong = "owns requires a kind";
    else if (opts->workers < 0 || opts->timeout < 0 || opts->sync_timeout < 0)
        wrong = "workers and timeouts must not be negative";
    return wrong ? kc_error_set(err, KC_BAD_REQUEST, "controller %s: %s", c->name, wrong) : 0;
}

static void controller_take_options(kc_controller *c, const kc_controller_opts *opts)
{
    c->name = controller_name_of(opts);
    c->kind = opts->kind;
    c->reconcile = opts->reconcile;
    c->user = opts->user;
    c->on_start = opts->on_start;
    c->n_workers = opts->workers ? opts->workers : 1;
    c->timeout = opts->timeout;
    c->sync_timeout = opts->sync_timeout ? opts->sync_timeout : 2 * KC_MINUTE;
    c->without_leader_election = opts->without_leader_election;
    c->crash_recovery = opts->crash_recovery;
    c->predicate = opts->predicate;
    add_sources(c, opts);
}

static void make_queue(kc_controller *c, const kc_controller_opts *opts)
{
    c->queue = kc_queue_new(&(kc_queue_opts){
        .name = c->name,
        .limiter = opts->limiter,
        .fair = opts->fair,
        .clock = c->env.clock,
        .metrics = c->env.metrics,
    });
    int limit = opts->hot_loop ? opts->hot_loop : DEFAULT_HOT_LOOP;
    if (limit < 0)
        return;
    kc__queue_count_rates(c->queue);
    c->loops = kc__hotloop_table_new(limit, c->metrics.loops);
}

static void make_quarantine(kc_controller *c, const kc_controller_opts *opts)
{
    c->owns_quarantine = !c->env.quarantine;
    c->quarantine =
        c->env.quarantine ? c->env.quarantine : kc__quarantine_new(NULL, c->env.clock, c->log);
    c->code = kc__quarantine_code(opts->code ? opts->code : *(void *const *)&opts->reconcile);
    kc_gauge_set(c->metrics.quarantined, (double)kc__quarantine_count(c->quarantine, c->name));
}

kc_controller *kc__controller_create(const kc__controller_env *env, const kc_controller_opts *opts,
                                     kc_error *err)
{
    kc_controller *c = kc_new(kc_controller);
    c->env = *env;
    c->field_manager = opts->field_manager ? kc_strdup(opts->field_manager) : NULL;
    if (opts->component || opts->field_manager)
        c->env.recorder =
            kc_recorder_with_component(env->recorder, opts->component, opts->field_manager);
    if (!c->env.clock)
        c->env.clock = kc_clock_real();
    if (env->rand)
        c->rand = kc_rand_split(env->rand);
    else
        kc_rand_seed_os(&c->rand);
    controller_take_options(c, opts);
    c->log = kc_log_child(env->log, NULL, kc_kv("controller", c->name));
    kc__controller_metrics_init(&c->metrics, env->metrics, c->name);
    make_queue(c, opts);
    c->executor = c->env.cache ? kc__cache_executor(c->env.cache) : NULL;
    if (!c->executor)
        c->executor = c->own_executor =
            kc__executor_new(&(kc__executor_opts){.clock = c->env.clock});
    c->queue->executor = c->executor;
    c->failures = kc__failures_new();
    make_quarantine(c, opts);
    return controller_check(c, opts, err) < 0 ? kc__controller_free(c) : c;
}

kc_controller *kc__controller_free(kc_controller *c)
{
    if (!c)
        return NULL;
    kc_vec_each (&c->sources, source)
        kc_source_free(*source);
    kc_vec_done(&c->sources);
    kc__executor_free(c->own_executor);
    kc_queue_free(c->queue);
    kc_predicate_free(c->predicate);
    kc__hotloop_table_free(c->loops);
    kc__failures_free(c->failures);
    if (c->owns_quarantine)
        kc__quarantine_free(c->quarantine);
    kc_log_free(c->log);
    free(c->name);
    free(c->field_manager);
    free(c);
    return NULL;
}

/* ---- run ---- */

static void close_queue(kc_cancel_hook *hook)
{
    kc_queue_shut_down(kc_container_of(hook, kc_controller, run.on_stop)->queue);
}

static int start_sources(kc_controller *c, kc_error *err)
{
    for (size_t *n = &c->run.started; *n < c->sources.n; ++*n)
        if (kc__source_start(c->sources.items[*n], c->queue, err) < 0)
            return kc_error_wrap(err, "controller %s", c->name);
    return 0;
}

/* False without an error if the controller was stopped meanwhile. */
static bool await_sources(kc_controller *c, kc_error *err)
{
    int64_t deadline = kc_clock_deadline(c->env.clock, c->sync_timeout);
    kc_scoped(kc_error) why = {0};
    kc_vec_each (&c->sources, source) {
        if (kc__source_wait_synced(*source, deadline, c->run.stop, &why))
            continue;
        if (kc_cancel_fired(c->run.stop))
            return false;
        if (!why.reason)
            kc_error_set(&why, KC_TIMEOUT, "timed out waiting for a source to sync");
        kc_error_wrap(&why, "controller %s", c->name);
        kc_error_move(err, &why);
        return false;
    }
    return !kc_cancel_fired(c->run.stop);
}

static void start_workers(kc_controller *c)
{
    if (c->timeout > 0)
        kc__deadlines_start(&c->deadlines, c->executor, c->env.clock);
    kc__worker_pool_start(c, c->run.stop);
    atomic_store(&c->running, true);
    kc_log_info(c->log, "Starting workers", kc_kv("workers", c->n_workers));
}

void kc__controller_end(void *controller)
{
    kc_controller *c = controller;
    atomic_store(&c->running, false);
    kc_cancel_fire(c->run.stop);
    kc_cancel_remove_hook(c->run.stop, &c->run.on_stop);
    kc_queue_shut_down(c->queue);
    for (size_t i = 0; i < c->run.started; i++)
        kc__source_stop(c->sources.items[i]);
    kc__worker_pool_stop(c);
    kc__deadlines_stop(&c->deadlines);
    kc_cancel_unref(c->run.stop);
    c->run = (kc__controller_run_state){0};
    kc_log_info(c->log, "All workers finished");
}

/* KC_RUN_PARKED: its workers are running. */
static int start_all(kc_controller *c, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    if (c->on_start)
        c->on_start(c->user);
    if (start_sources(c, err) < 0)
        return kc_error_result(err);
    if (!await_sources(c, &why))
        return why.reason ? kc_error_move(err, &why) : 0;
    start_workers(c);
    return KC_RUN_PARKED;
}

int kc__controller_begin(kc_cancel *stop, void *controller, kc_error *err)
{
    kc_controller *c = controller;
    c->run = (kc__controller_run_state){.on_stop.fire = close_queue, .stop = kc_cancel_new(stop)};
    kc__queue_reopen(c->queue);
    kc_gauge_set(c->metrics.workers, c->n_workers);
    kc_log_info(c->log, "Starting Controller");
    const int result = kc_cancel_add_hook(c->run.stop, &c->run.on_stop) ? start_all(c, err) : 0;
    if (result != KC_RUN_PARKED)
        kc__controller_end(c);
    return result;
}

/* ---- accessors ---- */

const char *kc_controller_name(const kc_controller *controller)
{
    return controller->name;
}

kc_queue *kc_controller_queue(kc_controller *controller)
{
    return controller->queue;
}

bool kc__controller_needs_leader(const kc_controller *controller)
{
    return !controller->without_leader_election;
}

kc_manager *kc__controller_manager(const kc_controller *controller)
{
    return controller->env.manager;
}

bool kc__controller_running(const kc_controller *controller)
{
    return atomic_load(&controller->running);
}

bool kc__controller_paused(const kc_controller *controller)
{
    return atomic_load(&controller->paused);
}

void kc__controller_write(kc_controller *c, kc_buf *out)
{
    enum { ITEMS = 100 };
    kc_buf_puts(out, "{\"controller\":");
    kc_json_quote(out, kc_cstr(c->name));
    if (c->kind) {
        kc_buf_puts(out, ",\"kind\":");
        kc_json_quote(out, kc_cstr(c->kind->kind));
    }
    kc_buf_printf(out, ",\"workers\":%d,\"running\":%s,\"paused\":%s,\"loops\":", c->n_workers,
                  kc__controller_running(c) ? "true" : "false",
                  kc__controller_paused(c) ? "true" : "false");
    if (c->loops)
        kc__hotloop_table_write(c->loops, kc_clock_now(c->env.clock), out);
    else
        kc_buf_puts(out, "[]");
    kc_buf_puts(out, ",\"failed\":");
    kc__failures_write(c->failures, kc_clock_now(c->env.clock), out);
    kc_buf_puts(out, ",\"quarantined\":");
    kc__quarantine_write(c->quarantine, c->name, out);
    kc_buf_puts(out, ",\"queue\":");
    kc_queue_write(c->queue, ITEMS, out);
    kc_buf_putc(out, '}');
}
