/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_sync.c: executes the actions of a plan through the runtime, the jobs and the recorder.
 *
 * To add an action: a row of kc__pod_action_type in pod_record.h, a case here.
 */
#include "pods/pod_sync.h"

#include "pods/pod_inputs.h"

#include "kc/recorder.h"

#define RETRY_TIME (10 * KC_SECOND)

void kc__pod_sync_event(const kc__pod_sync *sync, size_t i, bool warning, const char *reason,
                        const char *message)
{
    kc_autofree char *path = NULL;
    if (sync->pods->opts.quiet && !warning)
        return;
    if (i < sync->state->n)
        path = kc_asprintf("spec.%s{%s}", i < sync->state->n_init ? "initContainers" : "containers",
                           kc__pod_container(sync->pod, i)->name);
    kc_recorder_event_with(
        sync->pods->recorder,
        &(kc_recorder_event_opts){.about = sync->pod->metadata.origin,
                                  .type = warning ? KC_EVENT_TYPE_WARNING : KC_EVENT_TYPE_NORMAL,
                                  .reason = reason,
                                  .message = message,
                                  .field_path = path});
}

/* ---- starts ---- */

static void not_started(kc__pod_sync *l, size_t i, const char *reason, const kc_error *err)
{
    kc_autofree char *text = kc_asprintf("Error: %s", kc_error_text(err));
    kc__pod_record_not_started(l->state, i, reason, kc_error_text(err), l->now + RETRY_TIME);
    kc_counter_inc(l->pods->metrics.not_started[i < l->state->n_init]);
    kc__pod_sync_event(l, i, true, "Failed", text);
}

static void started(kc__pod_sync *l, const kc__pod_action *a, const char *name)
{
    kc_autofree char *created = kc_asprintf("Created container: %s", name);
    kc_autofree char *running = kc_asprintf("Started container %s", name);
    kc__pod_record_started(l->state, l->pod, a->container, a->attempt);
    kc_counter_inc(l->pods->metrics.started[a->container < l->state->n_init]);
    kc__pod_sync_event(l, a->container, false, "Created", created);
    kc__pod_sync_event(l, a->container, false, "Started", running);
}

static void pod_act_start(kc__pod_sync *l, const kc__pod_action *a)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_arena) arena = {0};
    kc__pods_runtime *runtime = l->pods->runtime;
    const kc_container *spec = kc__pod_container(l->pod, a->container);
    const kc__pod_inputs in = kc__pods_inputs(l->pods, l->ctx->client, l->pod, l->state, &arena);
    kc_string_pair *env = NULL;
    size_t n_env = 0;
    if (kc__pod_env_make(&in, spec, &env, &n_env, &err) < 0) {
        not_started(l, a->container, "CreateContainerConfigError", &err);
        return;
    }
    kc_container expanded = *spec;
    if (kc__pod_env_expand(&in, &expanded, env, n_env, &err) < 0 ||
        (runtime->ops->check && runtime->ops->check(runtime, l->pod, spec, &err) < 0)) {
        not_started(l, a->container, "CreateContainerConfigError", &err);
        return;
    }
    const kc__pod_container_start what = {
        .pod = l->pod, .container = &expanded, .attempt = a->attempt, .env = env, .n_env = n_env};
    if (runtime->ops->start(runtime, &what, &err) == 0)
        started(l, a, spec->name);
    else
        not_started(l, a->container,
                    err.reason == KC_INVALID ? "CreateContainerError" : "RunContainerError", &err);
}

static void pod_act_stop(kc__pod_sync *l, const kc__pod_action *a, bool now)
{
    kc__pods_runtime *runtime = l->pods->runtime;
    const kc__pod_container_id id = {
        kc_cstr(l->state->uid), kc_cstr(kc__pod_container(l->pod, a->container)->name), a->attempt};
    runtime->ops->stop(runtime, id, now);
}

/* ---- probes and hooks ---- */

static void take_probe(kc__pod_sync *l, const kc__pod_job_result *r)
{
    static const char *const names[] = {"Startup", "Liveness", "Readiness"};
    const kc__pod_job *job = &r->job;
    kc_counter_inc(l->pods->metrics.probed[job->probe][r->ok]);
    if (!kc__pod_record_probed(l->state, l->pod, job->container, job->attempt, job->probe, r->ok) ||
        r->ok)
        return;
    kc_autofree char *text = kc_asprintf("%s probe failed: %s", names[job->probe], r->message);
    kc__pod_sync_event(l, job->container, true, "Unhealthy", text);
}

static void take_hook(kc__pod_sync *l, const kc__pod_job_result *r)
{
    const bool before = r->job.type == KC__POD_JOB_POST_START;
    kc__pod_container_state *c = &l->state->containers[r->job.container];
    kc__pod_hook_state *hook = before ? &c->post_start : &c->pre_stop;
    if (c->now.number != r->job.attempt || *hook != KC__POD_HOOK_RUNNING)
        return;
    *hook = r->ok ? KC__POD_HOOK_OK : KC__POD_HOOK_FAILED;
    if (!r->ok)
        kc__pod_sync_event(l, r->job.container, true,
                           before ? "FailedPostStartHook" : "FailedPreStopHook",
                           before ? "PostStartHook failed" : "PreStopHook failed");
}

/* The limit that an eviction message names, by its first word. */
static const char *eviction_signal(const char *message)
{
    return message[0] == 'U'   ? "emptydirfs.limit"
           : message[0] == 'P' ? "ephemeralpodfs.limit"
                               : "ephemeralcontainerfs.limit";
}

/* The pod exceeds its local storage: it fails. */
static void take_measure(kc__pod_sync *l, const kc__pod_job_result *r)
{
    kc__pod_record *state = l->state;
    state->measuring = false;
    if (r->ok || state->failed || kc__pod_phase_is_terminal(l->pod->status.phase))
        return;
    state->failed = "Evicted";
    state->failed_message = kc_strdup(r->message);
    kc_counter_inc(
        kc_metric_counter(l->pods->metrics.evicted, kc_cstr(eviction_signal(r->message))));
    kc__pod_sync_event(l, SIZE_MAX, true, "Evicted", r->message);
}

static void pod_act_take(kc__pod_sync *l, kc__pod_job_result *r)
{
    if (r->job.type == KC__POD_JOB_MEASURE)
        take_measure(l, r);
    else if (r->job.container < l->state->n) {
        if (r->job.type == KC__POD_JOB_PROBE)
            take_probe(l, r);
        else
            take_hook(l, r);
    }
    free(kc_take(r->message));
}

void kc__pod_sync_take_results(kc__pod_sync *sync)
{
    __typeof__(sync->state->inbox) inbox = {0};
    kc_locked (&sync->pods->mutex) {
        inbox = sync->state->inbox;
        memset(&sync->state->inbox, 0, sizeof(sync->state->inbox));
    }
    kc_vec_each (&inbox, r)
        pod_act_take(sync, r);
    kc_vec_done(&inbox);
}

static bool pod_act_begin(kc__pod_sync *l, const kc__pod_job *job)
{
    kc__pod_job_result result;
    if (!kc__pod_jobs_begin(l->pods->jobs, l->pod, job, &result))
        return false;
    pod_act_take(l, &result);
    return true;
}

static bool run_hook(kc__pod_sync *l, const kc__pod_action *a, kc__pod_job_type type)
{
    kc__pod_container_state *c = &l->state->containers[a->container];
    const kc_lifecycle *cycle = kc__pod_container(l->pod, a->container)->lifecycle;
    const kc_lifecycle_handler *handler =
        type == KC__POD_JOB_POST_START ? cycle->post_start : cycle->pre_stop;
    if (handler->sleep) {
        c->hook_until = l->now + KC_MAX(handler->sleep->seconds * KC_SECOND, 1);
        return true;
    }
    const int64_t left = type == KC__POD_JOB_POST_START ? KC_HOUR : c->stop_until - l->now;
    return pod_act_begin(l, &(kc__pod_job){.type = type,
                                           .container = a->container,
                                           .attempt = a->attempt,
                                           .grace = (int)(left / KC_SECOND)});
}

/* ---- all actions ---- */

bool kc__pod_sync_execute(kc__pod_sync *sync, const kc__pod_action *a)
{
    switch (a->act) {
    case KC__POD_ACT_START: pod_act_start(sync, a); return true;
    case KC__POD_ACT_STOP:
    case KC__POD_ACT_FORCE: pod_act_stop(sync, a, a->act == KC__POD_ACT_FORCE); return true;
    case KC__POD_ACT_PROBE:
        return pod_act_begin(sync, &(kc__pod_job){.type = KC__POD_JOB_PROBE,
                                                  .probe = a->probe,
                                                  .container = a->container,
                                                  .attempt = a->attempt});
    case KC__POD_ACT_POST_START: return run_hook(sync, a, KC__POD_JOB_POST_START);
    case KC__POD_ACT_PRE_STOP: return run_hook(sync, a, KC__POD_JOB_PRE_STOP);
    case KC__POD_ACT_MEASURE:
        return pod_act_begin(sync, &(kc__pod_job){.type = KC__POD_JOB_MEASURE});
    case KC__POD_ACT_EVENT:
        kc__pod_sync_event(sync, a->container, a->warning, a->event, a->message);
        return false;
    }
    return false;
}
