/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_jobs.h: probes and hooks, which may take as long as they like, on threads of their own.
 */
#ifndef KC_CONTROLLERS_POD_JOBS_H
#define KC_CONTROLLERS_POD_JOBS_H

#include "kc/manager.h"

#include "pods/pod_record.h"

typedef struct kc__jobs kc__jobs;

/* Where results go: any thread. Takes the message over. */
typedef void kc__job_done_fn(kc_str pod_uid, const kc__job_result *result, void *user);

/* Before the manager starts: adds its threads to it. None, where the runtime's probes never
 * block. */
kc__jobs *kc__jobs_new(kc_manager *manager, kc__runtime *runtime, kc__job_done_fn *done, void *user,
                       kc_error *err);
/* After the manager has stopped. NULL is allowed; returns NULL. */
kc__jobs *kc__jobs_free(kc__jobs *jobs);

/* Begins it: `pod` is what it is about. Where the runtime's probes never block it is done at once:
 * true, with the result. */
bool kc__jobs_begin(kc__jobs *jobs, const kc_pod *pod, const kc__job *job, kc__job_result *ret);

#endif
