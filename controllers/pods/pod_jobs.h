/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_jobs.h: runs probes and hooks, which may block, on threads of their own.
 */
#ifndef KC_CONTROLLERS_POD_JOBS_H
#define KC_CONTROLLERS_POD_JOBS_H

#include "kc/manager.h"

#include "pods/pod_record.h"

typedef struct kc__pod_jobs kc__pod_jobs;

/* Receives results on any thread. Takes ownership of the message. */
typedef void kc__pod_job_done_fn(kc_str pod_uid, const kc__pod_job_result *result, void *user);

/* Call before the manager starts: adds its threads, or none if the runtime's probes never block. */
kc__pod_jobs *kc__pod_jobs_new(kc_manager *manager, kc__pods_runtime *runtime,
                               kc__pod_job_done_fn *done, void *user, kc_error *err);
/* Call after the manager has stopped. NULL is allowed; returns NULL. */
kc__pod_jobs *kc__pod_jobs_free(kc__pod_jobs *jobs);

/* Starts a job for `pod`. If the runtime's probes never block, runs it at once: returns true with
 * the result. */
bool kc__pod_jobs_begin(kc__pod_jobs *jobs, const kc_pod *pod, const kc__pod_job *job,
                        kc__pod_job_result *ret);

#endif
