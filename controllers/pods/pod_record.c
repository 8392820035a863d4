/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_record.c: the runner's record of a pod.
 *
 * A record is created when a pod is first seen and freed when the pod is gone from the server. It
 * can always be rebuilt: what must outlive this process is in the pod's status (restart counts, how
 * the last attempt ended) and in the runtime (what runs); kc__pod_record_resume combines the two.
 * Only back-off times and probe counts are lost with the process.
 */
#include "pods/pod_record.h"

#include <stdio.h>

/* ---- create and free ---- */

static void attempt_done(kc__pod_attempt *attempt)
{
    free(attempt->reason);
    free(attempt->message);
    *attempt = (kc__pod_attempt){.number = -1};
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
    free(state->ignored);
    kc_map_done(&state->sources);
    kc__pod_tokens_done(&state->tokens);
    kc_vec_each (&state->inbox, result)
        free(result->message);
    kc_vec_done(&state->inbox);
    free(state);
    return NULL;
}

/* ---- observe ---- */

static char *text_or_null(const char *text)
{
    return text && *text ? kc_strdup(text) : NULL;
}

static void keep_report(kc__pod_attempt *attempt, const kc__pod_container_report *report)
{
    attempt_done(attempt);
    *attempt = (kc__pod_attempt){
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

/* `report` is large: shared by all containers of a pod sync. */
static void observe_one(kc__pod_record *state, const kc_pod *pod, size_t i,
                        kc__pods_runtime *runtime, kc__pod_container_report *report)
{
    kc__pod_attempt *now = &state->containers[i].now;
    const kc__pod_container_id id = {kc_cstr(state->uid), kc_cstr(kc__pod_container(pod, i)->name),
                                     now->number};
    if (now->number < 0 || now->phase == KC__POD_CONTAINER_ENDED)
        return;
    *report = (kc__pod_container_report){.attempt = -1};
    runtime->ops->observe(runtime, id, report);
    if (report->phase != now->phase || report->attempt < 0)
        keep_report(now, report);
}

/* A container that the runtime does not know has exited with unknown status. */
static void note_lost(kc__pod_attempt *now, int attempt, kc_time started)
{
    attempt_done(now);
    *now = (kc__pod_attempt){
        .phase = KC__POD_CONTAINER_ENDED,
        .number = attempt,
        .started = started,
        .exit_code = 137,
        .reason = kc_strdup("ContainerStatusUnknown"),
        .message = kc_strdup("The container could not be located when the pod was deleted.  The "
                             "container used to be Running"),
    };
}

void kc__pod_record_observe(kc__pod_record *state, const kc_pod *pod, kc__pods_runtime *runtime)
{
    kc__pod_container_report report;
    for (size_t i = 0; i < state->n; i++) {
        kc__pod_attempt *now = &state->containers[i].now;
        const int attempt = now->number;
        const kc_time started = now->started;
        observe_one(state, pod, i, runtime, &report);
        if (attempt >= 0 && now->number < 0)
            note_lost(now, attempt, started);
    }
}

/* ---- resume ---- */

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

static void keep_terminated(kc__pod_attempt *attempt, const kc_container_terminated *t, int number)
{
    attempt_done(attempt);
    *attempt = (kc__pod_attempt){
        .phase = KC__POD_CONTAINER_ENDED,
        .number = number,
        .started = t->started_at.at,
        .ended = t->finished_at.at,
        .exit_code = t->exit_code,
        .signal = t->signal,
        .reason = text_or_null(t->reason),
        .message = text_or_null(t->message),
    };
}

/* Uses the pod's status where the runtime has no information. */
static void resume_from_status(kc__pod_container_state *c, const kc_pod *pod,
                               const kc_container *spec, const kc_container_status *was,
                               kc__pods_runtime *runtime)
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

/* Hooks and probes have run before this process: their results are taken from the status. */
static void resume_verdicts(kc__pod_container_state *c, const kc_container_status *was)
{
    const bool same = was && was->state.running && was->restart_count == c->now.number;
    if (!same || c->now.phase == KC__POD_CONTAINER_ENDED)
        return;
    const bool started = was->started && *was->started;
    c->post_start = KC__POD_HOOK_OK;
    c->probes[KC__POD_PROBE_STARTUP] =
        (kc__pod_probe_state){.has_value = started, .value = started, .held = started};
    c->probes[KC__POD_PROBE_READINESS] =
        (kc__pod_probe_state){.has_value = was->ready, .value = was->ready};
}

static void resume_one(kc__pod_record *state, const kc_pod *pod, size_t i,
                       kc__pods_runtime *runtime, kc__pod_container_report *report)
{
    kc__pod_container_state *c = &state->containers[i];
    const kc_container *spec = kc__pod_container(pod, i);
    const kc_container_status *was = status_of(pod, spec->name);
    kc__pod_container_id id = {kc_cstr(state->uid), kc_cstr(spec->name), KC__POD_LATEST_ATTEMPT};
    *report = (kc__pod_container_report){.attempt = -1};
    runtime->ops->observe(runtime, id, report);
    if (report->attempt >= 0) {
        keep_report(&c->now, report);
        id.attempt = report->attempt - 1;
        *report = (kc__pod_container_report){.attempt = -1};
        if (id.attempt >= 0)
            runtime->ops->observe(runtime, id, report);
        if (report->phase == KC__POD_CONTAINER_ENDED)
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

void kc__pod_record_resume(kc__pod_record *state, const kc_pod *pod, kc__pods_runtime *runtime)
{
    kc__pod_container_report report;
    state->start_time = pod->status.start_time.at;
    if (pod->status.pod_ip)
        snprintf(state->ip, sizeof(state->ip), "%s", pod->status.pod_ip);
    for (size_t i = 0; i < state->n; i++) {
        resume_one(state, pod, i, runtime, &report);
        state->prepared = state->prepared || state->containers[i].now.number >= 0;
    }
}

/* ---- results of actions ---- */

void kc__pod_record_started(kc__pod_record *state, const kc_pod *pod, size_t i, int attempt)
{
    kc__pod_container_state *c = &state->containers[i];
    attempt_done(&c->last);
    c->last = c->now;
    c->now = (kc__pod_attempt){.number = attempt};
    free(c->image);
    const char *image = kc__pod_container(pod, i)->image;
    c->image = kc_strdup(image ? image : "");
    memset(c->probes, 0, sizeof(c->probes));
    c->post_start = c->pre_stop = KC__POD_HOOK_NONE;
    c->hook_until = 0;
    c->stop = KC__POD_STOP_NONE;
    c->waiting = NULL;
    free(kc_take(c->waiting_message));
    c->retry_at = 0;
}

void kc__pod_record_not_started(kc__pod_record *state, size_t i, const char *reason,
                                const char *message, kc_time retry_at)
{
    kc__pod_container_state *c = &state->containers[i];
    c->waiting = reason;
    free(c->waiting_message);
    c->waiting_message = kc_strdup(message);
    c->retry_at = retry_at;
}

void kc__pod_record_wake_hooks(kc__pod_record *state, kc_time now)
{
    for (size_t i = 0; i < state->n; i++) {
        kc__pod_container_state *c = &state->containers[i];
        if (!c->hook_until || now < c->hook_until)
            continue;
        c->hook_until = 0;
        if (c->post_start == KC__POD_HOOK_RUNNING)
            c->post_start = KC__POD_HOOK_OK;
        if (c->pre_stop == KC__POD_HOOK_RUNNING)
            c->pre_stop = KC__POD_HOOK_OK;
    }
}

/* ---- queries ---- */

const kc_container *kc__pod_container(const kc_pod *pod, size_t i)
{
    const size_t n_init = pod->spec.n_init_containers;
    return i < n_init ? &pod->spec.init_containers[i] : &pod->spec.containers[i - n_init];
}

const kc_probe *kc__pod_container_probe(const kc_container *container, kc__pod_probe_type type)
{
    return type == KC__POD_PROBE_STARTUP    ? container->startup_probe
           : type == KC__POD_PROBE_LIVENESS ? container->liveness_probe
                                            : container->readiness_probe;
}

static bool has_post_start(const kc_container *spec)
{
    return spec->lifecycle && spec->lifecycle->post_start;
}

bool kc__pod_container_is_started(const kc__pod_container_state *c, const kc_container *spec)
{
    const kc__pod_probe_state *startup = &c->probes[KC__POD_PROBE_STARTUP];
    if (c->now.phase != KC__POD_CONTAINER_RUNNING)
        return false;
    if (has_post_start(spec) && c->post_start != KC__POD_HOOK_OK)
        return false;
    return !spec->startup_probe || (startup->has_value && startup->value);
}

bool kc__pod_container_is_ready(const kc__pod_container_state *c, const kc_container *spec)
{
    const kc__pod_probe_state *readiness = &c->probes[KC__POD_PROBE_READINESS];
    return kc__pod_container_is_started(c, spec) &&
           (!spec->readiness_probe || (readiness->has_value && readiness->value));
}

bool kc__pod_is_alive(const kc__pod_record *state)
{
    for (size_t i = 0; i < state->n; i++)
        if (kc__pod_container_is_alive(&state->containers[i]))
            return true;
    return false;
}

bool kc__pod_phase_is_terminal(const char *phase)
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

static bool limits_storage(const kc_container *c)
{
    for (size_t i = 0; i < c->resources.limits.n; i++)
        if (!strcmp(c->resources.limits.items[i].key, "ephemeral-storage"))
            return true;
    return false;
}

bool kc__pod_limits_storage(const kc_pod *pod)
{
    const size_t n = pod->spec.n_init_containers + pod->spec.n_containers;
    for (size_t i = 0; i < n; i++)
        if (limits_storage(kc__pod_container(pod, i)))
            return true;
    for (size_t i = 0; i < pod->spec.n_volumes; i++)
        if (pod->spec.volumes[i].empty_dir && pod->spec.volumes[i].empty_dir->size_limit.text)
            return true;
    return false;
}
