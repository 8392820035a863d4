/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_stop.c: stops a container: its preStop hook, its turn, SIGTERM, and SIGKILL when the grace
 * period is over.
 *
 * The grace period covers all of it: the time of the hook is not available to the rest, but there
 * are always two seconds between SIGTERM and SIGKILL. Sidecars run until the containers have
 * exited, and stop in reverse order of their start; a hook does not wait for a turn.
 */
#include "pods/pod_record.h"

#define LEAST_GRACE   (2 * KC_SECOND)
#define EVICTED_GRACE 1 /* One second: a pod that fills the disk gets no grace period. */

static const kc_lifecycle_handler *pre_stop(const kc_container *spec)
{
    return spec->lifecycle ? spec->lifecycle->pre_stop : NULL;
}

void kc__pod_plan_stop(const kc_pod *pod, kc__pod_record *state, size_t i, int64_t grace_seconds,
                       const char *why, kc_time now, kc__pod_action_plan *plan)
{
    kc__pod_container_state *c = &state->containers[i];
    const kc_container *spec = kc__pod_container(pod, i);
    if (!kc__pod_container_is_alive(c) || c->stop != KC__POD_STOP_NONE)
        return;
    c->stop = KC__POD_STOP_TURN;
    c->stop_grace = (int)KC_MIN(grace_seconds, INT32_MAX);
    c->stop_until = now + c->stop_grace * KC_SECOND;
    if (why)
        kc__pod_plan_event(plan, i, false, "Killing", "%s", why);
    else
        kc__pod_plan_event(plan, i, false, "Killing", "Stopping container %s", spec->name);
    if (!pre_stop(spec) || grace_seconds <= 0 || c->now.phase != KC__POD_CONTAINER_RUNNING)
        return;
    c->stop = KC__POD_STOP_HOOK;
    c->pre_stop = KC__POD_HOOK_RUNNING;
    kc__pod_plan_add(plan, KC__POD_ACT_PRE_STOP, i, c->now.number);
    kc__pod_plan_wake_at(plan, c->stop_until);
}

/* A shorter grace period was requested. */
static void shorten(kc__pod_container_state *c, int64_t grace_seconds, kc_time now)
{
    if (c->stop == KC__POD_STOP_NONE || grace_seconds >= c->stop_grace)
        return;
    c->stop_grace = (int)grace_seconds;
    c->stop_until = KC_MIN(c->stop_until, now + KC_MAX(grace_seconds * KC_SECOND, LEAST_GRACE));
}

void kc__pod_plan_stop_all(const kc_pod *pod, kc__pod_record *state, kc_time now,
                           kc__pod_action_plan *plan)
{
    const int64_t *grace = pod->metadata.deletion_grace_period_seconds;
    grace = grace ? grace : pod->spec.termination_grace_period_seconds;
    const bool evicted = state->failed && !strcmp(state->failed, "Evicted");
    const int64_t seconds = evicted ? EVICTED_GRACE : grace ? *grace : 2;
    for (size_t i = 0; i < state->n; i++) {
        shorten(&state->containers[i], seconds, now);
        kc__pod_plan_stop(pod, state, i, seconds, NULL, now, plan);
    }
}

/* A sidecar's turn comes when no container and no later sidecar runs. */
static bool has_turn(const kc_pod *pod, const kc__pod_record *state, size_t i)
{
    if (i >= state->n_init || !kc__common_is_sidecar(kc__pod_container(pod, i)))
        return true;
    for (size_t j = i + 1; j < state->n; j++)
        if (kc__pod_container_is_alive(&state->containers[j]) &&
            state->containers[j].stop != KC__POD_STOP_NONE)
            return false;
    return true;
}

/* Advances one container as far as possible now. */
static void pod_stop_go_on(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now,
                           kc__pod_action_plan *plan)
{
    kc__pod_container_state *c = &state->containers[i];
    const bool late = now >= c->stop_until;
    if (c->stop == KC__POD_STOP_HOOK && (c->pre_stop != KC__POD_HOOK_RUNNING || late))
        c->stop = KC__POD_STOP_TURN;
    if (c->stop == KC__POD_STOP_TURN && (late || has_turn(pod, state, i))) {
        c->stop = KC__POD_STOP_TERM_SENT;
        c->stop_until = KC_MAX(c->stop_until, now + LEAST_GRACE);
        kc__pod_plan_add(plan, KC__POD_ACT_STOP, i, c->now.number);
    } else if (c->stop == KC__POD_STOP_TERM_SENT && late) {
        c->stop = KC__POD_STOP_FORCED;
        kc__pod_plan_add(plan, KC__POD_ACT_FORCE, i, c->now.number);
    }
    if (c->stop != KC__POD_STOP_FORCED)
        kc__pod_plan_wake_at(plan, c->stop_until);
}

void kc__pod_plan_stopping(const kc_pod *pod, kc__pod_record *state, kc_time now,
                           kc__pod_action_plan *plan)
{
    for (size_t i = 0; i < state->n; i++)
        if (state->containers[i].stop != KC__POD_STOP_NONE &&
            kc__pod_container_is_alive(&state->containers[i]))
            pod_stop_go_on(pod, state, i, now, plan);
}
