/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_jobs.c: probes and hooks on a few threads: first come, first served.
 *
 * A container has at most one job of each kind under way, so what waits here is bounded by the
 * pods there are. A job that is late delays the others, never a worker of the controller.
 */
#include "pods/pod_jobs.h"

#define THREADS 8

typedef struct waiting {
    kc_link link;
    kc_object *pod;
    kc__job job;
} waiting;

typedef struct worker {
    kc__jobs *jobs;
    kc_cancel_hook hook;
} worker;

struct kc__jobs {
    kc__runtime *runtime;
    const kc_clock *clock;
    kc__job_done_fn *done;
    void *user;
    kc_mutex mutex; /* Guards waiting, stopping. Nothing is called under it. */
    kc_cond more;
    kc_list waiting;
    bool stopping;
    worker workers[THREADS];
};

/* ---- one job ---- */

static bool run_probe(kc__jobs *jobs, const kc_pod *pod, const kc__job *job, kc_cancel *cancel,
                      kc_error *err)
{
    const kc_container *c = kc__pod_container(pod, job->container);
    const kc_probe *probe = kc__container_probe(c, job->probe);
    return jobs->runtime->ops->probe(jobs->runtime, pod, c, job->attempt, probe, cancel, err) ==
           KC__PROBE_OK;
}

static bool run_hook(kc__jobs *jobs, const kc_pod *pod, const kc__job *job, kc_cancel *cancel,
                     kc_error *err)
{
    const kc_container *c = kc__pod_container(pod, job->container);
    const kc_lifecycle_handler *handler =
        job->type == KC__JOB_POST_START ? c->lifecycle->post_start : c->lifecycle->pre_stop;
    const kc_probe hook = {.exec = handler->exec,
                           .http_get = handler->http_get,
                           .timeout_seconds = KC_MAX(job->grace, 1)};
    return jobs->runtime->ops->probe(jobs->runtime, pod, c, job->attempt, &hook, cancel, err) ==
           KC__PROBE_OK;
}

static kc__job_result carry_out(kc__jobs *jobs, const kc_pod *pod, const kc__job *job,
                                kc_cancel *cancel)
{
    kc_scoped(kc_error) err = {0};
    const bool ok = job->type == KC__JOB_PROBE ? run_probe(jobs, pod, job, cancel, &err)
                                               : run_hook(jobs, pod, job, cancel, &err);
    return (kc__job_result){
        .job = *job, .ok = ok, .message = ok ? NULL : kc_strdup(kc_error_text(&err))};
}

/* ---- threads ---- */

static waiting *next(kc__jobs *jobs)
{
    waiting *w = NULL;
    kc_locked (&jobs->mutex) {
        while (!jobs->stopping && kc_list_empty(&jobs->waiting))
            kc_cond_wait_until(&jobs->more, &jobs->mutex, jobs->clock, KC_FOREVER);
        kc_link *first = jobs->stopping ? NULL : kc_list_first(&jobs->waiting);
        if (first) {
            kc_list_remove(first);
            w = kc_container_of(first, waiting, link);
        }
    }
    return w;
}

static void waiting_free(waiting *w)
{
    kc_object_unref(w->pod);
    free(w);
}

static void stop_waiting(kc_cancel_hook *hook)
{
    kc__jobs *jobs = kc_container_of(hook, worker, hook)->jobs;
    kc_locked (&jobs->mutex) {
        jobs->stopping = true;
        kc_cond_broadcast(&jobs->more);
    }
}

static int run(kc_cancel *stop, void *user, kc_error *err)
{
    (void)err;
    worker *self = user;
    waiting *w;
    self->hook.fire = stop_waiting;
    if (!kc_cancel_hang(stop, &self->hook))
        return 0;
    while ((w = next(self->jobs))) {
        kc_auto(kc_pod) *pod = kc_pod_of(w->pod, NULL);
        if (pod) {
            const kc__job_result result = carry_out(self->jobs, pod, &w->job, stop);
            self->jobs->done(kc_object_uid(w->pod), &result, self->jobs->user);
        }
        waiting_free(w);
    }
    kc_cancel_unhang(stop, &self->hook);
    return 0;
}

/* ---- life ---- */

kc__jobs *kc__jobs_new(kc_manager *manager, kc__runtime *runtime, kc__job_done_fn *done, void *user,
                       kc_error *err)
{
    kc__jobs *jobs = kc_new(kc__jobs);
    jobs->runtime = runtime;
    jobs->clock = kc_manager_clock(manager);
    jobs->done = done;
    jobs->user = user;
    kc_mutex_init(&jobs->mutex);
    kc_cond_init(&jobs->more);
    kc_list_init(&jobs->waiting);
    for (size_t i = 0; i < THREADS && !runtime->probes_at_once; i++) {
        jobs->workers[i].jobs = jobs;
        const kc_runnable prober = {
            .name = "probes", .group = KC_GROUP_OTHERS, .run = run, .user = &jobs->workers[i]};
        if (kc_manager_add(manager, &prober, err) < 0)
            return kc__jobs_free(jobs);
    }
    return jobs;
}

kc__jobs *kc__jobs_free(kc__jobs *jobs)
{
    if (!jobs)
        return NULL;
    kc_list_each (&jobs->waiting, waiting, link, w)
        waiting_free(w);
    kc_cond_done(&jobs->more);
    kc_mutex_done(&jobs->mutex);
    free(jobs);
    return NULL;
}

bool kc__jobs_begin(kc__jobs *jobs, const kc_pod *pod, const kc__job *job, kc__job_result *ret)
{
    if (jobs->runtime->probes_at_once) {
        *ret = carry_out(jobs, pod, job, NULL);
        return true;
    }
    waiting *w = kc_new(waiting);
    w->pod = kc_object_ref(pod->metadata.origin);
    w->job = *job;
    kc_locked (&jobs->mutex) {
        kc_list_push(&jobs->waiting, &w->link);
        kc_cond_signal(&jobs->more);
    }
    return false;
}
