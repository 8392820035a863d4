/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_jobs.c: probes, hooks and measurements of storage on two pools of threads: first come, first
 * served.
 *
 * Measurements have a pool of their own, of two threads: a pod with millions of files delays
 * measurements of other pods, but no probe.
 *
 * A container has at most one job of each kind under way, so the number of waiting jobs is bounded
 * by the number of pods. A job that is late delays other jobs, never a worker of the controller.
 */
#include "pods/pod_jobs.h"

#include "kc/thread_pool.h"

#define PROBING   8
#define MEASURING 2

typedef struct pod_jobs_waiting {
    kc_job base;
    kc__pod_jobs *jobs;
    kc_object *pod;
    kc__pod_job job;
} pod_jobs_waiting;

struct kc__pod_jobs {
    kc__pods_runtime *runtime;
    const kc_clock *clock;
    kc__pod_job_done_fn *done;
    void *user;
    kc_cancel *stop;         /* Of all jobs. */
    kc_mutex mutex;          /* Guards what follows; NULL once the manager has stopped. */
    kc_thread_pool *probing; /* Probes and hooks. */
    kc_thread_pool *measuring;
};

/* ---- one job ---- */

static bool run_probe(kc__pod_jobs *jobs, const kc_pod *pod, const kc__pod_job *job,
                      kc_cancel *cancel, kc_error *err)
{
    const kc_container *c = kc__pod_container(pod, job->container);
    const kc_probe *probe = kc__pod_container_probe(c, job->probe);
    return jobs->runtime->ops->probe(jobs->runtime, pod, c, job->attempt, probe, cancel, err) ==
           KC__POD_PROBE_OK;
}

static bool run_hook(kc__pod_jobs *jobs, const kc_pod *pod, const kc__pod_job *job,
                     kc_cancel *cancel, kc_error *err)
{
    const kc_container *c = kc__pod_container(pod, job->container);
    const kc_lifecycle_handler *handler =
        job->type == KC__POD_JOB_POST_START ? c->lifecycle->post_start : c->lifecycle->pre_stop;
    const kc_probe hook = {.exec = handler->exec,
                           .http_get = handler->http_get,
                           .timeout_seconds = KC_MAX(job->grace, 1)};
    return jobs->runtime->ops->probe(jobs->runtime, pod, c, job->attempt, &hook, cancel, err) ==
           KC__POD_PROBE_OK;
}

static bool run_measure(kc__pod_jobs *jobs, const kc_pod *pod, kc_error *err)
{
    return jobs->runtime->ops->measure(jobs->runtime, pod, err) == 0;
}

static kc__pod_job_result pod_jobs_execute(kc__pod_jobs *jobs, const kc_pod *pod,
                                           const kc__pod_job *job, kc_cancel *cancel)
{
    kc_scoped(kc_error) err = {0};
    const bool ok = job->type == KC__POD_JOB_MEASURE ? run_measure(jobs, pod, &err)
                    : job->type == KC__POD_JOB_PROBE ? run_probe(jobs, pod, job, cancel, &err)
                                                     : run_hook(jobs, pod, job, cancel, &err);
    return (kc__pod_job_result){
        .job = *job, .ok = ok, .message = ok ? NULL : kc_strdup(kc_error_text(&err))};
}

/* ---- threads ---- */

static void waiting_free(pod_jobs_waiting *w)
{
    kc_object_unref(w->pod);
    free(w);
}

static void run_pod_job(kc_job *base, void *local)
{
    pod_jobs_waiting *w = kc_container_of(base, pod_jobs_waiting, base);
    kc_auto(kc_pod) *pod = kc_pod_of(w->pod, NULL);
    (void)local;
    if (pod) {
        const kc__pod_job_result result = pod_jobs_execute(w->jobs, pod, &w->job, w->jobs->stop);
        w->jobs->done(kc_object_uid(w->pod), &result, w->jobs->user);
    }
    waiting_free(w);
}

static void drop_job(kc_job *base)
{
    waiting_free(kc_container_of(base, pod_jobs_waiting, base));
}

static kc_thread_pool *pool_of(const kc__pod_jobs *jobs, const char *name, size_t threads)
{
    return kc_thread_pool_new(
        &(kc_thread_pool_opts){.name = name, .threads = threads, .clock = jobs->clock});
}

/* Jobs may come before: then their threads run already. */
static int begin(kc_cancel *stop, void *user, kc_error *err)
{
    (void)stop;
    (void)user;
    (void)err;
    return KC_RUN_PARKED;
}

static void end(void *user)
{
    kc__pod_jobs *jobs = user;
    kc_thread_pool *probing = NULL, *measuring = NULL;
    kc_cancel_fire(jobs->stop);
    kc_locked (&jobs->mutex) {
        probing = kc_take(jobs->probing);
        measuring = kc_take(jobs->measuring);
    }
    kc_thread_pool_stop(probing, drop_job);
    kc_thread_pool_stop(measuring, drop_job);
}

/* ---- start and stop ---- */

kc__pod_jobs *kc__pod_jobs_new(kc_manager *manager, kc__pods_runtime *runtime,
                               kc__pod_job_done_fn *done, void *user, kc_error *err)
{
    kc__pod_jobs *jobs = kc_new(kc__pod_jobs);
    jobs->runtime = runtime;
    jobs->clock = kc_manager_clock(manager);
    jobs->done = done;
    jobs->user = user;
    jobs->stop = kc_cancel_new(NULL);
    jobs->probing = pool_of(jobs, "probes", PROBING);
    jobs->measuring = pool_of(jobs, "measure", MEASURING);
    kc_mutex_init(&jobs->mutex);
    const kc_runnable runs = {
        .name = "probes", .group = KC_RUNNABLE_OTHERS, .run = begin, .end = end, .user = jobs};
    if (!runtime->probes_at_once && kc_manager_add(manager, &runs, err) < 0)
        return kc__pod_jobs_free(jobs);
    return jobs;
}

kc__pod_jobs *kc__pod_jobs_free(kc__pod_jobs *jobs)
{
    if (!jobs)
        return NULL;
    end(jobs);
    kc_cancel_unref(jobs->stop);
    kc_mutex_done(&jobs->mutex);
    free(jobs);
    return NULL;
}

/* False when the manager has stopped. */
static bool enqueue(kc__pod_jobs *jobs, pod_jobs_waiting *w)
{
    bool taken = false;
    kc_locked (&jobs->mutex) {
        kc_thread_pool *pool = w->job.type == KC__POD_JOB_MEASURE ? jobs->measuring : jobs->probing;
        taken = pool && kc_thread_pool_add(pool, &w->base);
    }
    return taken;
}

bool kc__pod_jobs_begin(kc__pod_jobs *jobs, const kc_pod *pod, const kc__pod_job *job,
                        kc__pod_job_result *ret)
{
    if (jobs->runtime->probes_at_once) {
        *ret = pod_jobs_execute(jobs, pod, job, NULL);
        return true;
    }
    pod_jobs_waiting *w = kc_new(pod_jobs_waiting);
    w->base.run = run_pod_job;
    w->jobs = jobs;
    w->pod = kc_object_ref(pod->metadata.origin);
    w->job = *job;
    if (!enqueue(jobs, w))
        waiting_free(w);
    return false;
}
