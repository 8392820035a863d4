/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_plan.c: what is to be done for a pod, given what there is of it.
 *
 *     not admitted, deleted, too old, over by its status ──▶ stop everything, in order; then: over
 *     otherwise  ──▶ init containers, one after the other (a sidecar: until it has started)
 *                ──▶ containers, all at once; those that ended start again as the restart policy
 *                    says, after a back-off; those whose liveness or startup probe failed are ended
 *                ──▶ none left that runs or will run: sidecars are stopped; then: over
 *
 * The rules are the kubelet's. Nothing here calls out: the same pod, state and time give the same
 * plan. A driver carries the actions out and asks again at once, until there are none; so each look
 * needs to find one step only (the next init container), not the whole way.
 *
 * Back-off: an attempt that ends starts again at once the first time, then 10 s after it ended,
 * then 20 s and so on up to 5 min; whoever ran for 10 min begins anew.
 */
#include "pods/pod_record.h"

#include <stdarg.h>
#include <stdio.h>

#define BACKOFF_FIRST (10 * KC_SECOND)
#define BACKOFF_MOST  (5 * KC_MINUTE)

/* ---- plans ---- */

void kc__plan_done(kc__plan *plan)
{
    kc_vec_each (&plan->actions, a)
        free(a->message);
    kc_vec_done(&plan->actions);
}

void kc__plan_add(kc__plan *plan, kc__act act, size_t container, int attempt)
{
    kc_vec_push(&plan->actions,
                (kc__action){.act = act, .container = container, .attempt = attempt});
}

void kc__plan_say(kc__plan *plan, size_t container, bool warning, const char *event,
                  const char *fmt, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    kc_vec_push(&plan->actions, (kc__action){.act = KC__ACT_SAY,
                                             .container = container,
                                             .warning = warning,
                                             .event = event,
                                             .message = kc_strdup(kc_buf_cstr(&text))});
}

void kc__plan_look(kc__plan *plan, kc_time at)
{
    plan->next = KC_MIN(plan->next, at);
}

/* ---- starting, and starting again ---- */

static bool backoff_expired(const kc__container_state *c, kc_time ended)
{
    return ended - c->backoff_at > 2 * BACKOFF_MOST;
}

/* "10s", "1m20s": as Go prints it. */
static void say_backoff(const kc_pod *pod, kc__pod_record *state, size_t i, kc__plan *plan)
{
    kc__container_state *c = &state->containers[i];
    const char *name = kc__pod_container(pod, i)->name;
    kc_scoped(kc_buf) length = {0};
    kc_duration_write(&length, c->backoff);
    c->waiting = "CrashLoopBackOff";
    free(c->waiting_message);
    c->waiting_message =
        kc_asprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
                    kc_buf_cstr(&length), name, state->name, state->ns, state->uid);
    kc__plan_say(plan, i, true, "BackOff",
                 "Back-off restarting failed container %s in pod %s_%s(%s)", name, state->name,
                 state->ns, state->uid);
}

/* True while an attempt that has ended must not start again yet. */
static bool backs_off(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now,
                      kc__plan *plan)
{
    kc__container_state *c = &state->containers[i];
    const kc_time ended = c->now.ended;
    if (c->backoff && !backoff_expired(c, ended) && now - ended < c->backoff) {
        if (!c->waiting)
            say_backoff(pod, state, i, plan);
        kc__plan_look(plan, ended + c->backoff);
        return true;
    }
    if (!c->backoff || backoff_expired(c, ended))
        c->backoff = BACKOFF_FIRST;
    else
        c->backoff = KC_MIN(2 * c->backoff, BACKOFF_MOST);
    c->backoff_at = now;
    return false;
}

/* A start that failed is tried again later; it does not count as an attempt. */
static void start(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now, kc__plan *plan)
{
    kc__container_state *c = &state->containers[i];
    const bool tried = c->retry_at > 0;
    if (kc__container_is_alive(c))
        return;
    if (now < c->retry_at) {
        kc__plan_look(plan, c->retry_at);
        return;
    }
    if (!tried && c->now.phase == KC__CONTAINER_ENDED && backs_off(pod, state, i, now, plan))
        return;
    kc__plan_add(plan, KC__ACT_START, i, c->now.number + 1);
}

/* ---- what runs ---- */

static int64_t grace_of(const kc_pod *pod, const kc_probe *probe)
{
    if (probe && probe->termination_grace_period_seconds)
        return *probe->termination_grace_period_seconds;
    return pod->spec.termination_grace_period_seconds ? *pod->spec.termination_grace_period_seconds
                                                      : 2;
}

static bool failed(const kc__container_state *c, kc__probe_type type)
{
    return c->probes[type].has_value && !c->probes[type].value;
}

static bool image_changed(const kc__container_state *c, const kc_container *spec)
{
    return c->image && strcmp(c->image, spec->image ? spec->image : "") != 0;
}

/* Ends a container for a reason; "will be restarted" where it will. */
static void give_up(const kc_pod *pod, kc__pod_record *state, size_t i, const char *why,
                    const kc_probe *probe, kc_time now, kc__plan *plan)
{
    const kc_container *spec = kc__pod_container(pod, i);
    const bool init = i < state->n_init;
    const bool again = !init && (!probe || kc__pod_restarts(pod, 1));
    kc_autofree char *text = kc_asprintf("%s %s %s%s", init ? "Init container" : "Container",
                                         spec->name, why, again ? ", will be restarted" : "");
    kc__plan_stop(pod, state, i, grace_of(pod, probe), text, now, plan);
}

static void watch_over(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now,
                       kc__plan *plan)
{
    kc__container_state *c = &state->containers[i];
    const kc_container *spec = kc__pod_container(pod, i);
    if (c->now.phase != KC__CONTAINER_RUNNING || c->stop != KC__STOP_NOT ||
        (i < state->n_init && !kc__is_sidecar(spec)))
        return;
    if (image_changed(c, spec))
        give_up(pod, state, i, "definition changed", NULL, now, plan);
    else if (failed(c, KC__PROBE_LIVENESS))
        give_up(pod, state, i, "failed liveness probe", spec->liveness_probe, now, plan);
    else if (failed(c, KC__PROBE_STARTUP))
        give_up(pod, state, i, "failed startup probe", spec->startup_probe, now, plan);
    else if (c->post_start == KC__HOOK_FAILED)
        kc__plan_stop(pod, state, i, grace_of(pod, NULL), "FailedPostStartHook", now, plan);
    else if (spec->lifecycle && spec->lifecycle->post_start && c->post_start == KC__HOOK_NONE) {
        c->post_start = KC__HOOK_RUNS;
        kc__plan_add(plan, KC__ACT_POST_START, i, c->now.number);
    } else
        kc__plan_probes(pod, state, i, now, plan);
}

/* ---- init containers ---- */

static bool has_initialized(const kc__pod_record *state)
{
    for (size_t i = state->n_init; i < state->n; i++)
        if (state->containers[i].now.number >= 0)
            return true;
    return false;
}

/* One step of the way: true when the next one may go. `*doomed`: it failed for good. */
static bool init_one(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now,
                     kc__plan *plan, bool *doomed)
{
    kc__container_state *c = &state->containers[i];
    const kc_container *spec = kc__pod_container(pod, i);
    if (kc__is_sidecar(spec)) {
        start(pod, state, i, now, plan);
        return kc__container_is_started(c, spec);
    }
    if (c->now.phase == KC__CONTAINER_ENDED && c->now.exit_code == 0)
        return true;
    *doomed = c->now.phase == KC__CONTAINER_ENDED && !kc__pod_restarts(pod, c->now.exit_code);
    if (!*doomed)
        start(pod, state, i, now, plan);
    return false;
}

static bool initialize(const kc_pod *pod, kc__pod_record *state, kc_time now, kc__plan *plan,
                       bool *doomed)
{
    for (size_t i = 0; i < state->n_init; i++)
        if (!init_one(pod, state, i, now, plan, doomed))
            return false;
    return true;
}

/* ---- containers ---- */

static bool is_done(const kc_pod *pod, const kc__container_state *c)
{
    return c->now.phase == KC__CONTAINER_ENDED && !kc__pod_restarts(pod, c->now.exit_code);
}

static bool all_done(const kc_pod *pod, const kc__pod_record *state)
{
    for (size_t i = state->n_init; i < state->n; i++)
        if (!is_done(pod, &state->containers[i]))
            return false;
    return true;
}

static void run_containers(const kc_pod *pod, kc__pod_record *state, kc_time now, kc__plan *plan)
{
    for (size_t i = 0; i < state->n; i++) {
        kc__container_state *c = &state->containers[i];
        const bool init = i < state->n_init;
        if (init ? kc__is_sidecar(kc__pod_container(pod, i)) : !is_done(pod, c))
            start(pod, state, i, now, plan);
    }
}

/* ---- the whole ---- */

static bool is_too_old(const kc_pod *pod, const kc__pod_record *state, kc_time now, kc__plan *plan)
{
    const int64_t *seconds = pod->spec.active_deadline_seconds;
    if (!seconds || !state->start_time)
        return false;
    const kc_time end = state->start_time + *seconds * KC_SECOND;
    if (now < end)
        kc__plan_look(plan, end);
    return now >= end;
}

/* It is to end: deleted, failed by us, or over by what its status says. */
static bool is_ending(const kc_pod *pod, kc__pod_record *state, kc_time now, kc__plan *plan)
{
    if (pod->metadata.deletion_timestamp.at || state->failed ||
        kc__phase_is_terminal(pod->status.phase))
        return true;
    if (!is_too_old(pod, state, now, plan))
        return false;
    state->failed = "DeadlineExceeded";
    state->failed_message =
        kc_strdup("Pod was active on the node longer than the specified deadline");
    kc__plan_say(plan, SIZE_MAX, false, "DeadlineExceeded", "%s", state->failed_message);
    return true;
}

void kc__pod_plan(const kc_pod *pod, kc__pod_record *state, kc_time now, kc__plan *plan)
{
    bool doomed = false;
    plan->next = KC_FOREVER;
    kc__pod_record_wake_hooks(state, now);
    const bool ending = is_ending(pod, state, now, plan);
    if (!ending && state->prepared) {
        if (has_initialized(state) || initialize(pod, state, now, plan, &doomed)) {
            if (all_done(pod, state))
                doomed = true;
            else
                run_containers(pod, state, now, plan);
        }
        for (size_t i = 0; i < state->n && !doomed; i++)
            watch_over(pod, state, i, now, plan);
    }
    if (ending || doomed)
        kc__plan_stop_all(pod, state, now, plan);
    kc__plan_stopping(pod, state, now, plan);
    for (size_t i = 0; i < state->n; i++)
        if (state->containers[i].hook_until)
            kc__plan_look(plan, state->containers[i].hook_until);
    plan->over = (ending || doomed) && !kc__pod_is_alive(state);
}
