/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_stop.c: how a container ends: its preStop hook, its turn, SIGTERM, and, when its grace is
 * over, SIGKILL.
 *
 * The grace is one for all of it: what the hook takes is not left for the rest; but two seconds
 * always are between SIGTERM and SIGKILL. Sidecars run until the containers have ended, and end in
 * the reverse order of their start; a hook does not wait for a turn.
 */
#include "pods/pod_record.h"

#define LEAST_GRACE (2 * KC_SECOND)

static const kc_lifecycle_handler *pre_stop(const kc_container *spec)
{
    return spec->lifecycle ? spec->lifecycle->pre_stop : NULL;
}

void kc__plan_stop(const kc_pod *pod, kc__pod_record *state, size_t i, int64_t grace_seconds,
                   const char *why, kc_time now, kc__plan *plan)
{
    kc__container_state *c = &state->containers[i];
    const kc_container *spec = kc__pod_container(pod, i);
    if (!kc__container_is_alive(c) || c->stop != KC__STOP_NOT)
        return;
    c->stop = KC__STOP_TURN;
    c->stop_grace = (int)KC_MIN(grace_seconds, INT32_MAX);
    c->stop_until = now + c->stop_grace * KC_SECOND;
    if (why)
        kc__plan_say(plan, i, false, "Killing", "%s", why);
    else
        kc__plan_say(plan, i, false, "Killing", "Stopping container %s", spec->name);
    if (!pre_stop(spec) || grace_seconds <= 0 || c->now.phase != KC__CONTAINER_RUNNING)
        return;
    c->stop = KC__STOP_HOOK;
    c->pre_stop = KC__HOOK_RUNS;
    kc__plan_add(plan, KC__ACT_PRE_STOP, i, c->now.number);
    kc__plan_look(plan, c->stop_until);
}

/* Somebody asked for less grace than before. */
static void shorten(kc__container_state *c, int64_t grace_seconds, kc_time now)
{
    if (c->stop == KC__STOP_NOT || grace_seconds >= c->stop_grace)
        return;
    c->stop_grace = (int)grace_seconds;
    c->stop_until = KC_MIN(c->stop_until, now + KC_MAX(grace_seconds * KC_SECOND, LEAST_GRACE));
}

void kc__plan_stop_all(const kc_pod *pod, kc__pod_record *state, kc_time now, kc__plan *plan)
{
    const int64_t *grace = pod->metadata.deletion_grace_period_seconds;
    grace = grace ? grace : pod->spec.termination_grace_period_seconds;
    const int64_t seconds = grace ? *grace : 2;
    for (size_t i = 0; i < state->n; i++) {
        shorten(&state->containers[i], seconds, now);
        kc__plan_stop(pod, state, i, seconds, NULL, now, plan);
    }
}

/* A sidecar's turn comes when no container and no later sidecar runs any more. */
static bool has_turn(const kc_pod *pod, const kc__pod_record *state, size_t i)
{
    if (i >= state->n_init || !kc__is_sidecar(kc__pod_container(pod, i)))
        return true;
    for (size_t j = i + 1; j < state->n; j++)
        if (kc__container_is_alive(&state->containers[j]) &&
            state->containers[j].stop != KC__STOP_NOT)
            return false;
    return true;
}

/* One container, as far as it comes now. */
static void go_on(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now, kc__plan *plan)
{
    kc__container_state *c = &state->containers[i];
    const bool late = now >= c->stop_until;
    if (c->stop == KC__STOP_HOOK && (c->pre_stop != KC__HOOK_RUNS || late))
        c->stop = KC__STOP_TURN;
    if (c->stop == KC__STOP_TURN && (late || has_turn(pod, state, i))) {
        c->stop = KC__STOP_ASKED;
        c->stop_until = KC_MAX(c->stop_until, now + LEAST_GRACE);
        kc__plan_add(plan, KC__ACT_STOP, i, c->now.number);
    } else if (c->stop == KC__STOP_ASKED && late) {
        c->stop = KC__STOP_FORCED;
        kc__plan_add(plan, KC__ACT_FORCE, i, c->now.number);
    }
    if (c->stop != KC__STOP_FORCED)
        kc__plan_look(plan, c->stop_until);
}

void kc__plan_stopping(const kc_pod *pod, kc__pod_record *state, kc_time now, kc__plan *plan)
{
    for (size_t i = 0; i < state->n; i++)
        if (state->containers[i].stop != KC__STOP_NOT &&
            kc__container_is_alive(&state->containers[i]))
            go_on(pod, state, i, now, plan);
}
