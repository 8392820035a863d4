/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_pool.c: threads that answer the calls of a webhook server.
 *
 *     loop ──job──▶ waiting ──▶ worker: hook->serve ──task──▶ loop: answer, job freed
 *
 * A job is the worker's alone while it works: it reads the request, which stays as it is until the
 * answer, and writes into its own buffer, which goes out without a copy.
 */
#include "runtime/webhook_pool.h"

#include <stdio.h>

/* Each may have a body; an API server has given up on what waits that long. */
enum { MAX_WAITING = 1000 };

typedef struct job {
    kc_link link;
    kc__task task; /* Back on the loop. */
    const kc__hook *hook;
    kc__exchange *x;
    kc__hook_call call;
    int status;
} job;

struct kc__hook_pool {
    kc__hook_pool_opts opts;
    KC_VEC(kc_thread *) threads;
    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    kc_list waiting; /* Of job. */
    size_t n_waiting;
    bool stop;
};

/* ---- on the loop ---- */

static void job_free(void *owner)
{
    job *j = owner;
    kc_buf_done(&j->call.out);
    free(j);
}

static void answer(kc__task *task)
{
    job *j = kc_container_of(task, job, task);
    const kc_str type =
        j->status == 200 ? KC_STR("application/json") : KC_STR("text/plain; charset=utf-8");
    kc__exchange_answer(j->x, &(kc__answer){.status = j->status,
                                            .type = type,
                                            .body = kc_buf_str(&j->call.out),
                                            .owner = j,
                                            .release = job_free});
}

static bool enqueue(kc__hook_pool *pool, job *j)
{
    bool room = false;
    kc_locked (&pool->mutex) {
        room = pool->n_waiting < MAX_WAITING;
        if (!room)
            break;
        kc_list_push(&pool->waiting, &j->link);
        pool->n_waiting++;
        kc_cond_signal(&pool->changed);
    }
    return room;
}

void kc__hook_pool_take(kc__hook_pool *pool, const kc__hook *hook, kc__exchange *x)
{
    job *j = kc_new(job);
    j->task.run = answer;
    j->hook = hook;
    j->x = x;
    j->call = (kc__hook_call){
        .content_type = kc__headers_get(&x->request.headers, KC_STR("Content-Type")),
        .body = x->request.body,
        .log = pool->opts.log,
    };
    kc_gauge_inc(hook->in_flight);
    if (enqueue(pool, j))
        return;
    kc_gauge_dec(hook->in_flight);
    j->status = 503;
    kc_buf_puts(&j->call.out, "too many calls wait\n");
    answer(&j->task);
}

/* ---- on a worker ---- */

static void count(const job *j, int64_t took)
{
    char code[16];
    snprintf(code, sizeof(code), "%d", j->status);
    kc_counter_inc(kc_counter_of(j->hook->requests, kc_cstr(j->hook->path), kc_cstr(code)));
    kc_histogram_observe_duration(j->hook->latency, took);
    if (j->call.crashed)
        kc_counter_inc(j->hook->panics);
    kc_gauge_dec(j->hook->in_flight);
}

static void serve(kc__hook_pool *pool, job *j, kc__guard *guard)
{
    const int64_t began = kc_clock_now(pool->opts.clock);
    j->call.guard = guard;
    j->status = j->hook->serve(j->hook, &j->call);
    count(j, kc_clock_now(pool->opts.clock) - began);
    kc__loop_post(j->x->loop, &j->task);
}

/* NULL at the end. */
static job *next(kc__hook_pool *pool)
{
    job *j = NULL;
    kc_locked (&pool->mutex) {
        while (!pool->stop && kc_list_empty(&pool->waiting))
            kc_cond_wait_until(&pool->changed, &pool->mutex, pool->opts.clock, KC_FOREVER);
        if (kc_list_empty(&pool->waiting))
            break;
        j = kc_container_of(kc_list_pop(&pool->waiting), job, link);
        pool->n_waiting--;
    }
    return j;
}

static void work(void *user)
{
    kc__hook_pool *pool = user;
    kc__guard guard;
    kc__guard_begin(&guard);
    for (job *j; (j = next(pool));)
        serve(pool, j, pool->opts.crash ? NULL : &guard);
    kc__guard_end(&guard);
}

/* ---- starting and stopping ---- */

kc__hook_pool *kc__hook_pool_start(const kc__hook_pool_opts *opts, kc_error *err)
{
    kc__hook_pool *pool = kc_new(kc__hook_pool);
    pool->opts = *opts;
    kc_mutex_init(&pool->mutex);
    kc_cond_init(&pool->changed);
    kc_list_init(&pool->waiting);
    for (size_t i = 0; i < opts->workers; i++) {
        kc_thread *thread = kc_thread_start("webhook", work, pool, err);
        if (!thread)
            return kc__hook_pool_stop(pool);
        kc_vec_push(&pool->threads, thread);
    }
    return pool;
}

kc__hook_pool *kc__hook_pool_stop(kc__hook_pool *pool)
{
    if (!pool)
        return NULL;
    kc_locked (&pool->mutex) {
        pool->stop = true;
        kc_cond_broadcast(&pool->changed);
    }
    kc_vec_each (&pool->threads, thread)
        kc_thread_join(*thread);
    kc_vec_done(&pool->threads);
    kc_cond_done(&pool->changed);
    kc_mutex_done(&pool->mutex);
    free(pool);
    return NULL;
}
