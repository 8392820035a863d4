/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_status.c: builds a pod's status from its record.
 *
 * Every pod sync builds it from the record and the times in the previous status; the caller writes
 * it if it differs. It is never patched: the next pod sync restores a status that another client
 * has changed. A terminal phase never changes.
 */
#include "pods/pod_record.h"

/* ---- containers ---- */

static char *container_id(const kc__pod_record *state, const char *runtime, const char *name,
                          int attempt, kc_arena *arena)
{
    return kc_arena_printf(arena, "%s://%s_%s_%d", runtime, state->uid, name, attempt);
}

static const char *pod_status_reason_of(const kc__pod_attempt *a)
{
    return a->reason ? a->reason : a->exit_code ? "Error" : "Completed";
}

static kc_container_terminated *terminated(const kc__pod_attempt *a, char *id, kc_arena *arena)
{
    kc_container_terminated *t = kc_arena_new(arena, kc_container_terminated);
    *t = (kc_container_terminated){
        .exit_code = a->exit_code,
        .signal = a->signal,
        .reason = (char *)pod_status_reason_of(a),
        .message = a->message,
        .started_at.at = kc__pod_whole_seconds(a->started),
        .finished_at.at = kc__pod_whole_seconds(a->ended),
        .container_id = id,
    };
    return t;
}

static kc_container_waiting *waiting(const char *reason, const char *message, kc_arena *arena)
{
    kc_container_waiting *w = kc_arena_new(arena, kc_container_waiting);
    *w = (kc_container_waiting){.reason = (char *)reason, .message = (char *)message};
    return w;
}

static kc_container_running *running(kc_time started, kc_arena *arena)
{
    kc_container_running *r = kc_arena_new(arena, kc_container_running);
    r->started_at.at = kc__pod_whole_seconds(started);
    return r;
}

/* A container in back-off, or whose start failed, is waiting; its exit is its last state. */
static void pod_status_state_of(const kc__pod_record *state, const kc__pod_container_state *c,
                                const char *runtime, kc_arena *arena, kc_container_status *s)
{
    if (c->last.phase == KC__POD_CONTAINER_ENDED)
        s->last_state.terminated = terminated(
            &c->last, container_id(state, runtime, s->name, c->last.number, arena), arena);
    if (c->now.phase != KC__POD_CONTAINER_NONE)
        s->container_id = container_id(state, runtime, s->name, c->now.number, arena);
    if (c->now.phase == KC__POD_CONTAINER_RUNNING)
        s->state.running = running(c->now.started, arena);
    else if (c->now.phase == KC__POD_CONTAINER_ENDED && !c->waiting)
        s->state.terminated = terminated(&c->now, s->container_id, arena);
    else if (c->waiting) {
        if (c->now.phase == KC__POD_CONTAINER_ENDED)
            s->last_state.terminated = terminated(&c->now, s->container_id, arena);
        s->state.waiting = waiting(c->waiting, c->waiting_message, arena);
    } else
        s->state.waiting =
            waiting(state->n_init ? "PodInitializing" : "ContainerCreating", NULL, arena);
}

static void container_status(const kc_pod *pod, const kc__pod_record *state, size_t i,
                             const char *runtime, kc_arena *arena, kc_container_status *s)
{
    const kc__pod_container_state *c = &state->containers[i];
    const kc_container *spec = kc__pod_container(pod, i);
    bool *started = kc_arena_new(arena, bool);
    *started = kc__pod_container_is_started(c, spec);
    s->name = spec->name;
    s->image = c->image ? c->image : spec->image;
    s->image_id = c->now.phase == KC__POD_CONTAINER_NONE ? (char *)"" : s->image;
    s->restart_count = KC_MAX(c->now.number, 0);
    s->started = started;
    pod_status_state_of(state, c, runtime, arena, s);
    if (i < state->n_init && !kc__common_is_sidecar(spec))
        s->ready = s->state.terminated && s->state.terminated->exit_code == 0;
    else
        s->ready = kc__pod_container_is_ready(c, spec);
}

static int pod_status_by_name(const void *a, const void *b)
{
    const kc_container_status *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void containers(const kc_pod *pod, const kc__pod_record *state, const char *runtime,
                       kc_arena *arena, kc_pod_status *ret)
{
    const size_t n_init = state->n_init, n = state->n - n_init;
    kc_container_status *all = kc_arena_calloc(arena, state->n, sizeof(*all));
    for (size_t i = 0; i < state->n; i++)
        container_status(pod, state, i, runtime, arena, &all[i]);
    if (n > 1)
        qsort(all + n_init, n, sizeof(*all), pod_status_by_name);
    ret->init_container_statuses = all;
    ret->n_init_container_statuses = n_init;
    ret->container_statuses = all + n_init;
    ret->n_container_statuses = n;
}

/* ---- the phase ---- */

typedef struct pod_status_tally {
    int pending_init, failed_init, pending_sidecars, waiting, running, stopped, succeeded,
        restarting;
} pod_status_tally;

static const kc_container_terminated *how_it_ended(const kc_container_status *s)
{
    return s->state.terminated ? s->state.terminated : s->last_state.terminated;
}

static void count_init(const kc_pod *pod, const kc_container_status *s, pod_status_tally *t)
{
    const kc_container_terminated *end = how_it_ended(s);
    if (s->state.running || !end)
        t->pending_init++;
    else if (end->exit_code && !kc__pod_restarts(pod, end->exit_code))
        t->failed_init++;
}

static void count_sidecar(const kc_container_status *s, pod_status_tally *t)
{
    if (s->state.running) {
        t->running++;
        t->pending_sidecars += !*s->started;
    } else if (!how_it_ended(s)) {
        t->waiting++;
        t->pending_sidecars++;
    }
}

static void count_container(const kc_pod *pod, const kc_container_status *s, pod_status_tally *t)
{
    const kc_container_terminated *end = how_it_ended(s);
    if (s->state.running)
        t->running++;
    else if (!end)
        t->waiting++;
    else {
        t->stopped++;
        t->succeeded += s->state.terminated && !end->exit_code;
        t->restarting += kc__pod_restarts(pod, end->exit_code);
    }
}

static const char *pod_status_phase_of(const kc_pod *pod, const kc__pod_record *state,
                                       const kc_pod_status *s, bool over)
{
    pod_status_tally t = {0};
    bool initialized = false;
    for (size_t i = 0; i < s->n_init_container_statuses; i++)
        if (kc__common_is_sidecar(kc__pod_container(pod, i)))
            count_sidecar(&s->init_container_statuses[i], &t);
        else
            count_init(pod, &s->init_container_statuses[i], &t);
    for (size_t i = 0; i < s->n_container_statuses; i++)
        count_container(pod, &s->container_statuses[i], &t);
    for (size_t i = state->n_init; i < state->n; i++)
        initialized = initialized || state->containers[i].now.number >= 0;
    if (t.failed_init)
        return "Failed";
    if ((t.pending_init && !initialized) || (t.pending_sidecars && !initialized) || t.waiting)
        return over ? "Failed" : "Pending";
    if (t.running)
        return "Running";
    if (!over && t.restarting)
        return "Running";
    return t.stopped == t.succeeded ? "Succeeded" : "Failed";
}

/* ---- status ---- */

static void addresses(const kc_pod *pod, const kc__pod_record *state,
                      const kc__pod_host_info *place, kc_arena *arena, kc_pod_status *ret)
{
    kc_ip_entry *entries = kc_arena_calloc(arena, 2, sizeof(*entries));
    ret->host_ip = entries[0].ip = (char *)place->host_ip;
    ret->host_ips = entries;
    ret->n_host_ips = 1;
    if (!*state->ip || (!state->prepared && !pod->status.pod_ip)) /* Not before the pod is
                                                                   * prepared. */
        return;
    ret->pod_ip = entries[1].ip = (char *)state->ip;
    ret->pod_ips = entries + 1;
    ret->n_pod_ips = 1;
}

static void pod_status_set_phase(const kc_pod *pod, const kc__pod_record *state, bool over,
                                 kc_pod_status *ret)
{
    const char *was = pod->status.phase;
    const char *phase = pod_status_phase_of(pod, state, ret, over);
    if (state->failed)
        phase = "Failed";
    if (kc__pod_phase_is_terminal(was))
        phase = was;
    ret->phase = (char *)phase;
    if (state->failed && !kc__pod_phase_is_terminal(was)) {
        ret->reason = (char *)state->failed;
        ret->message = state->failed_message;
    } else if (!was || strcmp(was, phase) != 0)
        ret->reason = ret->message = NULL;
}

void kc__pod_status_make(const kc_pod *pod, const kc__pod_record *state,
                         const kc__pod_host_info *place, kc_time now, bool over, kc_arena *arena,
                         kc_pod_status *ret)
{
    *ret = pod->status;
    if (!place->no_generations)
        ret->observed_generation = pod->metadata.generation;
    if (!state->admitted && state->failed) { /* No container of the pod has ever run here. */
        pod_status_set_phase(pod, state, over, ret);
        return;
    }
    ret->start_time.at = kc__pod_whole_seconds(state->start_time);
    containers(pod, state, place->runtime, arena, ret);
    pod_status_set_phase(pod, state, over, ret);
    addresses(pod, state, place, arena, ret);
    kc__pod_conditions_make(pod, state, place, now, arena, ret);
}
