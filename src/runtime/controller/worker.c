/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c: a thread that takes keys and calls the reconciler, and handles the result:
 *
 *     result       forgets   added again                counted as
 *     done         yes       no                         success
 *     after        yes       after that time            requeue_after
 *     requeue      no        rate limited               requeue
 *     retry        no        rate limited               error
 *     terminal     no        no                         error, and as terminal
 *
 * with its previous priority, unless the result sets another. A crash ends the process. With crash
 * recovery it is a retry, until the key is put in quarantine: then it is terminal (worker_crash.c).
 *
 * The overhead is small: the cancellation token, the client bound to it and the logger are created
 * once and reused for every call. A token can fire only once, so after a call that timed out the
 * worker replaces token and client. The clock is read only when a key is taken and when the call
 * has ended.
 */
#include "runtime/controller/worker.h"

/* ---- the context of a call ---- */

/* Creates a token, and a client that is cancelled by it. */
static void worker_prepare(kc__worker *w)
{
    const kc_controller *c = w->controller;
    w->ctx.cancel = kc_cancel_new(w->stop);
    if (c->env.client)
        w->ctx.client = kc_client_with(
            c->env.client,
            &(kc_client_overrides){.cancel = w->ctx.cancel, .field_manager = c->field_manager});
}

static void unprepare(kc__worker *w)
{
    w->ctx.client = w->ctx.client ? kc_client_unref(w->ctx.client) : NULL;
    w->ctx.cancel = kc_cancel_unref(w->ctx.cancel);
}

static void worker_init(kc__worker *w, kc_controller *c, kc_cancel *stop)
{
    *w = (kc__worker){
        .controller = c, .state = KC__WORKER_RUNS, .stop = stop, .rand = kc_rand_split(&c->rand)};
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
    worker_prepare(w);
}

/* ---- the call ---- */

static void worker_reconcile(void *user)
{
    kc__worker *w = user;
    w->result = w->controller->reconcile(&w->ctx, w->request, &w->err);
}

/* Without crash recovery the guard only reports a crash, and does not return. */
static void call_guarded(kc__worker *w)
{
    const char *what = NULL;
    w->guard.key = w->request->key;
    kc__crash_journal_slot_begin(w->guard.slot, w->request->key);
    w->crashed = !kc__guard_call(&w->guard, worker_reconcile, w, &what);
    kc__crash_journal_slot_end(w->guard.slot);
    if (w->crashed)
        kc__worker_crashed(w, what);
    else
        kc__worker_returned(w);
}

/* A call with the controller's reconcile timeout. */
static void call_in_time(kc__worker *w, int64_t started)
{
    kc_controller *c = w->controller;
    kc__deadlines_call timed;
    w->ctx.deadline = started + c->timeout;
    kc__deadlines_begin(&c->deadlines, &timed, w->ctx.cancel, w->ctx.deadline);
    call_guarded(w);
    if (!kc__deadlines_end(&c->deadlines, &timed))
        return;
    kc_counter_inc(c->metrics.timeouts);
    unprepare(w);
    worker_prepare(w);
}

/* ---- results ---- */

static void add_again(kc__worker *w, const kc_queue_item *item, kc_queue_reason reason,
                      bool rate_limited, int64_t after)
{
    const kc_queue_cause cause = {.reason = reason};
    int priority = w->result.has_priority ? w->result.priority : item->priority;
    kc_queue_add_with(
        w->controller->queue, item->key,
        &(kc_queue_add_opts){
            .after = after, .rate_limited = rate_limited, .priority = priority, .cause = &cause});
}

/* An error is expected if the stop itself interrupted the call. */
static bool was_cut_short(const kc__worker *w)
{
    return w->err.reason == KC_TIMEOUT && w->stop && kc_cancel_fired(w->stop);
}

static void worker_failed(kc__worker *w, const kc_queue_item *item)
{
    kc__controller_metrics *m = &w->controller->metrics;
    if (w->result.outcome == KC_OUTCOME_TERMINAL)
        kc_counter_inc(m->terminal);
    else
        add_again(w, item, KC_QUEUE_REASON_RETRY, true, 0);
    kc_counter_inc(m->errors);
    if (!w->err.reason)
        kc_error_set(&w->err, KC_UNKNOWN, "the reconciler failed without an error message");
    if (w->result.after > 0)
        kc_log_warn(w->log,
                    "reconciler returned an error and `after`; `after` is ignored, the rate "
                    "limiter sets the delay");
    kc__failures_note(w->controller->failures, item->key, &w->err,
                      w->result.outcome == KC_OUTCOME_TERMINAL,
                      kc_clock_now(w->controller->env.clock));
    if (was_cut_short(w))
        kc_log_info(w->log, "reconcile interrupted by shutdown; the next start resumes it",
                    kc_kv("err", &w->err));
    else
        kc_log_error(w->log, "Reconciler error", kc_kv("err", &w->err),
                     kc_kv("terminal", (bool)(w->result.outcome == KC_OUTCOME_TERMINAL)));
}

/* Returns the label of the result in metrics. */
static kc__worker_result_label worker_follow(kc__worker *w, const kc_queue_item *item)
{
    kc_queue *queue = w->controller->queue;
    switch (w->result.outcome) {
    case KC_OUTCOME_RETRY:
    case KC_OUTCOME_TERMINAL: worker_failed(w, item); return KC__WORKER_RESULT_ERROR;
    case KC_OUTCOME_REQUEUE:
        add_again(w, item, KC_QUEUE_REASON_REQUEUE, true, 0);
        return KC__WORKER_RESULT_REQUEUE;
    case KC_OUTCOME_REQUEUE_AFTER:
        if (w->result.after <= 0)
            break;
        kc_queue_forget(queue, item->key);
        add_again(w, item, KC_QUEUE_REASON_REQUEUE, false, w->result.after);
        return KC__WORKER_RESULT_REQUEUE_AFTER;
    case KC_OUTCOME_DONE: break;
    }
    kc_queue_forget(queue, item->key);
    return KC__WORKER_RESULT_SUCCESS;
}

/* ---- the loop over keys ---- */

static void reconcile_item(kc__worker *w, kc_queue_item *item, int64_t started)
{
    kc_controller *c = w->controller;
    if (c->loops)
        kc__hotloop_table_note(c->loops, item, started, w->log);
    if (c->timeout > 0)
        call_in_time(w, started);
    else
        call_guarded(w);
    kc__worker_result_label label = worker_follow(w, item);
    if (label != KC__WORKER_RESULT_ERROR)
        kc__failures_clear(c->failures, item->key);
    kc_counter_inc(c->metrics.total[label]);
    kc_error_done(&w->err);
}

static void work_on(kc__worker *w, kc_queue_item *item)
{
    kc_controller *c = w->controller;
    const kc_request request = {.key = item->key, .priority = item->priority, .item = item};
    int64_t started = kc__queue_item_started(item);
    w->request = &request;
    kc_gauge_inc(c->metrics.active);
    if (w->log)
        kc_log_set_fields(w->log, c->log, kc_kv("namespace", item->key.ns),
                          kc_kv("name", item->key.name));
    const bool admitted = kc__worker_admits(w, item);
    if (admitted)
        reconcile_item(w, item, started);
    int64_t now = kc_clock_now(c->env.clock);
    if (admitted)
        kc_histogram_observe_duration(c->metrics.time, now - started);
    kc_gauge_dec(c->metrics.active);
    kc__queue_done_at(c->queue, item, now);
}

/* False if the worker must end: it was idle for too long, or the queue is shut down. */
static bool get_item(kc_controller *c, kc_queue_item *ret)
{
    const int64_t idle_until = kc_clock_deadline(c->env.clock, KC__WORKER_IDLE);
    return kc__queue_get_until(c->queue, idle_until, ret) == KC__QUEUE_ITEM;
}

static void worker_begin_guard(kc__worker *w)
{
    const kc_controller *c = w->controller;
    kc__guard_begin(&w->guard);
    w->guard.recovers = c->crash_recovery;
    w->guard.role = "controller";
    w->guard.name = c->name;
    w->guard.slot = kc__crash_journal_take_slot(c->env.crash_journal, c->name, c->code);
}

static void worker_end_guard(kc__worker *w)
{
    kc__crash_journal_release_slot(w->guard.slot);
    kc__guard_end(&w->guard);
}

static void worker_run(void *user)
{
    kc__worker *w = user;
    kc_queue_item item;
    worker_begin_guard(w);
    while (get_item(w->controller, &item))
        work_on(w, &item);
    worker_end_guard(w);
    kc__worker_pool_worker_ended(w);
}

int kc__worker_start(kc__worker *worker, kc_controller *controller, kc_cancel *stop, kc_error *err)
{
    worker_init(worker, controller, stop);
    worker->thread = kc_thread_start(controller->name, worker_run, worker, err);
    if (worker->thread)
        return 0;
    kc__worker_join(worker);
    return kc_error_result(err);
}

void kc__worker_join(kc__worker *worker)
{
    worker->thread = kc_thread_join(worker->thread);
    unprepare(worker);
    worker->log = kc_log_free(worker->log);
}
