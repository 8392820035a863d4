/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c: a thread that takes keys and calls the reconciler, and what follows from the result:
 *
 *     result       forgets   comes again                counted as
 *     done         yes       no                         success
 *     after        yes       after that time            requeue_after
 *     requeue      no        rate limited               requeue
 *     retry        no        rate limited               error
 *     terminal     no        no                         error, and as terminal
 *
 * with the priority it had, unless the result says another. A crash is a retry.
 *
 * There is little besides: the token of cancellation, the client bound to it and the logger are
 * made once and serve call after call. A token can fire only once, so a call that took too long
 * leaves it behind, and the next gets new ones. Time is read when a key is taken and when the call
 * is over, no more.
 */
#include "runtime/worker.h"

/* ---- what a call works with ---- */

/* A token, and a client that gives up with it. */
static void prepare(kc__worker *w)
{
    const kc__controller_env *env = &w->controller->env;
    w->ctx.cancel = kc_cancel_new(w->stop);
    if (env->client)
        w->ctx.client = kc_client_with(env->client, &(kc_client_bind){.cancel = w->ctx.cancel});
}

static void unprepare(kc__worker *w)
{
    w->ctx.client = w->ctx.client ? kc_client_unref(w->ctx.client) : NULL;
    w->ctx.cancel = kc_cancel_unref(w->ctx.cancel);
}

static void worker_init(kc__worker *w, kc_controller *c, kc_cancel *stop)
{
    *w = (kc__worker){.controller = c, .stop = stop, .rand = kc_rand_split(&c->rand)};
    w->log = kc_log_child(c->log, NULL);
    w->ctx = (kc_context){
        .cache = c->env.cache,
        .recorder = c->env.recorder,
        .log = w->log,
        .clock = c->env.clock,
        .rand = &w->rand,
        .deadline = KC_FOREVER,
        .user = c->user,
    };
    prepare(w);
}

/* ---- the call ---- */

static void reconcile(void *user)
{
    kc__worker *w = user;
    w->result = w->controller->reconcile(&w->ctx, w->request, &w->err);
}

static void call_guarded(kc__worker *w)
{
    const char *what = NULL;
    if (kc__guard_call(&w->guard, reconcile, w, &what))
        return;
    kc_counter_inc(w->controller->metrics.panics);
    w->err = (kc_error){0}; /* Whatever was in it may be half written. */
    kc_error_set(&w->err, KC_INTERNAL, "panic: %s [recovered]", what);
    w->result = (kc_result){.outcome = KC_OUTCOME_RETRY};
}

static void call(kc__worker *w)
{
    if (w->controller->crash)
        reconcile(w);
    else
        call_guarded(w);
}

/* A call that must not take longer than the controller allows. */
static void call_in_time(kc__worker *w, int64_t started)
{
    kc_controller *c = w->controller;
    kc__timed_call timed;
    w->ctx.deadline = started + c->timeout;
    kc__deadlines_begin(&c->deadlines, &timed, w->ctx.cancel, w->ctx.deadline);
    call(w);
    if (!kc__deadlines_end(&c->deadlines, &timed))
        return;
    kc_counter_inc(c->metrics.timeouts);
    unprepare(w);
    prepare(w);
}

/* ---- what follows ---- */

static void add_again(kc__worker *w, const kc_queue_item *item, kc_why why, bool rate_limited,
                      int64_t after)
{
    const kc_queue_cause cause = {.why = why};
    int priority = w->result.has_priority ? w->result.priority : item->priority;
    kc_queue_add_with(
        w->controller->queue, item->key,
        &(kc_queue_add_opts){
            .after = after, .rate_limited = rate_limited, .priority = priority, .cause = &cause});
}

/* Nothing is wrong with a call that the stop itself has interrupted. */
static bool was_cut_short(const kc__worker *w)
{
    return w->err.reason == KC_TIMEOUT && w->stop && kc_cancel_fired(w->stop);
}

static void failed(kc__worker *w, const kc_queue_item *item)
{
    kc__controller_metrics *m = &w->controller->metrics;
    if (w->result.outcome == KC_OUTCOME_TERMINAL)
        kc_counter_inc(m->terminal);
    else
        add_again(w, item, KC_WHY_RETRY, true, 0);
    kc_counter_inc(m->errors);
    if (!w->err.reason)
        kc_error_set(&w->err, KC_UNKNOWN, "the reconciler failed and did not say why");
    if (w->result.after > 0)
        kc_log_warn(w->log, "a failed reconcile comes again as its failures say; `after` is "
                            "ignored");
    kc__failures_note(w->controller->failures, item->key, &w->err,
                      w->result.outcome == KC_OUTCOME_TERMINAL,
                      kc_clock_now(w->controller->env.clock));
    if (was_cut_short(w))
        kc_log_info(w->log, "stopped before it was done; the next start goes on",
                    kc_kv("err", &w->err));
    else
        kc_log_error(w->log, "Reconciler error", kc_kv("err", &w->err),
                     kc_kv("terminal", (bool)(w->result.outcome == KC_OUTCOME_TERMINAL)));
}

/* Returns what it counts as. */
static kc__result_label follow(kc__worker *w, const kc_queue_item *item)
{
    kc_queue *queue = w->controller->queue;
    switch (w->result.outcome) {
    case KC_OUTCOME_RETRY:
    case KC_OUTCOME_TERMINAL: failed(w, item); return KC__RESULT_ERROR;
    case KC_OUTCOME_REQUEUE: add_again(w, item, KC_WHY_REQUEUE, true, 0); return KC__RESULT_REQUEUE;
    case KC_OUTCOME_AFTER:
        if (w->result.after <= 0)
            break;
        kc_queue_forget(queue, item->key);
        add_again(w, item, KC_WHY_REQUEUE, false, w->result.after);
        return KC__RESULT_REQUEUE_AFTER;
    case KC_OUTCOME_DONE: break;
    }
    kc_queue_forget(queue, item->key);
    return KC__RESULT_SUCCESS;
}

/* ---- key by key ---- */

static void work_on(kc__worker *w, kc_queue_item *item)
{
    kc_controller *c = w->controller;
    const kc_request request = {.key = item->key, .priority = item->priority, .item = item};
    int64_t started = kc__queue_item_started(item);
    w->request = &request;
    kc_gauge_inc(c->metrics.active);
    if (w->log)
        kc_log_refit(w->log, c->log, kc_kv("namespace", item->key.ns),
                     kc_kv("name", item->key.name));
    if (c->loops)
        kc__loops_note(c->loops, item, started, w->log);
    if (c->timeout > 0)
        call_in_time(w, started);
    else
        call(w);
    kc__result_label label = follow(w, item);
    if (label != KC__RESULT_ERROR)
        kc__failures_clear(c->failures, item->key);
    kc_counter_inc(c->metrics.total[label]);
    kc_error_done(&w->err);
    int64_t now = kc_clock_now(c->env.clock);
    kc_histogram_observe_duration(c->metrics.time, now - started);
    kc_gauge_dec(c->metrics.active);
    kc__queue_done_at(c->queue, item, now);
}

static void run(void *user)
{
    kc__worker *w = user;
    kc_queue_item item;
    if (!w->controller->crash)
        kc__guard_begin(&w->guard);
    while (kc_queue_get(w->controller->queue, &item))
        work_on(w, &item);
    if (!w->controller->crash)
        kc__guard_end(&w->guard);
}

int kc__worker_start(kc__worker *worker, kc_controller *controller, kc_cancel *stop, kc_error *err)
{
    worker_init(worker, controller, stop);
    worker->thread = kc_thread_start(controller->name, run, worker, err);
    if (worker->thread)
        return 0;
    kc__worker_join(worker);
    return -KC_INTERNAL;
}

void kc__worker_join(kc__worker *worker)
{
    worker->thread = kc_thread_join(worker->thread);
    unprepare(worker);
    worker->log = kc_log_free(worker->log);
}
