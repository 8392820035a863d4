/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_act.c: carrying out what a plan says: with the runtime, the jobs, and the recorder.
 *
 * To add an action: a row of kc__act in pod_record.h, a case here.
 */
#include "pods/pod_act.h"

#include "pods/pod_inputs.h"

#include "kc/recorder.h"

#define RETRY_TIME (10 * KC_SECOND)

void kc__look_say(const kc__look *look, size_t i, bool warning, const char *reason,
                  const char *message)
{
    kc_autofree char *path = NULL;
    if (look->pods->opts.quiet && !warning)
        return;
    if (i < look->state->n)
        path = kc_asprintf("spec.%s{%s}", i < look->state->n_init ? "initContainers" : "containers",
                           kc__pod_container(look->pod, i)->name);
    kc_event_with(look->pods->recorder, &(kc_event_opts){.about = look->pod->metadata.origin,
                                                         .type = warning ? KC_WARNING : KC_NORMAL,
                                                         .reason = reason,
                                                         .message = message,
                                                         .field_path = path});
}

/* ---- starting ---- */

static void not_started(kc__look *l, size_t i, const char *reason, const kc_error *err)
{
    kc_autofree char *text = kc_asprintf("Error: %s", kc_error_text(err));
    kc__pod_record_not_started(l->state, i, reason, kc_error_text(err), l->now + RETRY_TIME);
    kc_counter_inc(l->pods->metrics.not_started[i < l->state->n_init]);
    kc__look_say(l, i, true, "Failed", text);
}

static void started(kc__look *l, const kc__action *a, const char *name)
{
    kc_autofree char *created = kc_asprintf("Created container: %s", name);
    kc_autofree char *running = kc_asprintf("Started container %s", name);
    kc__pod_record_started(l->state, l->pod, a->container, a->attempt);
    kc_counter_inc(l->pods->metrics.started[a->container < l->state->n_init]);
    kc__look_say(l, a->container, false, "Created", created);
    kc__look_say(l, a->container, false, "Started", running);
}

static void start(kc__look *l, const kc__action *a)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_arena) arena = {0};
    kc__runtime *runtime = l->pods->runtime;
    const kc_container *spec = kc__pod_container(l->pod, a->container);
    const kc__inputs in = {
        .client = l->ctx->client, .pod = l->pod, .state = l->state, .arena = &arena};
    kc_string_pair *env = NULL;
    size_t n_env = 0;
    if (kc__env_make(&in, spec, &env, &n_env, &err) < 0) {
        not_started(l, a->container, "CreateContainerConfigError", &err);
        return;
    }
    kc_container expanded = *spec;
    kc__env_expand(&in, &expanded, env, n_env);
    const kc__container_start what = {
        .pod = l->pod, .container = &expanded, .attempt = a->attempt, .env = env, .n_env = n_env};
    if (runtime->ops->start(runtime, &what, &err) == 0)
        started(l, a, spec->name);
    else
        not_started(l, a->container,
                    err.reason == KC_INVALID ? "CreateContainerError" : "RunContainerError", &err);
}

static void stop(kc__look *l, const kc__action *a, bool now)
{
    kc__runtime *runtime = l->pods->runtime;
    const kc__container_id id = {
        kc_cstr(l->state->uid), kc_cstr(kc__pod_container(l->pod, a->container)->name), a->attempt};
    runtime->ops->stop(runtime, id, now);
}

/* ---- probes and hooks ---- */

static void take_probe(kc__look *l, const kc__job_result *r)
{
    static const char *const names[] = {"Startup", "Liveness", "Readiness"};
    const kc__job *job = &r->job;
    kc_counter_inc(l->pods->metrics.probed[job->probe][r->ok]);
    if (!kc__pod_record_probed(l->state, l->pod, job->container, job->attempt, job->probe, r->ok) ||
        r->ok)
        return;
    kc_autofree char *text = kc_asprintf("%s probe failed: %s", names[job->probe], r->message);
    kc__look_say(l, job->container, true, "Unhealthy", text);
}

static void take_hook(kc__look *l, const kc__job_result *r)
{
    const bool before = r->job.type == KC__JOB_POST_START;
    kc__container_state *c = &l->state->containers[r->job.container];
    kc__hook_state *hook = before ? &c->post_start : &c->pre_stop;
    if (c->now.number != r->job.attempt || *hook != KC__HOOK_RUNS)
        return;
    *hook = r->ok ? KC__HOOK_OK : KC__HOOK_FAILED;
    if (!r->ok)
        kc__look_say(l, r->job.container, true,
                     before ? "FailedPostStartHook" : "FailedPreStopHook",
                     before ? "PostStartHook failed" : "PreStopHook failed");
}

static void take(kc__look *l, kc__job_result *r)
{
    if (r->job.container < l->state->n) {
        if (r->job.type == KC__JOB_PROBE)
            take_probe(l, r);
        else
            take_hook(l, r);
    }
    free(kc_take(r->message));
}

void kc__look_take_results(kc__look *look)
{
    __typeof__(look->state->inbox) inbox = {0};
    kc_locked (&look->pods->mutex) {
        inbox = look->state->inbox;
        memset(&look->state->inbox, 0, sizeof(look->state->inbox));
    }
    kc_vec_each (&inbox, r)
        take(look, r);
    kc_vec_done(&inbox);
}

static bool begin(kc__look *l, const kc__job *job)
{
    kc__job_result result;
    if (!kc__jobs_begin(l->pods->jobs, l->pod, job, &result))
        return false;
    take(l, &result);
    return true;
}

static bool run_hook(kc__look *l, const kc__action *a, kc__job_type type)
{
    kc__container_state *c = &l->state->containers[a->container];
    const kc_lifecycle *cycle = kc__pod_container(l->pod, a->container)->lifecycle;
    const kc_lifecycle_handler *handler =
        type == KC__JOB_POST_START ? cycle->post_start : cycle->pre_stop;
    if (handler->sleep) {
        c->hook_until = l->now + KC_MAX(handler->sleep->seconds * KC_SECOND, 1);
        return true;
    }
    const int64_t left = type == KC__JOB_POST_START ? KC_HOUR : c->stop_until - l->now;
    return begin(l, &(kc__job){.type = type,
                               .container = a->container,
                               .attempt = a->attempt,
                               .grace = (int)(left / KC_SECOND)});
}

/* ---- all of them ---- */

bool kc__look_act(kc__look *look, const kc__action *a)
{
    switch (a->act) {
    case KC__ACT_START: start(look, a); return true;
    case KC__ACT_STOP:
    case KC__ACT_FORCE: stop(look, a, a->act == KC__ACT_FORCE); return true;
    case KC__ACT_PROBE:
        return begin(look, &(kc__job){.type = KC__JOB_PROBE,
                                      .probe = a->probe,
                                      .container = a->container,
                                      .attempt = a->attempt});
    case KC__ACT_POST_START: return run_hook(look, a, KC__JOB_POST_START);
    case KC__ACT_PRE_STOP: return run_hook(look, a, KC__JOB_PRE_STOP);
    case KC__ACT_SAY:
        kc__look_say(look, a->container, a->warning, a->event, a->message);
        return false;
    }
    return false;
}
