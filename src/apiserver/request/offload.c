/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload.c: the worker threads and their queue.
 *
 *     users (a ring) ──▶ user a: jobs ──▶ job ─▶ job
 *                   └──▶ user b: jobs ──▶ job
 *
 * A worker takes the first job of the first user that may have another worker, and moves that user
 * to the end of the ring. A user is in the ring while one of its jobs waits or runs. One user
 * occupies at most all workers but one, so the next user's job starts at once.
 *
 * Workers run at a lower scheduling priority than the loops, where the system supports it: a loop
 * that wakes up runs first.
 *
 * Threads: kc__offload_submit, `done` and the timers run on the loop; the mutex guards the other
 * private fields of a job and all of the pool. In a simulation the workers are simulated threads,
 * as the loops are.
 */
#include "apiserver/request/offload.h"

#include "kc/thread.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_WORKERS = 16, NICENESS = 5 };
enum { QUEUED = 1, RUNNING, FINISHED };

typedef struct kc__offload_user {
    kc_dlist_link link; /* In the ring. */
    char *name;
    kc_dlist jobs;
    size_t queued, running;
} kc__offload_user;

typedef struct offload_worker {
    kc__offload *pool;
    kc_thread *thread;
    kc_rand rand;
} offload_worker;

struct kc__offload {
    kc__offload_opts opts;
    kc_rand rand;
    kc_counter *done, *rejected, *expired, *cancelled;
    kc_gauge *length;

    kc_mutex mutex; /* Guards the fields below, and the queue fields of jobs. Taken last. */
    kc_cond more;
    bool stopping;
    kc_dlist users; /* The ring; the first user is next. */
    size_t queued;
    unsigned n_workers, idle;
    offload_worker workers[MAX_WORKERS];
};

/* ---- start ---- */

/* A simulation uses the same number on every machine. */
static unsigned default_threads(const kc_clock *clock)
{
    long processors = clock == kc_clock_real() ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
    return (unsigned)KC_MIN(KC_MAX(processors / 2, 2), 4);
}

static int count_in(kc__offload *pool, kc_metrics *metrics, kc_error *err)
{
    kc_metric *jobs = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){
            .name = "apiserver_offloaded_requests_total",
            .help = "Requests run on worker threads because of their size, by result.",
            .labels = {{"result", KC_LABEL_VALUES("done", "rejected", "expired", "cancelled")}}},
        err);
    kc_metric *length =
        kc_metrics_gauge(metrics,
                         &(kc_metric_opts){.name = "apiserver_offload_queue_length",
                                           .help = "Requests waiting for a worker thread."},
                         err);
    if (!jobs || !length)
        return kc_error_result(err);
    pool->done = kc_metric_counter(jobs, KC_STR("done"));
    pool->rejected = kc_metric_counter(jobs, KC_STR("rejected"));
    pool->expired = kc_metric_counter(jobs, KC_STR("expired"));
    pool->cancelled = kc_metric_counter(jobs, KC_STR("cancelled"));
    pool->length = kc_metric_gauge(length);
    return 0;
}

kc__offload *kc__offload_new(const kc__offload_opts *opts, kc_error *err)
{
    kc__offload *pool = kc_new(kc__offload);
    pool->opts = *opts;
    kc__offload_opts *o = &pool->opts;
    o->max_queued = o->max_queued ? o->max_queued : KC__OFFLOAD_MAX_QUEUED;
    o->max_queued_per_user =
        o->max_queued_per_user ? o->max_queued_per_user : KC__OFFLOAD_MAX_QUEUED_PER_USER;
    o->cpu_limit = o->cpu_limit ? o->cpu_limit : KC__OFFLOAD_CPU_LIMIT;
    o->clock = o->clock ? o->clock : kc_clock_real();
    o->threads = KC_MIN(o->threads ? o->threads : default_threads(o->clock), (unsigned)MAX_WORKERS);
    pool->rand = kc_rand_split(o->rand);
    kc_mutex_init(&pool->mutex);
    kc_cond_init(&pool->more);
    kc_dlist_init(&pool->users);
    return count_in(pool, o->metrics, err) < 0 ? kc__offload_free(pool) : pool;
}

void kc__offload_stop(kc__offload *pool)
{
    kc_locked (&pool->mutex) {
        pool->stopping = true;
        kc_cond_broadcast(&pool->more);
    }
    for (unsigned i = 0; i < pool->n_workers; i++)
        pool->workers[i].thread = kc_thread_join(pool->workers[i].thread);
}

kc__offload *kc__offload_free(kc__offload *pool)
{
    if (!pool)
        return NULL;
    kc__offload_stop(pool);
    kc_cond_done(&pool->more);
    kc_mutex_done(&pool->mutex);
    free(pool);
    return NULL;
}

/* ---- users ---- */

static kc__offload_user *user_of(kc__offload *pool, kc_str name)
{
    kc_dlist_each (&pool->users, kc__offload_user, link, u)
        if (kc_str_is(name, u->name))
            return u;
    kc__offload_user *u = kc_new(kc__offload_user);
    u->name = kc_str_dup(name);
    kc_dlist_init(&u->jobs);
    kc_dlist_push(&pool->users, &u->link);
    return u;
}

static void user_leaves(kc__offload_user *u)
{
    if (u->queued || u->running)
        return;
    kc_dlist_remove(&u->link);
    free(u->name);
    free(u);
}

/* ---- workers ---- */

static void leave_queue(kc__offload *pool, kc__offload_job *job)
{
    kc_dlist_remove(&job->link);
    job->owner->queued--;
    pool->queued--;
    kc_gauge_set(pool->length, (double)pool->queued);
}

/* Takes the next job and marks it as running; NULL: no job may run. With the lock held. */
static kc__offload_job *next_job(kc__offload *pool)
{
    size_t most = KC_MAX(pool->opts.threads - 1, 1u);
    kc_dlist_each (&pool->users, kc__offload_user, link, u) {
        if (!u->queued || u->running >= most)
            continue;
        kc__offload_job *job = kc_container_of(kc_dlist_first(&u->jobs), kc__offload_job, link);
        leave_queue(pool, job);
        u->running++;
        job->state = RUNNING;
        kc_dlist_remove(&u->link);
        kc_dlist_push(&pool->users, &u->link);
        return job;
    }
    return NULL;
}

/* Blocks until a job may run; NULL when the pool stops. */
static kc__offload_job *wait_for_job(kc__offload *pool)
{
    kc__offload_job *job = NULL;
    kc_locked (&pool->mutex) {
        pool->idle++;
        while (!(job = next_job(pool)) && !pool->stopping)
            kc_cond_wait_until(&pool->more, &pool->mutex, pool->opts.clock, KC_FOREVER);
        pool->idle--;
    }
    return job;
}

/* The same user may have another job that waited for this one. */
static void leave_worker(kc__offload *pool, kc__offload_job *job)
{
    kc_locked (&pool->mutex) {
        job->state = FINISHED;
        job->owner->running--;
        user_leaves(job->owner);
        if (pool->queued)
            kc_cond_signal(&pool->more);
    }
}

static void run_job(kc__offload *pool, kc__offload_job *job, kc_rand *rand)
{
    /* A simulation does not measure CPU time: its runs must be reproducible. */
    bool counts = pool->opts.clock == kc_clock_real();
    job->rand = rand;
    kc__work_begin(&job->work, counts ? pool->opts.cpu_limit : 0);
    job->run(job);
    job->over = kc__work_end(&job->work);
    kc_counter_inc(job->over ? pool->cancelled : pool->done);
    leave_worker(pool, job);
    kc__loop_post(job->loop, &job->finished); /* From here on the job belongs to the loop. */
}

static void work(void *user)
{
    offload_worker *w = user;
    kc__offload_job *job;
    if (w->pool->opts.clock == kc_clock_real())
        setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
    while ((job = wait_for_job(w->pool)))
        run_job(w->pool, job, &w->rand);
}

/* Starts another worker if none is idle. With the lock held. False: the pool has no worker at
 * all. */
static bool need_worker(kc__offload *pool)
{
    if (pool->idle || pool->n_workers == pool->opts.threads)
        return true;
    offload_worker *w = &pool->workers[pool->n_workers];
    char name[24];
    snprintf(name, sizeof(name), "kc-work-%u", pool->n_workers);
    *w = (offload_worker){.pool = pool, .rand = kc_rand_split(&pool->rand)};
    w->thread = kc_thread_start(name, work, w, NULL);
    pool->n_workers += w->thread != NULL;
    return pool->n_workers > 0;
}

/* ---- the loop's side ---- */

static void on_finished(kc__loop_task *task)
{
    kc__offload_job *job = kc_container_of(task, kc__offload_job, finished);
    kc__loop_timer_stop(&job->timer);
    job->done(job);
}

static void on_deadline(kc__loop_timer *timer)
{
    kc__offload_job *job = kc_container_of(timer, kc__offload_job, timer);
    kc__offload *pool = job->pool;
    kc_locked (&pool->mutex) {
        if (job->state == QUEUED) {
            leave_queue(pool, job);
            user_leaves(job->owner);
            job->state = FINISHED;
            job->expired = true;
        }
    }
    if (!job->expired) {
        kc__work_cancel(&job->work);
        return;
    }
    kc_counter_inc(pool->expired);
    job->done(job);
}

/* With the lock held. */
static bool enqueue(kc__offload *pool, kc__offload_job *job)
{
    if (pool->stopping || pool->queued >= pool->opts.max_queued || !need_worker(pool))
        return false;
    kc__offload_user *u = user_of(pool, job->user);
    bool room = u->queued < pool->opts.max_queued_per_user;
    if (room) {
        job->owner = u;
        job->state = QUEUED;
        kc_dlist_push(&u->jobs, &job->link);
        u->queued++;
        pool->queued++;
        kc_gauge_set(pool->length, (double)pool->queued);
        kc_cond_signal(&pool->more);
    }
    user_leaves(u);
    return room;
}

bool kc__offload_submit(kc__offload *pool, kc__offload_job *job)
{
    bool taken = false;
    job->pool = pool;
    job->expired = job->over = false;
    job->link = (kc_dlist_link){0};
    job->finished = (kc__loop_task){.run = on_finished};
    job->timer = (kc__loop_timer){.loop = job->loop, .fire = on_deadline};
    kc__work_init(&job->work);
    kc_locked (&pool->mutex)
        taken = enqueue(pool, job);
    if (taken)
        kc__loop_timer_start(&job->timer, job->deadline);
    else
        kc_counter_inc(pool->rejected);
    return taken;
}

void kc__offload_cancel(kc__offload_job *job)
{
    kc__work_cancel(&job->work);
}
