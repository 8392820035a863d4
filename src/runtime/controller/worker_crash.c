/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_crash.c: handles a crash of a controller with crash recovery, after the guard caught it.
 *
 *     first crash of a key       retried, like a failure
 *     second, same object        quarantined: not reconciled until its object or the code changes
 *     eighth of the controller   the controller is paused until the next start
 *
 * So neither one object nor a client that creates many of them can end the process, and other
 * controllers, and the API server of `kc up`, continue. The quarantine is checked before each call,
 * also without recovery: the journal may have brought a key that ended the last process. If the
 * quarantine is empty the check is one read of a counter.
 *
 * Threads: all functions run on the worker's thread.
 */
#include "runtime/controller/worker.h"

#include "kc/recorder.h"

static kc__quarantine_key worker_crash_key_of(const kc__worker *w)
{
    const kc_controller *c = w->controller;
    return (kc__quarantine_key){.controller = c->name, .code = c->code, .key = w->request->key};
}

/* The object of the key, from the cache; NULL if it does not exist. False if that is unknown. */
static bool find_object(const kc__worker *w, kc_object **ret)
{
    const kc_controller *c = w->controller;
    kc_scoped(kc_error) err = {0};
    *ret = NULL;
    if (!c->kind || !w->ctx.client)
        return false;
    *ret = kc_client_get(w->ctx.client, c->kind, w->request->key, NULL, &err);
    return *ret || kc_is_not_found(&err);
}

static uint64_t worker_crash_version_of(const kc__worker *w)
{
    kc_object *object = NULL;
    const bool known = find_object(w, &object);
    const uint64_t version = known ? kc__quarantine_version(object) : 0;
    kc_object_unref(object);
    return version;
}

static void show_count(kc_controller *c)
{
    if (c->metrics.quarantined)
        kc_gauge_set(c->metrics.quarantined, (double)kc__quarantine_count(c->quarantine, c->name));
}

static void add_after(kc__worker *w, const kc_queue_item *item, int64_t after)
{
    const kc_queue_cause cause = {.reason = KC_QUEUE_REASON_RETRY};
    kc_queue_add_with(
        w->controller->queue, item->key,
        &(kc_queue_add_opts){.after = after, .priority = item->priority, .cause = &cause});
}

/* ---- before a call ---- */

static bool worker_crash_is_held(kc__worker *w, const kc_queue_item *item)
{
    kc_controller *c = w->controller;
    const kc__quarantine_key key = worker_crash_key_of(w);
    w->version = 0;
    if (!kc__quarantine_knows(c->quarantine, &key))
        return false;
    int64_t after = 0;
    w->version = worker_crash_version_of(w);
    const kc__quarantine_verdict verdict =
        kc__quarantine_admit(c->quarantine, &key, w->version, &after);
    show_count(c);
    if (verdict == KC__QUARANTINE_RUN)
        return false;
    kc_log_debug(w->log, "quarantined; not reconciled");
    kc_queue_forget(c->queue, item->key);
    if (verdict == KC__QUARANTINE_HELD_FOR)
        add_after(w, item, after);
    return true;
}

bool kc__worker_admits(kc__worker *w, const kc_queue_item *item)
{
    if (!atomic_load_explicit(&w->controller->paused, memory_order_relaxed))
        return !worker_crash_is_held(w, item);
    kc_queue_forget(w->controller->queue, item->key);
    return false;
}

/* ---- after a call ---- */

static void log_crash(kc__worker *w, const char *what, kc__quarantine_verdict verdict)
{
    kc_object *object = NULL;
    kc_scoped(kc_buf) where = {0};
    kc__guard_where(&w->guard, &where);
    const bool held = verdict != KC__QUARANTINE_RUN;
    kc_log_error(w->log, "Observed a panic in a reconciler", kc_kv("panic", what),
                 kc_kv("where", kc_buf_cstr(&where)), kc_kv("quarantined", held));
    if (!held || !find_object(w, &object) || !object)
        return;
    kc_recorder_event(
        w->ctx.recorder, object, KC_EVENT_TYPE_WARNING, "ReconcileQuarantined",
        "Reconciler %s crashed repeatedly (%s); it ignores this object until the object "
        "changes",
        w->controller->name, what);
    kc_object_unref(object);
}

static void pause_after_many(kc_controller *c)
{
    if (atomic_fetch_add(&c->crashes, 1) + 1 < KC__CONTROLLER_CRASHES ||
        atomic_exchange(&c->paused, true))
        return;
    kc_gauge_set(c->metrics.paused, 1);
    kc_log_error(c->log, "Controller paused after repeated panics; restart to resume",
                 kc_kv("panics", KC__CONTROLLER_CRASHES));
}

/* A key that only time releases is added to the queue again with a delay. */
static void worker_crash_decide(kc__worker *w, kc__quarantine_verdict verdict, int64_t after)
{
    const bool held = verdict != KC__QUARANTINE_RUN;
    w->result = (kc_result){.outcome = held ? KC_OUTCOME_TERMINAL : KC_OUTCOME_RETRY};
    if (verdict == KC__QUARANTINE_HELD_FOR)
        add_after(w, w->request->item, after);
}

void kc__worker_crashed(kc__worker *w, const char *what)
{
    kc_controller *c = w->controller;
    const kc__quarantine_key key = worker_crash_key_of(w);
    int64_t after = 0;
    kc_counter_inc(c->metrics.panics);
    const kc__quarantine_verdict verdict =
        kc__quarantine_crashed(c->quarantine, &key, w->version, what, &after);
    show_count(c);
    log_crash(w, what, verdict);
    pause_after_many(c);
    w->err = (kc_error){0}; /* Its content may be only partly written. */
    kc_error_set(&w->err, KC_INTERNAL, "panic: %s [recovered]", what);
    worker_crash_decide(w, verdict, after);
}

void kc__worker_returned(kc__worker *w)
{
    kc_controller *c = w->controller;
    const kc__quarantine_key key = worker_crash_key_of(w);
    if (!w->version && !kc__quarantine_knows(c->quarantine, &key))
        return;
    kc__quarantine_clear(c->quarantine, &key);
    show_count(c);
}
