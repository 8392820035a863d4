/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_plan.c: decides the next actions for a pod from its observed state.
 *
 *     rejected, deleted, past its deadline, terminal phase ──▶ stop all containers; then: over
 *     otherwise  ──▶ init containers one after the other (a sidecar: until it has started)
 *                ──▶ containers, all at once; those that exited restart as the restart policy
 *                    says, after a back-off; those whose liveness or startup probe failed are
 *                    killed
 *                ──▶ none left that runs or will run: stop sidecars; then: over
 *
 * The rules are the kubelet's. The functions make no calls: equal pod, state and time give equal
 * plans. The pod sync executes the actions and plans again until there are none; so each plan needs
 * to contain only one step (the next init container), not the whole sequence.
 *
 * Back-off: a container that exited restarts at once the first time, then 10 s after its exit, then
 * 20 s and so on up to 5 min; an attempt that ran for 10 min resets it.
 */
#include "pods/pod_record.h"

#include <stdarg.h>
#include <stdio.h>

#define BACKOFF_FIRST (10 * KC_SECOND)
#define BACKOFF_MOST  (5 * KC_MINUTE)
#define MEASURE_EVERY (10 * KC_SECOND) /* The kubelet's values. */

/* ---- plans ---- */

void kc__pod_action_plan_done(kc__pod_action_plan *plan)
{
    kc_vec_each (&plan->actions, a)
        free(a->message);
    kc_vec_done(&plan->actions);
}

void kc__pod_plan_add(kc__pod_action_plan *plan, kc__pod_action_type act, size_t container,
                      int attempt)
{
    kc_vec_push(&plan->actions,
                (kc__pod_action){.act = act, .container = container, .attempt = attempt});
}

void kc__pod_plan_event(kc__pod_action_plan *plan, size_t container, bool warning,
                        const char *event, const char *fmt, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    kc_vec_push(&plan->actions, (kc__pod_action){.act = KC__POD_ACT_EVENT,
                                                 .container = container,
                                                 .warning = warning,
                                                 .event = event,
                                                 .message = kc_strdup(kc_buf_cstr(&text))});
}

void kc__pod_plan_wake_at(kc__pod_action_plan *plan, kc_time at)
{
    plan->next = KC_MIN(plan->next, at);
}

/* ---- starts and restarts ---- */

static bool backoff_expired(const kc__pod_container_state *c, kc_time ended)
{
    return ended - c->backoff_at > 2 * BACKOFF_MOST;
}

/* "10s", "1m20s": as Go prints it. */
static void record_backoff(const kc_pod *pod, kc__pod_record *state, size_t i,
                           kc__pod_action_plan *plan)
{
    kc__pod_container_state *c = &state->containers[i];
    const char *name = kc__pod_container(pod, i)->name;
    kc_scoped(kc_buf) length = {0};
    kc_duration_write(&length, c->backoff);
    c->waiting = "CrashLoopBackOff";
    free(c->waiting_message);
    c->waiting_message =
        kc_asprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
                    kc_buf_cstr(&length), name, state->name, state->ns, state->uid);
    kc__pod_plan_event(plan, i, true, "BackOff",
                       "Back-off restarting failed container %s in pod %s_%s(%s)", name,
                       state->name, state->ns, state->uid);
}

/* True while the back-off of a container that exited is not over. */
static bool backs_off(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now,
                      kc__pod_action_plan *plan)
{
    kc__pod_container_state *c = &state->containers[i];
    const kc_time ended = c->now.ended;
    if (c->backoff && !backoff_expired(c, ended) && now - ended < c->backoff) {
        if (!c->waiting)
            record_backoff(pod, state, i, plan);
        kc__pod_plan_wake_at(plan, ended + c->backoff);
        return true;
    }
    if (!c->backoff || backoff_expired(c, ended))
        c->backoff = BACKOFF_FIRST;
    else
        c->backoff = KC_MIN(2 * c->backoff, BACKOFF_MOST);
    c->backoff_at = now;
    return false;
}

/* A failed start is retried later and does not count as an attempt. */
static void pod_plan_start(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now,
                           kc__pod_action_plan *plan)
{
    kc__pod_container_state *c = &state->containers[i];
    const bool tried = c->retry_at > 0;
    if (kc__pod_container_is_alive(c))
        return;
    if (now < c->retry_at) {
        kc__pod_plan_wake_at(plan, c->retry_at);
        return;
    }
    if (!tried && c->now.phase == KC__POD_CONTAINER_ENDED && backs_off(pod, state, i, now, plan))
        return;
    kc__pod_plan_add(plan, KC__POD_ACT_START, i, c->now.number + 1);
}

/* ---- running containers ---- */

static int64_t grace_of(const kc_pod *pod, const kc_probe *probe)
{
    if (probe && probe->termination_grace_period_seconds)
        return *probe->termination_grace_period_seconds;
    return pod->spec.termination_grace_period_seconds ? *pod->spec.termination_grace_period_seconds
                                                      : 2;
}

static bool pod_plan_failed(const kc__pod_container_state *c, kc__pod_probe_type type)
{
    return c->probes[type].has_value && !c->probes[type].value;
}

static bool image_changed(const kc__pod_container_state *c, const kc_container *spec)
{
    return c->image && strcmp(c->image, spec->image ? spec->image : "") != 0;
}

/* Kills a container for a reason; adds "will be restarted" if so. */
static void pod_plan_give_up(const kc_pod *pod, kc__pod_record *state, size_t i, const char *why,
                             const kc_probe *probe, kc_time now, kc__pod_action_plan *plan)
{
    const kc_container *spec = kc__pod_container(pod, i);
    const bool init = i < state->n_init;
    const bool restarts = !init && (!probe || kc__pod_restarts(pod, 1));
    kc_autofree char *text = kc_asprintf("%s %s %s%s", init ? "Init container" : "Container",
                                         spec->name, why, restarts ? ", will be restarted" : "");
    kc__pod_plan_stop(pod, state, i, grace_of(pod, probe), text, now, plan);
}

static void watch_over(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now,
                       kc__pod_action_plan *plan)
{
    kc__pod_container_state *c = &state->containers[i];
    const kc_container *spec = kc__pod_container(pod, i);
    if (c->now.phase != KC__POD_CONTAINER_RUNNING || c->stop != KC__POD_STOP_NONE ||
        (i < state->n_init && !kc__common_is_sidecar(spec)))
        return;
    if (image_changed(c, spec))
        pod_plan_give_up(pod, state, i, "definition changed", NULL, now, plan);
    else if (pod_plan_failed(c, KC__POD_PROBE_LIVENESS))
        pod_plan_give_up(pod, state, i, "failed liveness probe", spec->liveness_probe, now, plan);
    else if (pod_plan_failed(c, KC__POD_PROBE_STARTUP))
        pod_plan_give_up(pod, state, i, "failed startup probe", spec->startup_probe, now, plan);
    else if (c->post_start == KC__POD_HOOK_FAILED)
        kc__pod_plan_stop(pod, state, i, grace_of(pod, NULL), "FailedPostStartHook", now, plan);
    else if (spec->lifecycle && spec->lifecycle->post_start && c->post_start == KC__POD_HOOK_NONE) {
        c->post_start = KC__POD_HOOK_RUNNING;
        kc__pod_plan_add(plan, KC__POD_ACT_POST_START, i, c->now.number);
    } else
        kc__pod_plan_probes(pod, state, i, now, plan);
}

/* ---- init containers ---- */

static bool has_initialized(const kc__pod_record *state)
{
    for (size_t i = state->n_init; i < state->n; i++)
        if (state->containers[i].now.number >= 0)
            return true;
    return false;
}

/* One init container: true if the next one may start. `*doomed`: it failed permanently. */
static bool init_one(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now,
                     kc__pod_action_plan *plan, bool *failed_for_good)
{
    kc__pod_container_state *c = &state->containers[i];
    const kc_container *spec = kc__pod_container(pod, i);
    if (kc__common_is_sidecar(spec)) {
        pod_plan_start(pod, state, i, now, plan);
        return kc__pod_container_is_started(c, spec);
    }
    if (c->now.phase == KC__POD_CONTAINER_ENDED && c->now.exit_code == 0)
        return true;
    *failed_for_good =
        c->now.phase == KC__POD_CONTAINER_ENDED && !kc__pod_restarts(pod, c->now.exit_code);
    if (!*failed_for_good)
        pod_plan_start(pod, state, i, now, plan);
    return false;
}

static bool initialize(const kc_pod *pod, kc__pod_record *state, kc_time now,
                       kc__pod_action_plan *plan, bool *failed_for_good)
{
    for (size_t i = 0; i < state->n_init; i++)
        if (!init_one(pod, state, i, now, plan, failed_for_good))
            return false;
    return true;
}

/* ---- containers ---- */

static bool is_done(const kc_pod *pod, const kc__pod_container_state *c)
{
    return c->now.phase == KC__POD_CONTAINER_ENDED && !kc__pod_restarts(pod, c->now.exit_code);
}

static bool all_done(const kc_pod *pod, const kc__pod_record *state)
{
    for (size_t i = state->n_init; i < state->n; i++)
        if (!is_done(pod, &state->containers[i]))
            return false;
    return true;
}

static void run_containers(const kc_pod *pod, kc__pod_record *state, kc_time now,
                           kc__pod_action_plan *plan)
{
    for (size_t i = 0; i < state->n; i++) {
        kc__pod_container_state *c = &state->containers[i];
        const bool init = i < state->n_init;
        if (init ? kc__common_is_sidecar(kc__pod_container(pod, i)) : !is_done(pod, c))
            pod_plan_start(pod, state, i, now, plan);
    }
}

/* ---- plan ---- */

static bool is_too_old(const kc_pod *pod, const kc__pod_record *state, kc_time now,
                       kc__pod_action_plan *plan)
{
    const int64_t *seconds = pod->spec.active_deadline_seconds;
    if (!seconds || !state->start_time)
        return false;
    const kc_time end = state->start_time + *seconds * KC_SECOND;
    if (now < end)
        kc__pod_plan_wake_at(plan, end);
    return now >= end;
}

/* The pod must stop: deleted, failed by the runner, or in a terminal phase. */
static bool is_ending(const kc_pod *pod, kc__pod_record *state, kc_time now,
                      kc__pod_action_plan *plan)
{
    if (pod->metadata.deletion_timestamp.at || state->failed ||
        kc__pod_phase_is_terminal(pod->status.phase))
        return true;
    if (!is_too_old(pod, state, now, plan))
        return false;
    state->failed = "DeadlineExceeded";
    state->failed_message =
        kc_strdup("Pod was active on the node longer than the specified deadline");
    kc__pod_plan_event(plan, SIZE_MAX, false, "DeadlineExceeded", "%s", state->failed_message);
    return true;
}

/* Local storage is measured while a container runs, first one period after the start. */
static void plan_measure(kc__pod_record *state, kc_time now, kc__pod_action_plan *plan)
{
    if (!state->measures || state->measuring || !kc__pod_is_alive(state))
        return;
    if (!state->measured)
        state->measured = now;
    if (now < state->measured + MEASURE_EVERY) {
        kc__pod_plan_wake_at(plan, state->measured + MEASURE_EVERY);
        return;
    }
    state->measuring = true;
    state->measured = now;
    kc__pod_plan_add(plan, KC__POD_ACT_MEASURE, 0, 0);
}

void kc__pod_plan_make(const kc_pod *pod, kc__pod_record *state, kc_time now,
                       kc__pod_action_plan *plan)
{
    bool failed_for_good = false;
    plan->next = KC_FOREVER;
    kc__pod_record_wake_hooks(state, now);
    const bool ending = is_ending(pod, state, now, plan);
    if (!ending && state->prepared) {
        if (has_initialized(state) || initialize(pod, state, now, plan, &failed_for_good)) {
            if (all_done(pod, state))
                failed_for_good = true;
            else
                run_containers(pod, state, now, plan);
        }
        for (size_t i = 0; i < state->n && !failed_for_good; i++)
            watch_over(pod, state, i, now, plan);
        plan_measure(state, now, plan);
    }
    if (ending || failed_for_good)
        kc__pod_plan_stop_all(pod, state, now, plan);
    kc__pod_plan_stopping(pod, state, now, plan);
    for (size_t i = 0; i < state->n; i++)
        if (state->containers[i].hook_until)
            kc__pod_plan_wake_at(plan, state->containers[i].hook_until);
    plan->over = (ending || failed_for_good) && !kc__pod_is_alive(state);
}
