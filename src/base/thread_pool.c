/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_pool.c: see thread_pool.h.
 *
 * A job that is added wakes one idle thread, if there is one that no other job has woken; else it
 * starts a thread, while there are fewer than the limit; else it waits. Threads that have ended are
 * joined when the next one starts, or at the stop: they hold the mutex for the last time when they
 * say that they have ended.
 */
#include "kc/thread_pool.h"

#include "kc/vec.h"

#include <assert.h>

enum { DEFAULT_THREADS = 4 };
#define DEFAULT_IDLE (5 * KC_SECOND)

typedef struct pool_thread {
    kc_thread_pool *pool;
    kc_thread *native;
    bool ended; /* It will not lock the pool's mutex again. */
} pool_thread;

struct kc_thread_pool {
    kc_thread_pool_opts opts;
    kc_mutex mutex; /* Guards what follows. */
    kc_cond more;
    kc_dlist urgent, others; /* Of kc_job. */
    size_t n_waiting;
    size_t running; /* Threads that have not ended. */
    size_t idle;    /* Of those: waiting for a job. */
    size_t woken;   /* Of those: signalled, and not running yet. */
    bool stopping;
    KC_VEC(pool_thread *) threads; /* Also those that have ended, until the next one starts. */
};

/* ---- on a thread ---- */

/* With the mutex held. */
static kc_job *pop_job(kc_thread_pool *pool)
{
    kc_dlist_link *link = kc_dlist_pop(&pool->urgent);
    link = link ? link : kc_dlist_pop(&pool->others);
    if (!link)
        return NULL;
    pool->n_waiting--;
    return kc_container_of(link, kc_job, link);
}

/* With the mutex held: false when the thread has waited for long enough. */
static bool await_job(kc_thread_pool *pool, int64_t deadline)
{
    pool->idle++;
    const bool in_time = kc_cond_wait_until(&pool->more, &pool->mutex, pool->opts.clock, deadline);
    pool->idle--;
    pool->woken -= pool->woken > 0;
    return in_time;
}

/* NULL when the thread is to end. */
static kc_job *next_job(pool_thread *thread)
{
    kc_thread_pool *pool = thread->pool;
    const int64_t deadline = kc_clock_deadline(pool->opts.clock, pool->opts.idle);
    bool in_time = true;
    kc_job *job = NULL;
    kc_locked (&pool->mutex) {
        while (!(job = pop_job(pool)) && !pool->stopping && in_time)
            in_time = await_job(pool, deadline);
        if (!job) {
            pool->running--;
            thread->ended = true;
        }
    }
    return job;
}

static void run_jobs(void *arg, void *local)
{
    for (kc_job *job; (job = next_job(arg));)
        job->run(job, local);
}

static void run_thread(void *user)
{
    const kc_thread_pool_opts *opts = &((pool_thread *)user)->pool->opts;
    if (opts->around)
        opts->around(run_jobs, user, opts->user);
    else
        run_jobs(user, NULL);
}

/* ---- on any thread ---- */

/* With the mutex held: joins threads that have ended, which does not wait for a job. */
static void join_ended(kc_thread_pool *pool)
{
    size_t kept = 0;
    kc_vec_each (&pool->threads, at) {
        pool_thread *thread = *at;
        if (!thread->ended) {
            pool->threads.items[kept++] = thread;
            continue;
        }
        kc_thread_join(thread->native);
        free(thread);
    }
    pool->threads.n = kept;
}

/* With the mutex held. */
static bool add_thread(kc_thread_pool *pool)
{
    pool_thread *thread = kc_new(pool_thread);
    join_ended(pool);
    thread->pool = pool;
    thread->native = kc_thread_start(pool->opts.name, run_thread, thread, NULL);
    if (!thread->native) {
        free(thread);
        return false;
    }
    pool->running++;
    kc_vec_push(&pool->threads, thread);
    return true;
}

/* With the mutex held: a thread for one job more. False when there is none at all. */
static bool call_thread(kc_thread_pool *pool)
{
    if (pool->idle > pool->woken) {
        pool->woken++;
        kc_cond_signal(&pool->more);
        return true;
    }
    if (pool->running < pool->opts.threads && add_thread(pool))
        return true;
    return pool->running > 0;
}

bool kc_thread_pool_add(kc_thread_pool *pool, kc_job *job)
{
    bool taken = false;
    kc_locked (&pool->mutex) {
        const size_t most = pool->opts.max_waiting;
        if (pool->stopping || (most && pool->n_waiting >= most) || !call_thread(pool))
            break;
        kc_dlist_push(job->urgent ? &pool->urgent : &pool->others, &job->link);
        pool->n_waiting++;
        taken = true;
    }
    return taken;
}

size_t kc_thread_pool_threads(kc_thread_pool *pool)
{
    size_t n = 0;
    kc_locked (&pool->mutex)
        n = pool->running;
    return n;
}

/* ---- life ---- */

kc_thread_pool *kc_thread_pool_new(const kc_thread_pool_opts *opts)
{
    kc_thread_pool *pool = kc_new(kc_thread_pool);
    pool->opts = *opts;
    pool->opts.threads = opts->threads ? opts->threads : DEFAULT_THREADS;
    pool->opts.idle = opts->idle > 0 ? opts->idle : DEFAULT_IDLE;
    pool->opts.clock = opts->clock ? opts->clock : kc_clock_real();
    kc_mutex_init(&pool->mutex);
    kc_cond_init(&pool->more);
    kc_dlist_init(&pool->urgent);
    kc_dlist_init(&pool->others);
    return pool;
}

static void drop_all(kc_dlist *jobs, void (*drop)(kc_job *job))
{
    for (kc_dlist_link *link; (link = kc_dlist_pop(jobs));)
        drop(kc_container_of(link, kc_job, link));
}

kc_thread_pool *kc_thread_pool_stop(kc_thread_pool *pool, void (*drop)(kc_job *job))
{
    kc_dlist dropped;
    if (!pool)
        return NULL;
    kc_dlist_init(&dropped);
    kc_locked (&pool->mutex) {
        pool->stopping = true;
        if (drop) {
            kc_dlist_splice(&dropped, &pool->urgent);
            kc_dlist_splice(&dropped, &pool->others);
            pool->n_waiting = 0;
        }
        kc_cond_broadcast(&pool->more);
    }
    drop_all(&dropped, drop);
    kc_vec_each (&pool->threads, thread) {
        kc_thread_join((*thread)->native);
        free(*thread);
    }
    kc_vec_done(&pool->threads);
    assert(!pool->n_waiting);
    kc_cond_done(&pool->more);
    kc_mutex_done(&pool->mutex);
    free(pool);
    return NULL;
}
