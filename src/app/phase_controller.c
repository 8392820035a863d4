/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_controller.c: runs a phase machine (phase.h, which writes nothing) as a controller.
 *
 *     read ──▶ user actions ──▶ finalizer and label ──▶ step ──▶ status ──┐
 *                    ▲                                                    │ continues at once
 *                    └────────────────────────────────────────────────────┘
 *
 * One reconcile loops until the machine waits, has ended, or has run ROUNDS rounds. Each round
 * works on the server's response to the previous write, so it never sees an older state than it has
 * written.
 *
 * Writes, in this order, each such that the next round recovers from a crash after it:
 *   1. metadata: the finalizer, before anything is done, and the label;
 *   2. the status, after every step that changed it: the durable state of the object;
 *   3. metadata again, if the phase stays: its label; at the end, without the finalizer.
 * All carry the resourceVersion they were computed from. On a conflict the object is
 * read again from the server and the round restarts: the handler's notes on the older state are
 * dropped, and it runs again. So handlers run at least once, and each completion is recorded once.
 *
 * Deletion: an object in progress continues to its end, kept by the finalizer; `purge` releases it.
 */
#include "app/phase_internal.h"

#include "kc/finalizer.h"

enum {
    ROUNDS = 64,    /* Rounds of one reconcile. */
    CONFLICTS = 16, /* Conflicts after which the key is requeued. */
};

static bool app_phase_controller_has_ended(const kc__app_phase_walk *w)
{
    return kc_phase_is_terminal(w->controller->machine, kc__app_phase_walk_phase(w));
}

/* ---- the walk's object ---- */

void kc__app_phase_walk_take(kc__app_phase_walk *w, kc_object *object)
{
    kc_view_free(w->view);
    kc_object_unref(w->object);
    w->object = object;
    w->view = kc_view_of(object);
}

kc_str kc__app_phase_walk_phase(const kc__app_phase_walk *w)
{
    return kc_phase_of(w->controller->machine, kc_view_root(w->view));
}

static void walk_done(kc__app_phase_walk *w)
{
    kc_view_free(w->view);
    kc_object_unref(w->object);
}

int kc__app_phase_walk_status(kc__app_phase_walk *w, const kc_object *changed, kc_error *err)
{
    kc_object *now = kc_client_update(
        w->ctx->client, changed,
        &(kc_write_opts){.kind = w->controller->machine->kind, .subresource = "status"}, err);
    if (!now)
        return kc_error_wrap(err, "update status");
    kc__app_phase_walk_take(w, now);
    return 0;
}

int kc__app_phase_walk_patch(kc__app_phase_walk *w, const kc_object *changed, kc_error *err)
{
    kc_object *now =
        kc_client_patch_from(w->ctx->client, w->object, changed, true,
                             &(kc_write_opts){.kind = w->controller->machine->kind}, err);
    if (!now)
        return kc_error_wrap(err, "patch metadata");
    kc__app_phase_walk_take(w, now);
    return 0;
}

/* ---- finalizer and label ---- */

/* A phase's name may contain characters that a label value may not. */
static bool is_label(kc_str phase)
{
    bool fits = phase.n <= 63;
    for (size_t i = 0; i < phase.n; i++)
        fits = fits &&
               (kc_is_alnum(phase.p[i]) || (i && i + 1 < phase.n && strchr("-_.", phase.p[i])));
    return fits;
}

/* 1 if something was written. */
static int keep_metadata(kc__app_phase_walk *w, kc_error *err)
{
    const kc_str phase = kc__app_phase_walk_phase(w);
    kc_auto(kc_edit) *edit = kc_edit_of(w->object);
    bool changed = is_label(phase) && kc_edit_set_label(edit, KC_STR(KC_PHASE_LABEL), phase);
    if (app_phase_controller_has_ended(w))
        changed |= kc_edit_remove_finalizer(edit, KC_STR(KC_PHASE_FINALIZER));
    else if (!kc_object_being_deleted(w->object)) /* The server refuses new finalizers on a
                                                   * terminating object. */
        changed |= kc_edit_add_finalizer(edit, KC_STR(KC_PHASE_FINALIZER));
    if (!changed)
        return 0;
    kc_auto(kc_object) *wanted = kc_edit_freeze(edit, err);
    return !wanted || kc__app_phase_walk_patch(w, wanted, err) < 0 ? kc_error_result(err) : 1;
}

/* ---- a step ---- */

static void log_step(kc__app_phase_walk *w, kc_str before)
{
    const kc__app_phase_controller *c = w->controller;
    const kc_str phase = kc__app_phase_walk_phase(w);
    if (kc_str_eq(before, phase))
        return;
    kc_counter_inc(kc_metric_counter(c->transitions, kc_cstr(c->name), phase));
    kc_log_info(w->ctx->log, "phase", kc_kv("from", before), kc_kv("to", phase));
    if (!app_phase_controller_has_ended(w))
        return;
    const kc_value *record =
        kc_value_get_str(kc_value_nested(kc_view_root(w->view), "status.state"), before);
    if (kc_phase_is_failed(c->machine, phase))
        kc_recorder_event(w->ctx->recorder, w->object, KC_EVENT_TYPE_WARNING, "PhaseFailed",
                          "%.*s ended in %.*s: %s", KC_ARG(before), KC_ARG(phase),
                          kc_value_as_cstr(kc_value_get(record, "error"), "no reason"));
    else
        kc_recorder_event(w->ctx->recorder, w->object, KC_EVENT_TYPE_NORMAL, "PhaseSucceeded",
                          "%.*s ended in %.*s", KC_ARG(before), KC_ARG(phase));
}

static int run_step(kc__app_phase_walk *w, kc_phase_step_result *ret, kc_error *err)
{
    const kc__app_phase_controller *c = w->controller;
    const int64_t begun = kc_clock_now(w->ctx->clock);
    const kc_phase_env env = {.clock = w->ctx->clock, .cancel = w->ctx->cancel, .user = w->ctx};
    kc_autofree char *before = kc_str_dup(kc__app_phase_walk_phase(w));
    if (kc_phase_step(c->machine, w->object, &env, ret, err) < 0)
        return kc_error_result(err);
    kc_histogram_observe_duration(
        kc_metric_histogram(c->durations, kc_cstr(c->name), kc_cstr(before)),
        kc_clock_now(w->ctx->clock) - begun);
    if (ret->complaint)
        kc_recorder_event(w->ctx->recorder, w->object, KC_EVENT_TYPE_WARNING, "Held", "%s",
                          ret->complaint);
    if (!ret->object)
        return 0;
    kc_auto(kc_object) *changed = ret->object;
    ret->object = NULL;
    if (kc__app_phase_walk_status(w, changed, err) < 0)
        return kc_error_result(err);
    log_step(w, kc_cstr(before));
    return 0;
}

/* ---- one round ---- */

typedef enum going {
    GO_FAILED = -1,
    GO_ON,    /* Another round. */
    GO_ENDED, /* Nothing is left to do; the object may be gone. */
    GO_WAITS, /* Until the next change. */
    GO_LATER, /* After `after`. */
} going;

static going one_round(kc__app_phase_walk *w, int64_t *ret_after, kc_error *err)
{
    kc_phase_step_result stepped = {0};
    const int ordered = kc__app_phase_walk_actions(w, err);
    if (ordered)
        return ordered < 0 ? GO_FAILED : w->gone ? GO_ENDED : GO_ON;
    const bool is_held = kc_object_has_finalizer(w->object, KC_STR(KC_PHASE_FINALIZER));
    if ((!w->rounds++ || !is_held || app_phase_controller_has_ended(w)) &&
        keep_metadata(w, err) < 0)
        return GO_FAILED;
    if (app_phase_controller_has_ended(w))
        return GO_ENDED;
    if (kc_object_being_deleted(w->object) && !is_held)
        return GO_ENDED; /* Terminating, and never started. */
    if (run_step(w, &stepped, err) < 0)
        return GO_FAILED;
    if (stepped.waits)
        return GO_WAITS;
    *ret_after = stepped.after;
    return stepped.ended || !stepped.after ? GO_ON : GO_LATER;
}

static int reread(kc__app_phase_walk *w, kc_error *err)
{
    kc_object *now = kc_client_get(w->ctx->client, w->controller->machine->kind, w->key,
                                   &(kc_get_opts){.live = true}, err);
    if (!now)
        return kc_error_result(err);
    kc__app_phase_walk_take(w, now);
    return 0;
}

static kc_result fail_or_retry(kc__app_phase_walk *w, kc_error *err)
{
    const bool known = !kc_is_invalid(err) ||
                       kc_phase_is_known(w->controller->machine, kc__app_phase_walk_phase(w));
    if (known)
        return kc_retry(err);
    kc_recorder_event(w->ctx->recorder, w->object, KC_EVENT_TYPE_WARNING, "UnknownPhase", "%s",
                      kc_error_text(err));
    return kc_terminal(err);
}

/* After a failure: whether the object was read again and the loop continues; if not, *ret is the
 * result. */
static bool recover(kc__app_phase_walk *w, kc_error *failure, kc_result *ret, kc_error *err)
{
    *ret = kc_done();
    if (kc_is_not_found(failure) && reread(w, NULL) < 0)
        return false; /* Deleted in between: the deletion queues the key. */
    if (kc_is_not_found(failure))
        kc_error_wrap(failure, "does kind %s have a status subresource?",
                      w->controller->machine->kind->kind);
    if (!kc_is_conflict(failure) || ++w->conflicts > CONFLICTS) {
        kc_error_move(err, failure);
        *ret = fail_or_retry(w, err);
        return false;
    }
    kc_counter_inc(kc_metric_counter(w->controller->conflicts, kc_cstr(w->controller->name)));
    if (reread(w, err) == 0)
        return true;
    *ret = kc_done_if_not_found(err);
    return false;
}

/* The label is updated when the phase stays for a while; not for phases in passing, each of which
 * would cost a write. */
static kc_result app_phase_controller_leave(kc__app_phase_walk *w, kc_result result, kc_error *err)
{
    kc_scoped(kc_error) failure = {0};
    kc_result instead;
    while (keep_metadata(w, &failure) < 0) {
        if (!recover(w, &failure, &instead, err))
            return instead;
        kc_error_done(&failure);
    }
    return result;
}

static kc_result app_phase_controller_walk(kc__app_phase_walk *w, kc_error *err)
{
    int64_t after = 0;
    kc_result result = kc_requeue();
    for (int round = 0; round < ROUNDS; round++) {
        kc_scoped(kc_error) failure = {0};
        switch (one_round(w, &after, &failure)) {
        case GO_ON: break;
        case GO_ENDED: return kc_done();
        case GO_WAITS: return app_phase_controller_leave(w, kc_done(), err);
        case GO_LATER: return app_phase_controller_leave(w, kc_requeue_after(after), err);
        case GO_FAILED:
            if (!recover(w, &failure, &result, err))
                return result;
        }
    }
    return app_phase_controller_leave(w, kc_requeue(), err);
}

kc_result kc__app_phase_reconcile(kc__app_phase_controller *controller, kc_context *ctx, kc_key key,
                                  kc_error *err)
{
    kc__app_phase_walk w = {.controller = controller, .ctx = ctx, .key = key};
    kc_object *object = kc_client_get(ctx->client, controller->machine->kind, key, NULL, err);
    if (!object)
        return kc_done_if_not_found(err);
    kc__app_phase_walk_take(&w, object);
    const kc_result result = app_phase_controller_walk(&w, err);
    walk_done(&w);
    return result;
}

/* ---- predicate ---- */

/* Its own writes change status, label and finalizer; if they queued the key, a handler that reports
 * progress would run again at once, endlessly. */
static bool concerns_us(kc_change_type type, const kc_change *change, void *user)
{
    (void)user;
    if (type != KC_CHANGE_UPDATE || change->resync)
        return true;
    const kc_object *old = change->old, *now = change->object;
    return kc_object_generation(old) != kc_object_generation(now) ||
           kc_object_being_deleted(old) != kc_object_being_deleted(now) ||
           !kc_str_eq(kc_object_uid(old), kc_object_uid(now)) ||
           !kc_str_eq(kc_object_annotations_json(old), kc_object_annotations_json(now));
}

kc_predicate *kc__app_phase_predicate(void)
{
    return kc_predicate_new(concerns_us, NULL);
}

/* ---- setup ---- */

static void app_phase_controller_free(void *state)
{
    free(state);
}

static int add_metrics(kc__app_phase_controller *c, kc_metrics *metrics, kc_error *err)
{
    c->transitions =
        kc_metrics_counter(metrics,
                           &(kc_metric_opts){.name = "kc_phase_transitions_total",
                                             .help = "Number of phases entered, by reconciler "
                                                     "and phase.",
                                             .labels = {{"reconciler", .max_values = 200},
                                                        {"phase", .max_values = 1000}}},
                           err);
    c->durations = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){
            .name = "kc_phase_step_duration_seconds",
            .help = "Duration of a step in seconds, by reconciler and phase.",
            .labels = {{"reconciler", .max_values = 200}, {"phase", .max_values = 1000}}},
        err);
    c->conflicts = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "kc_phase_conflicts_total",
                          .help =
                              "Number of write conflicts after which the object was read again.",
                          .labels = {{"reconciler", .max_values = 200}}},
        err);
    c->orders = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){
            .name = "kc_phase_actions_total",
            .help = "Number of requested actions by reconciler, action and result.",
            .labels = {{"reconciler", .max_values = 200},
                       {"action", KC_LABEL_VALUES("reset", "revert", "continue", "purge")},
                       {"answer", KC_LABEL_VALUES("done", "refused")}}},
        err);
    return c->transitions && c->durations && c->conflicts && c->orders ? 0 : kc_error_result(err);
}

kc__app_phase_controller *kc__app_phase_controller_new(const char *name,
                                                       const kc_phase_machine *machine,
                                                       kc_manager *manager, kc_error *err)
{
    kc__app_phase_controller *c = kc_new(kc__app_phase_controller);
    c->name = name;
    c->machine = machine;
    kc_manager_defer(manager, c, app_phase_controller_free);
    return add_metrics(c, kc_manager_metrics(manager), err) < 0 ? NULL : c;
}
