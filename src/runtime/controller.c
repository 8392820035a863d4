/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller.c: what a controller is made of, and the order in which it starts and stops.
 *
 *     start   sources (each asks the cache for its informer) → wait until all have told what there
 *             is → workers
 *     stop    the queue drops what waits → sources → workers, who finish the calls under way (their
 *             tokens have fired)
 *
 * It may run several times, one after the other: whoever loses the lead stops it, and starts it
 * again when it leads again. What is made in create stays; threads and the state of a run do not.
 */
#include "runtime/source_internal.h"
#include "runtime/worker.h"

#include "kc/ascii.h"
#include "kc/json.h"
#include "kc/recorder.h"

enum { DEFAULT_HOT_LOOP = 300 };

/* ---- making ---- */

static char *name_of(const kc_controller_opts *opts)
{
    if (opts->name)
        return kc_strdup(opts->name);
    char *name = kc_strdup(opts->kind ? opts->kind->kind : "controller");
    for (char *p = name; *p; p++)
        *p = kc_lower(*p);
    return name;
}

static void add_watch(kc_controller *c, const kc_watch_kind *watch)
{
    kc_vec_push(&c->sources, kc__source_watch(c->env.cache, watch, c->predicate));
}

/* Takes over all that the options give away. */
static void add_sources(kc_controller *c, const kc_controller_opts *opts)
{
    if (opts->kind)
        add_watch(c, &(kc_watch_kind){.kind = opts->kind,
                                      .predicate = opts->kind_predicate,
                                      .resync = opts->resync});
    else
        kc_predicate_free(opts->kind_predicate);
    for (size_t i = 0; opts->owns && opts->owns[i]; i++)
        add_watch(c, &(kc_watch_kind){.kind = opts->owns[i], .owner = opts->kind});
    for (size_t i = 0; opts->watches && opts->watches[i].kind; i++)
        add_watch(c, &opts->watches[i]);
    for (size_t i = 0; opts->sources && opts->sources[i]; i++)
        kc_vec_push(&c->sources, opts->sources[i]);
}

static int check(const kc_controller *c, const kc_controller_opts *opts, kc_error *err)
{
    const char *wrong = NULL;
    if (!opts->reconcile)
        wrong = "it has no function to reconcile with";
    else if (!c->sources.n)
        wrong = "it has no kind, no watches and no sources";
    else if (opts->owns && opts->owns[0] && !opts->kind)
        wrong = "it owns kinds, but has no kind that would own them";
    else if (opts->workers < 0 || opts->timeout < 0 || opts->sync_timeout < 0)
        wrong = "workers and times must not be negative";
    return wrong ? kc_error_set(err, KC_BAD_REQUEST, "controller %s: %s", c->name, wrong) : 0;
}

static void take_options(kc_controller *c, const kc_controller_opts *opts)
{
    c->name = name_of(opts);
    c->kind = opts->kind;
    c->reconcile = opts->reconcile;
    c->user = opts->user;
    c->begin = opts->begin;
    c->n_workers = opts->workers ? opts->workers : 1;
    c->timeout = opts->timeout;
    c->sync_timeout = opts->sync_timeout ? opts->sync_timeout : 2 * KC_MINUTE;
    c->without_election = opts->without_election;
    c->crash = opts->crash;
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
    c->loops = kc__loops_new(limit, c->metrics.loops);
}

kc_controller *kc__controller_create(const kc__controller_env *env, const kc_controller_opts *opts,
                                     kc_error *err)
{
    kc_controller *c = kc_new(kc_controller);
    c->env = *env;
    if (opts->component)
        c->env.recorder = kc_recorder_as(env->recorder, opts->component);
    if (!c->env.clock)
        c->env.clock = kc_clock_real();
    if (env->rand)
        c->rand = kc_rand_split(env->rand);
    else
        kc_rand_seed_os(&c->rand);
    take_options(c, opts);
    c->log = kc_log_child(env->log, NULL, kc_kv("controller", c->name));
    kc__controller_metrics_init(&c->metrics, env->metrics, c->name);
    make_queue(c, opts);
    c->failures = kc__failures_new();
    return check(c, opts, err) < 0 ? kc__controller_free(c) : c;
}

kc_controller *kc__controller_free(kc_controller *c)
{
    if (!c)
        return NULL;
    kc_vec_each (&c->sources, source)
        kc_source_free(*source);
    kc_vec_done(&c->sources);
    kc_queue_free(c->queue);
    kc_predicate_free(c->predicate);
    kc__loops_free(c->loops);
    kc__failures_free(c->failures);
    kc_log_free(c->log);
    free(c->name);
    free(c);
    return NULL;
}

/* ---- running ---- */

typedef struct run {
    kc_controller *controller;
    kc_cancel_hook on_stop;
    kc_cancel *stop;
    size_t started; /* Sources. */
    kc__worker *workers;
    int n_workers;
} run;

static void close_queue(kc_cancel_hook *hook)
{
    kc_queue_shut_down(kc_container_of(hook, run, on_stop)->controller->queue);
}

static int start_sources(run *r, kc_error *err)
{
    kc_controller *c = r->controller;
    for (; r->started < c->sources.n; r->started++)
        if (kc__source_start(c->sources.items[r->started], c->queue, err) < 0)
            return kc_error_wrap(err, "controller %s", c->name);
    return 0;
}

/* Without an error, and false, when it was told to stop meanwhile. */
static bool await_sources(run *r, kc_error *err)
{
    kc_controller *c = r->controller;
    int64_t deadline = kc_clock_deadline(c->env.clock, c->sync_timeout);
    kc_scoped(kc_error) why = {0};
    kc_vec_each (&c->sources, source) {
        if (kc__source_wait_synced(*source, deadline, r->stop, &why))
            continue;
        if (kc_cancel_fired(r->stop))
            return false;
        if (!why.reason)
            kc_error_set(&why, KC_TIMEOUT, "a source did not sync in time");
        kc_error_wrap(&why, "controller %s", c->name);
        kc_error_move(err, &why);
        return false;
    }
    return !kc_cancel_fired(r->stop);
}

static int start_workers(run *r, kc_error *err)
{
    kc_controller *c = r->controller;
    if (c->timeout > 0 && kc__deadlines_start(&c->deadlines, c->env.clock, err) < 0)
        return -KC_INTERNAL;
    r->workers = kc_calloc((size_t)c->n_workers, sizeof(*r->workers));
    for (; r->n_workers < c->n_workers; r->n_workers++)
        if (kc__worker_start(&r->workers[r->n_workers], c, r->stop, err) < 0)
            return -KC_INTERNAL;
    return 0;
}

static void end(run *r)
{
    kc_controller *c = r->controller;
    atomic_store(&c->running, false);
    kc_cancel_fire(r->stop);
    kc_cancel_unhang(r->stop, &r->on_stop);
    kc_queue_shut_down(c->queue);
    for (size_t i = 0; i < r->started; i++)
        kc__source_stop(c->sources.items[i]);
    for (int i = 0; i < r->n_workers; i++)
        kc__worker_join(&r->workers[i]);
    kc__deadlines_stop(&c->deadlines);
    free(r->workers);
    kc_cancel_unref(r->stop);
    kc_log_info(c->log, "All workers finished");
}

static int run_until_stopped(run *r, kc_error *err)
{
    kc_controller *c = r->controller;
    kc_scoped(kc_error) why = {0};
    if (c->begin)
        c->begin(c->user);
    if (start_sources(r, err) < 0)
        return -KC_INTERNAL;
    if (!await_sources(r, &why))
        return why.reason ? kc_error_move(err, &why) : 0;
    if (start_workers(r, err) < 0)
        return -KC_INTERNAL;
    atomic_store(&c->running, true);
    kc_log_info(c->log, "Starting workers", kc_kv("workers", c->n_workers));
    kc_cancel_sleep_until(r->stop, c->env.clock, KC_FOREVER);
    return 0;
}

int kc__controller_run(kc_cancel *stop, void *controller, kc_error *err)
{
    kc_controller *c = controller;
    run r = {.controller = c, .on_stop.fire = close_queue, .stop = kc_cancel_new(stop)};
    kc__queue_reopen(c->queue);
    kc_gauge_set(c->metrics.workers, c->n_workers);
    kc_log_info(c->log, "Starting Controller");
    int result = 0;
    if (kc_cancel_hang(r.stop, &r.on_stop))
        result = run_until_stopped(&r, err);
    end(&r);
    return result;
}

/* ---- looking ---- */

const char *kc_controller_name(const kc_controller *controller)
{
    return controller->name;
}

kc_queue *kc_controller_queue(kc_controller *controller)
{
    return controller->queue;
}

bool kc__controller_leads(const kc_controller *controller)
{
    return !controller->without_election;
}

kc_manager *kc__controller_manager(const kc_controller *controller)
{
    return controller->env.manager;
}

bool kc__controller_running(const kc_controller *controller)
{
    return atomic_load(&controller->running);
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
    kc_buf_printf(out, ",\"workers\":%d,\"running\":%s,\"loops\":", c->n_workers,
                  kc__controller_running(c) ? "true" : "false");
    if (c->loops)
        kc__loops_write(c->loops, kc_clock_now(c->env.clock), out);
    else
        kc_buf_puts(out, "[]");
    kc_buf_puts(out, ",\"failed\":");
    kc__failures_write(c->failures, kc_clock_now(c->env.clock), out);
    kc_buf_puts(out, ",\"queue\":");
    kc_queue_write(c->queue, ITEMS, out);
    kc_buf_putc(out, '}');
}
