/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload.h: worker threads for work that would block an event loop.
 *
 *     loop ── kc__offload_submit(job) ──▶ queue ──▶ worker: job->run ──▶ loop: job->done
 *                                           └── deadline passes ───────▶ loop: job->done, expired
 *
 * A loop serves many connections, so nothing on it may take more than a few milliseconds. The
 * number of jobs is limited, in total and for each user. The pool serves users in turn, and one
 * user never occupies all workers. A job ends at its deadline: a queued job expires at once; a
 * running job is cancelled (base/work.h), and so is one that has used up its CPU time.
 */
#ifndef KC_APISERVER_OFFLOAD_H
#define KC_APISERVER_OFFLOAD_H

#include "base/work.h"
#include "http/loop/loop.h"
#include "kc/dlist.h"
#include "kc/metrics.h"
#include "kc/rand.h"

#define KC__OFFLOAD_MAX_QUEUED          128
#define KC__OFFLOAD_MAX_QUEUED_PER_USER 64
#define KC__OFFLOAD_CPU_LIMIT           (2 * KC_SECOND)

typedef struct kc__offload kc__offload;

typedef struct kc__offload_opts {
    unsigned threads;           /* Defaults to half of the processors, at least 2, at most 4. */
    size_t max_queued;          /* Limit of queued jobs. Defaults to KC__OFFLOAD_MAX_QUEUED. */
    size_t max_queued_per_user; /* Defaults to KC__OFFLOAD_MAX_QUEUED_PER_USER. */
    int64_t cpu_limit;          /* CPU time of one job. Defaults to KC__OFFLOAD_CPU_LIMIT. */
    const kc_clock *clock;
    kc_rand *rand; /* Each worker gets a generator that is split from it. */
    kc_metrics *metrics;
} kc__offload_opts;

typedef struct kc__offload_job {
    kc__loop *loop;
    kc_str user;                               /* The user of the request; valid until `done`. */
    int64_t deadline;                          /* On the monotonic clock. */
    void (*run)(struct kc__offload_job *job);  /* On a worker. */
    void (*done)(struct kc__offload_job *job); /* On the loop, once. The job may be freed. */
    bool expired;  /* For `done`: the deadline passed first, `run` was not called. */
    bool over;     /* For `done`: the job was cancelled while it ran, or used up its CPU time. */
    kc_rand *rand; /* For `run`: the worker's. */

    /* Private. */
    kc__offload *pool;
    kc__work work;
    int state;
    kc_dlist_link link; /* In its user's queue. */
    struct kc__offload_user *owner;
    kc__loop_task finished;
    kc__loop_timer timer;
} kc__offload_job;

/* Threads start when they are first needed. */
kc__offload *kc__offload_new(const kc__offload_opts *opts, kc_error *err);
/* Runs the queued jobs and ends the threads; accepts no more jobs. The loops must still run.
 * Blocks; must not be called from a loop. */
void kc__offload_stop(kc__offload *pool);
/* All jobs must be done. NULL is allowed; returns NULL. */
kc__offload *kc__offload_free(kc__offload *pool);

/* Submits a job, on its loop's thread. False if the queue is full: the job is not accepted. */
bool kc__offload_submit(kc__offload *pool, kc__offload_job *job);
/* Requests cancellation of a running job. On the loop's thread, before `done`. */
void kc__offload_cancel(kc__offload_job *job);

#endif
