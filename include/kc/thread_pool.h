/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_pool.h: threads that run jobs which may block: started when there are jobs, up to a limit,
 * and ended after some idle seconds. An idle pool holds no thread.
 *
 *     struct binding { kc_job job; … };
 *     struct binding *one = kc_new(struct binding);
 *     one->job.run = bind_pod;
 *     const kc_thread_pool_opts opts = {.name = "binder", .threads = 4};
 *     kc_thread_pool *pool = kc_thread_pool_new(&opts);
 *     kc_thread_pool_add(pool, &one->job);               bind_pod(&one->job, NULL) on a thread
 *     kc_thread_pool_stop(pool, NULL);
 *
 * All functions but kc_thread_pool_stop are for any thread and do not block.
 */
#ifndef KC_THREAD_POOL_H
#define KC_THREAD_POOL_H

#include "kc/thread.h"

/* Lives inside what it is about, and is the pool's until it runs. */
typedef struct kc_job {
    /* May free the job. `local` is what `around` of the options gave. */
    void (*run)(struct kc_job *job, void *local);
    bool urgent;        /* Before those that are not. */
    kc_dlist_link link; /* Private. */
} kc_job;

typedef struct kc_thread_pool kc_thread_pool;

/* Runs jobs on the calling thread until the thread is to end. */
typedef void kc_thread_pool_work(void *arg, void *local);

typedef struct kc_thread_pool_opts {
    const char *name;      /* Of its threads. */
    size_t threads;        /* The most of them. Defaults to 4. */
    size_t max_waiting;    /* Jobs that wait; more are refused. Defaults to no limit. */
    int64_t idle;          /* After so long a thread ends. Defaults to 5 s. */
    const kc_clock *clock; /* Defaults to the real one. Lives as long. */
    /* For state of a thread: called on each, and calls work(arg, local) once, with anything for
     * `local`. Defaults to none. */
    void (*around)(kc_thread_pool_work *work, void *arg, void *user);
    void *user; /* Of around. */
} kc_thread_pool_opts;

kc_thread_pool *kc_thread_pool_new(const kc_thread_pool_opts *opts);
/* False, and the job is not taken, when too many wait, or there is no thread and none can be had,
 * or the pool was stopped. */
bool kc_thread_pool_add(kc_thread_pool *pool, kc_job *job);
/* How many threads it has now. */
size_t kc_thread_pool_threads(kc_thread_pool *pool);
/* Runs the jobs that wait, or, where `drop` is not NULL, gives each to it; waits for those that
 * run, and frees the pool. NULL is allowed; returns NULL. */
kc_thread_pool *kc_thread_pool_stop(kc_thread_pool *pool, void (*drop)(kc_job *job));

#endif
