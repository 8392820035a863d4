/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_controller.c: a phase machine (phase.h, which writes nothing) as a controller.
 *
 *     read ──▶ orders of people ──▶ finalizer and label ──▶ step ──▶ status ──┐
 *                    ▲                                                        │ goes on at once
 *                    └────────────────────────────────────────────────────────┘
 *
 * One reconcile goes round until the machine wants to wait, has ended, or has gone ROUNDS times.
 * The next round works on what the server answered to the last write, so it never sees an older
 * state than it has written itself.
 *
 * Writes, in this order, each made so that a crash behind it is mended by the next round:
 *   1. metadata: the finalizer, before anything is done, and the label;
 *   2. the status, after every step that changed it: this is what is known of the object;
 *   3. metadata again, where it stays: the label of the phase; at the end, without the finalizer.
 * All carry the resourceVersion they were made of. On a conflict the object is read again, from the
 * server, and the round begins anew: what a handler said of an older state is forgotten, and it
 * runs again. So handlers run at least once, and what they finish is recorded once.
 *
 * Deleting: an object under way goes on to its end, held by the finalizer; `purge` lets it go.
 */
#include "app/phase_internal.h"

#include "kc/finalizer.h"

enum {
    ROUNDS = 64,    /* Of one reconcile. */
    CONFLICTS = 16, /* After them, it is tried again later. */
};

static bool has_ended(const kc__phase_walk *w)
{
    return kc_phase_is_terminal(w->controller->machine, kc__walk_phase(w));
}

/* ---- the walk's object ---- */

void kc__walk_take(kc__phase_walk *w, kc_object *object)
{
    kc_view_free(w->view);
    kc_object_unref(w->object);
    w->object = object;
    w->view = kc_view_of(object);
}

kc_str kc__walk_phase(const kc__phase_walk *w)
{
    return kc_phase_of(w->controller->machine, kc_view_root(w->view));
}

static void walk_done(kc__phase_walk *w)
{
    kc_view_free(w->view);
    kc_object_unref(w->object);
}

int kc__walk_status(kc__phase_walk *w, const kc_object *changed, kc_error *err)
{
    kc_object *now = kc_client_update(
        w->ctx->client, changed,
        &(kc_write_opts){.kind = w->controller->machine->kind, .subresource = "status"}, err);
    if (!now)
        return kc_error_wrap(err, "write the status");
    kc__walk_take(w, now);
    return 0;
}

int kc__walk_patch(kc__phase_walk *w, const kc_object *changed, kc_error *err)
{
    kc_object *now =
        kc_client_patch_from(w->ctx->client, w->object, changed, true,
                             &(kc_write_opts){.kind = w->controller->machine->kind}, err);
    if (!now)
        return kc_error_wrap(err, "write the metadata");
    kc__walk_take(w, now);
    return 0;
}

/* ---- finalizer and label ---- */

/* A label's value may not be everything a phase's name is. */
static bool is_label(kc_str phase)
{
    bool fits = phase.n <= 63;
    for (size_t i = 0; i < phase.n; i++)
        fits = fits &&
               (kc_is_alnum(phase.p[i]) || (i && i + 1 < phase.n && strchr("-_.", phase.p[i])));
    return fits;
}

/* 1 if something was written. */
static int keep_metadata(kc__phase_walk *w, kc_error *err)
{
    const kc_str phase = kc__walk_phase(w);
    kc_auto(kc_edit) *edit = kc_edit_of(w->object);
    bool changed = is_label(phase) && kc_edit_set_label(edit, KC_STR(KC_PHASE_LABEL), phase);
    if (has_ended(w))
        changed |= kc_edit_remove_finalizer(edit, KC_STR(KC_PHASE_FINALIZER));
    else if (!kc_object_being_deleted(w->object)) /* The server lets nobody add one then. */
        changed |= kc_edit_add_finalizer(edit, KC_STR(KC_PHASE_FINALIZER));
    if (!changed)
        return 0;
    kc_auto(kc_object) *wanted = kc_edit_freeze(edit, err);
    return !wanted || kc__walk_patch(w, wanted, err) < 0 ? -1 : 1;
}

/* ---- a step ---- */

static void say_what_happened(kc__phase_walk *w, kc_str before)
{
    const kc__phase_controller *c = w->controller;
    const kc_str phase = kc__walk_phase(w);
    if (kc_str_eq(before, phase))
        return;
    kc_counter_inc(kc_counter_of(c->transitions, kc_cstr(c->name), phase));
    kc_log_info(w->ctx->log, "phase", kc_kv("from", before), kc_kv("to", phase));
    if (!has_ended(w))
        return;
    const kc_value *record = kc_get_str(kc_dig(kc_view_root(w->view), "status.state"), before);
    if (kc_phase_is_failed(c->machine, phase))
        kc_event(w->ctx->recorder, w->object, KC_WARNING, "PhaseFailed", "%.*s ended in %.*s: %s",
                 KC_ARG(before), KC_ARG(phase), kc_as_cstr(kc_get(record, "error"), "no reason"));
    else
        kc_event(w->ctx->recorder, w->object, KC_NORMAL, "PhaseSucceeded", "%.*s ended in %.*s",
                 KC_ARG(before), KC_ARG(phase));
}

static int run_step(kc__phase_walk *w, kc_phase_stepped *ret, kc_error *err)
{
    const kc__phase_controller *c = w->controller;
    const int64_t begun = kc_clock_now(w->ctx->clock);
    const kc_phase_env env = {.clock = w->ctx->clock, .cancel = w->ctx->cancel, .user = w->ctx};
    kc_autofree char *before = kc_str_dup(kc__walk_phase(w));
    if (kc_phase_step(c->machine, w->object, &env, ret, err) < 0)
        return -1;
    kc_histogram_observe_duration(kc_histogram_of(c->durations, kc_cstr(c->name), kc_cstr(before)),
                                  kc_clock_now(w->ctx->clock) - begun);
    if (ret->complaint)
        kc_event(w->ctx->recorder, w->object, KC_WARNING, "Held", "%s", ret->complaint);
    if (!ret->object)
        return 0;
    kc_auto(kc_object) *changed = ret->object;
    ret->object = NULL;
    if (kc__walk_status(w, changed, err) < 0)
        return -1;
    say_what_happened(w, kc_cstr(before));
    return 0;
}

/* ---- one round ---- */

typedef enum going {
    GO_FAILED = -1,
    GO_ON,    /* Another round. */
    GO_ENDED, /* Nothing is to be done any more; the object may be gone. */
    GO_WAITS, /* Until something changes. */
    GO_LATER, /* After `after`. */
} going;

static going one_round(kc__phase_walk *w, int64_t *ret_after, kc_error *err)
{
    kc_phase_stepped stepped = {0};
    const int ordered = kc__walk_orders(w, err);
    if (ordered)
        return ordered < 0 ? GO_FAILED : w->gone ? GO_ENDED : GO_ON;
    const bool is_held = kc_object_has_finalizer(w->object, KC_STR(KC_PHASE_FINALIZER));
    if ((!w->rounds++ || !is_held || has_ended(w)) && keep_metadata(w, err) < 0)
        return GO_FAILED;
    if (has_ended(w))
        return GO_ENDED;
    if (kc_object_being_deleted(w->object) && !is_held)
        return GO_ENDED; /* It goes, and never began. */
    if (run_step(w, &stepped, err) < 0)
        return GO_FAILED;
    if (stepped.waits)
        return GO_WAITS;
    *ret_after = stepped.after;
    return stepped.ended || !stepped.after ? GO_ON : GO_LATER;
}

static int read_again(kc__phase_walk *w, kc_error *err)
{
    kc_object *now = kc_client_get(w->ctx->client, w->controller->machine->kind, w->key,
                                   &(kc_get_opts){.live = true}, err);
    if (!now)
        return -1;
    kc__walk_take(w, now);
    return 0;
}

static kc_result give_up_or_retry(kc__phase_walk *w, kc_error *err)
{
    const bool known =
        !kc_is_invalid(err) || kc_phase_is_known(w->controller->machine, kc__walk_phase(w));
    if (known)
        return kc_retry(err);
    kc_event(w->ctx->recorder, w->object, KC_WARNING, "UnknownPhase", "%s", kc_error_text(err));
    return kc_give_up(err);
}

/* After a failure: 0 if the object was read again and it can go on; else *ret says what then. */
static int recover(kc__phase_walk *w, kc_error *failure, kc_result *ret, kc_error *err)
{
    *ret = kc_done();
    if (kc_is_not_found(failure) && read_again(w, NULL) < 0)
        return -1; /* Deleted in between: that change comes by itself. */
    if (kc_is_not_found(failure))
        kc_error_wrap(failure, "does kind %s have a status subresource?",
                      w->controller->machine->kind->kind);
    if (!kc_is_conflict(failure) || ++w->conflicts > CONFLICTS) {
        kc_error_move(err, failure);
        *ret = give_up_or_retry(w, err);
        return -1;
    }
    kc_counter_inc(kc_counter_of(w->controller->conflicts, kc_cstr(w->controller->name)));
    if (read_again(w, err) == 0)
        return 0;
    *ret = kc_done_if_not_found(err);
    return -1;
}

/* Where it stays for a while its label is right; not where it only passes through, which nobody
 * sees and would cost a write each. */
static kc_result leave(kc__phase_walk *w, kc_result result, kc_error *err)
{
    kc_scoped(kc_error) failure = {0};
    kc_result instead;
    while (keep_metadata(w, &failure) < 0) {
        if (recover(w, &failure, &instead, err) < 0)
            return instead;
        kc_error_done(&failure);
    }
    return result;
}

static kc_result walk(kc__phase_walk *w, kc_error *err)
{
    int64_t after = 0;
    kc_result result = kc_again();
    for (int round = 0; round < ROUNDS; round++) {
        kc_scoped(kc_error) failure = {0};
        switch (one_round(w, &after, &failure)) {
        case GO_ON: break;
        case GO_ENDED: return kc_done();
        case GO_WAITS: return leave(w, kc_done(), err);
        case GO_LATER: return leave(w, kc_again_after(after), err);
        case GO_FAILED:
            if (recover(w, &failure, &result, err) < 0)
                return result;
        }
    }
    return leave(w, kc_again(), err);
}

kc_result kc__phase_reconcile(kc__phase_controller *controller, kc_context *ctx, kc_key key,
                              kc_error *err)
{
    kc__phase_walk w = {.controller = controller, .ctx = ctx, .key = key};
    kc_object *object = kc_client_get(ctx->client, controller->machine->kind, key, NULL, err);
    if (!object)
        return kc_done_if_not_found(err);
    kc__walk_take(&w, object);
    const kc_result result = walk(&w, err);
    walk_done(&w);
    return result;
}

/* ---- what is worth a reconcile ---- */

/* Its own writes are of status, label and finalizer; were they worth one, a handler that says how
 * far it is would be called again at once, without end. */
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

kc_predicate *kc__phase_predicate(void)
{
    return kc_predicate_new(concerns_us, NULL);
}

/* ---- making one ---- */

static void controller_free(void *state)
{
    free(state);
}

static int add_metrics(kc__phase_controller *c, kc_metrics *metrics, kc_error *err)
{
    c->transitions =
        kc_metrics_counter(metrics,
                           &(kc_metric_opts){.name = "kc_phase_transitions_total",
                                             .help = "Phases entered, by reconciler and phase.",
                                             .labels = {{"reconciler", .max_values = 200},
                                                        {"phase", .max_values = 1000}}},
                           err);
    c->durations = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){
            .name = "kc_phase_step_duration_seconds",
            .help = "How long one step took, by reconciler and phase.",
            .labels = {{"reconciler", .max_values = 200}, {"phase", .max_values = 1000}}},
        err);
    c->conflicts = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "kc_phase_conflicts_total",
                          .help =
                              "Writes that came too late, after which the object was read again.",
                          .labels = {{"reconciler", .max_values = 200}}},
        err);
    c->orders = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){
            .name = "kc_phase_actions_total",
            .help = "What people asked for, by reconciler, action and answer.",
            .labels = {{"reconciler", .max_values = 200},
                       {"action", KC_LABEL_VALUES("reset", "revert", "continue", "purge")},
                       {"answer", KC_LABEL_VALUES("done", "refused")}}},
        err);
    return c->transitions && c->durations && c->conflicts && c->orders ? 0 : -1;
}

kc__phase_controller *kc__phase_controller_new(const char *name, const kc_phase_machine *machine,
                                               kc_manager *manager, kc_error *err)
{
    kc__phase_controller *c = kc_new(kc__phase_controller);
    c->name = name;
    c->machine = machine;
    kc_manager_keep(manager, c, controller_free);
    return add_metrics(c, kc_manager_metrics(manager), err) < 0 ? NULL : c;
}
