/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_record.c: what the runner remembers of a pod.
 *
 * A state is made when a pod is first seen and lives until the pod is gone from the server. It can
 * always be made again: what matters beyond this process is in the pod's status (restart counts,
 * how the last attempt ended) and with the runtime (what runs), and kc__pod_record_resume puts the
 * two together. Lost with a process are only back-off times and the counts of probes.
 */
#include "pods/pod_record.h"

#include <stdio.h>

/* ---- life ---- */

static void attempt_done(kc__attempt *attempt)
{
    free(attempt->reason);
    free(attempt->message);
    *attempt = (kc__attempt){.number = -1};
}

kc__pod_record *kc__pod_record_new(const kc_pod *pod)
{
    kc__pod_record *state = kc_new(kc__pod_record);
    state->uid = kc_strdup(pod->metadata.uid);
    state->ns = kc_strdup(pod->metadata.ns);
    state->name = kc_strdup(pod->metadata.name);
    state->key = kc_asprintf("%s/%s", state->ns, state->name);
    state->n_init = pod->spec.n_init_containers;
    state->n = state->n_init + pod->spec.n_containers;
    state->containers = kc_calloc(state->n, sizeof(*state->containers));
    for (size_t i = 0; i < state->n; i++)
        state->containers[i].now.number = state->containers[i].last.number = -1;
    return state;
}

kc__pod_record *kc__pod_record_free(kc__pod_record *state)
{
    if (!state)
        return NULL;
    for (size_t i = 0; i < state->n; i++) {
        attempt_done(&state->containers[i].now);
        attempt_done(&state->containers[i].last);
        free(state->containers[i].image);
        free(state->containers[i].waiting_message);
    }
    free(state->containers);
    free(state->uid);
    free(state->ns);
    free(state->name);
    free(state->key);
    free(state->failed_message);
    kc_map_done(&state->sources);
    kc_vec_each (&state->inbox, result)
        free(result->message);
    kc_vec_done(&state->inbox);
    free(state);
    return NULL;
}

/* ---- looking ---- */

static char *text_or_null(const char *text)
{
    return text && *text ? kc_strdup(text) : NULL;
}

static void keep_report(kc__attempt *attempt, const kc__container_report *report)
{
    attempt_done(attempt);
    *attempt = (kc__attempt){
        .phase = report->phase,
        .number = report->attempt,
        .started = report->started,
        .ended = report->ended,
        .exit_code = report->exit_code,
        .signal = report->signal,
        .reason = text_or_null(report->reason),
        .message = text_or_null(report->message),
    };
}

/* `report` is large: one for all containers of a look. */
static void observe_one(kc__pod_record *state, const kc_pod *pod, size_t i, kc__runtime *runtime,
                        kc__container_report *report)
{
    kc__attempt *now = &state->containers[i].now;
    const kc__container_id id = {kc_cstr(state->uid), kc_cstr(kc__pod_container(pod, i)->name),
                                 now->number};
    if (now->number < 0 || now->phase == KC__CONTAINER_ENDED)
        return;
    *report = (kc__container_report){.attempt = -1};
    runtime->ops->observe(runtime, id, report);
    if (report->phase != now->phase || report->attempt < 0)
        keep_report(now, report);
}

/* A container the runtime no longer knows has ended, nobody saw how. */
static void note_lost(kc__attempt *now, int attempt, kc_time started)
{
    attempt_done(now);
    *now = (kc__attempt){
        .phase = KC__CONTAINER_ENDED,
        .number = attempt,
        .started = started,
        .exit_code = 137,
        .reason = kc_strdup("ContainerStatusUnknown"),
        .message = kc_strdup("The container could not be located when the pod was deleted.  The "
                             "container used to be Running"),
    };
}

void kc__pod_record_observe(kc__pod_record *state, const kc_pod *pod, kc__runtime *runtime)
{
    kc__container_report report;
    for (size_t i = 0; i < state->n; i++) {
        kc__attempt *now = &state->containers[i].now;
        const int attempt = now->number;
        const kc_time started = now->started;
        observe_one(state, pod, i, runtime, &report);
        if (attempt >= 0 && now->number < 0)
            note_lost(now, attempt, started);
    }
}

/* ---- taking up ---- */

static const kc_container_status *status_of(const kc_pod *pod, const char *name)
{
    const kc_pod_status *s = &pod->status;
    for (size_t i = 0; i < s->n_init_container_statuses; i++)
        if (!strcmp(s->init_container_statuses[i].name, name))
            return &s->init_container_statuses[i];
    for (size_t i = 0; i < s->n_container_statuses; i++)
        if (!strcmp(s->container_statuses[i].name, name))
            return &s->container_statuses[i];
    return NULL;
}

static void keep_terminated(kc__attempt *attempt, const kc_container_terminated *t, int number)
{
    attempt_done(attempt);
    *attempt = (kc__attempt){
        .phase = KC__CONTAINER_ENDED,
        .number = number,
        .started = t->started_at.at,
        .ended = t->finished_at.at,
        .exit_code = t->exit_code,
        .signal = t->signal,
        .reason = text_or_null(t->reason),
        .message = text_or_null(t->message),
    };
}

/* What the status says, where the runtime knows nothing. */
static void resume_from_status(kc__container_state *c, const kc_pod *pod, const kc_container *spec,
                               const kc_container_status *was, kc__runtime *runtime)
{
    const int count = was->restart_count;
    if (was->state.running && runtime->ops->resume) {
        runtime->ops->resume(runtime, pod, spec, count, was->state.running->started_at.at);
        c->now.number = count;
    } else if (was->state.running)
        note_lost(&c->now, count, was->state.running->started_at.at);
    else if (was->state.terminated)
        keep_terminated(&c->now, was->state.terminated, count);
    else if (was->last_state.terminated)
        keep_terminated(&c->now, was->last_state.terminated, count);
    if (c->now.number > 0 && was->last_state.terminated && !was->state.waiting)
        keep_terminated(&c->last, was->last_state.terminated, count - 1);
}

/* Hooks have run and probes have said something before: they are not asked to do so again before
 * anybody believes it. */
static void resume_verdicts(kc__container_state *c, const kc_container_status *was)
{
    const bool same = was && was->state.running && was->restart_count == c->now.number;
    if (!same || c->now.phase == KC__CONTAINER_ENDED)
        return;
    const bool started = was->started && *was->started;
    c->post_start = KC__HOOK_OK;
    c->probes[KC__PROBE_STARTUP] =
        (kc__probe_state){.has_value = started, .value = started, .held = started};
    c->probes[KC__PROBE_READINESS] =
        (kc__probe_state){.has_value = was->ready, .value = was->ready};
}

static void resume_one(kc__pod_record *state, const kc_pod *pod, size_t i, kc__runtime *runtime,
                       kc__container_report *report)
{
    kc__container_state *c = &state->containers[i];
    const kc_container *spec = kc__pod_container(pod, i);
    const kc_container_status *was = status_of(pod, spec->name);
    kc__container_id id = {kc_cstr(state->uid), kc_cstr(spec->name), KC__LATEST};
    *report = (kc__container_report){.attempt = -1};
    runtime->ops->observe(runtime, id, report);
    if (report->attempt >= 0) {
        keep_report(&c->now, report);
        id.attempt = report->attempt - 1;
        *report = (kc__container_report){.attempt = -1};
        if (id.attempt >= 0)
            runtime->ops->observe(runtime, id, report);
        if (report->phase == KC__CONTAINER_ENDED)
            keep_report(&c->last, report);
        else if (was && was->last_state.terminated)
            keep_terminated(&c->last, was->last_state.terminated, id.attempt);
    } else if (was)
        resume_from_status(c, pod, spec, was, runtime);
    const char *image = was && was->container_id && *was->container_id ? was->image : spec->image;
    if (c->now.number >= 0)
        c->image = kc_strdup(image ? image : "");
    resume_verdicts(c, was);
}

void kc__pod_record_resume(kc__pod_record *state, const kc_pod *pod, kc__runtime *runtime)
{
    kc__container_report report;
    state->start_time = pod->status.start_time.at;
    if (pod->status.pod_ip)
        snprintf(state->ip, sizeof(state->ip), "%s", pod->status.pod_ip);
    for (size_t i = 0; i < state->n; i++) {
        resume_one(state, pod, i, runtime, &report);
        state->prepared = state->prepared || state->containers[i].now.number >= 0;
    }
}

/* ---- what was done ---- */

void kc__pod_record_started(kc__pod_record *state, const kc_pod *pod, size_t i, int attempt)
{
    kc__container_state *c = &state->containers[i];
    attempt_done(&c->last);
    c->last = c->now;
    c->now = (kc__attempt){.number = attempt};
    free(c->image);
    const char *image = kc__pod_container(pod, i)->image;
    c->image = kc_strdup(image ? image : "");
    memset(c->probes, 0, sizeof(c->probes));
    c->post_start = c->pre_stop = KC__HOOK_NONE;
    c->hook_until = 0;
    c->stop = KC__STOP_NOT;
    c->waiting = NULL;
    free(kc_take(c->waiting_message));
    c->retry_at = 0;
}

void kc__pod_record_not_started(kc__pod_record *state, size_t i, const char *reason,
                                const char *message, kc_time retry_at)
{
    kc__container_state *c = &state->containers[i];
    c->waiting = reason;
    free(c->waiting_message);
    c->waiting_message = kc_strdup(message);
    c->retry_at = retry_at;
}

void kc__pod_record_wake_hooks(kc__pod_record *state, kc_time now)
{
    for (size_t i = 0; i < state->n; i++) {
        kc__container_state *c = &state->containers[i];
        if (!c->hook_until || now < c->hook_until)
            continue;
        c->hook_until = 0;
        if (c->post_start == KC__HOOK_RUNS)
            c->post_start = KC__HOOK_OK;
        if (c->pre_stop == KC__HOOK_RUNS)
            c->pre_stop = KC__HOOK_OK;
    }
}

/* ---- asking ---- */

const kc_container *kc__pod_container(const kc_pod *pod, size_t i)
{
    const size_t n_init = pod->spec.n_init_containers;
    return i < n_init ? &pod->spec.init_containers[i] : &pod->spec.containers[i - n_init];
}

const kc_probe *kc__container_probe(const kc_container *container, kc__probe_type type)
{
    return type == KC__PROBE_STARTUP    ? container->startup_probe
           : type == KC__PROBE_LIVENESS ? container->liveness_probe
                                        : container->readiness_probe;
}

static bool has_post_start(const kc_container *spec)
{
    return spec->lifecycle && spec->lifecycle->post_start;
}

bool kc__container_is_started(const kc__container_state *c, const kc_container *spec)
{
    const kc__probe_state *startup = &c->probes[KC__PROBE_STARTUP];
    if (c->now.phase != KC__CONTAINER_RUNNING)
        return false;
    if (has_post_start(spec) && c->post_start != KC__HOOK_OK)
        return false;
    return !spec->startup_probe || (startup->has_value && startup->value);
}

bool kc__container_is_ready(const kc__container_state *c, const kc_container *spec)
{
    const kc__probe_state *readiness = &c->probes[KC__PROBE_READINESS];
    return kc__container_is_started(c, spec) &&
           (!spec->readiness_probe || (readiness->has_value && readiness->value));
}

bool kc__pod_is_alive(const kc__pod_record *state)
{
    for (size_t i = 0; i < state->n; i++)
        if (kc__container_is_alive(&state->containers[i]))
            return true;
    return false;
}

bool kc__phase_is_terminal(const char *phase)
{
    return phase && (!strcmp(phase, "Failed") || !strcmp(phase, "Succeeded"));
}

bool kc__pod_restarts(const kc_pod *pod, int exit_code)
{
    const char *policy = pod->spec.restart_policy;
    if (!policy || !strcmp(policy, "Always"))
        return true;
    return !strcmp(policy, "OnFailure") && exit_code != 0;
}
