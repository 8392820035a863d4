/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c: the threads that run the hooks of a webhook server.
 *
 *     loop ──call──▶ thread pool: hook->serve ──task──▶ loop: respond, free the call
 *
 * While a call is served only its thread uses it: the thread reads the request, which stays valid
 * until the response, and writes into the call's own buffer, which is sent without a copy.
 */
#include "runtime/webhook/pool.h"

#include "kc/thread_pool.h"

#include <stdio.h>

/* Each waiting call may hold a body; an API server has given up on a call that waits this long. */
enum { MAX_WAITING = 1000 };

typedef struct webhook_pool_job {
    kc_job job;
    kc__webhook_pool *pool;
    kc__loop_task task; /* Returns the call to the loop. */
    const kc__webhook_handler *hook;
    kc__exchange *x;
    kc__webhook_call call;
    int status;
} webhook_pool_job;

struct kc__webhook_pool {
    kc__webhook_pool_opts opts;
    kc_thread_pool *threads;
};

/* ---- on the loop ---- */

static void job_free(void *owner)
{
    webhook_pool_job *j = owner;
    kc_buf_done(&j->call.out);
    free(j);
}

static void webhook_pool_respond(kc__loop_task *task)
{
    webhook_pool_job *j = kc_container_of(task, webhook_pool_job, task);
    const kc_str type =
        j->status == 200 ? KC_STR("application/json") : KC_STR("text/plain; charset=utf-8");
    kc__exchange_respond(j->x, &(kc__http_response){.status = j->status,
                                                    .type = type,
                                                    .body = kc_buf_str(&j->call.out),
                                                    .owner = j,
                                                    .release = job_free});
}

static void serve_job(kc_job *job, void *local);

void kc__webhook_pool_submit(kc__webhook_pool *pool, const kc__webhook_handler *hook,
                             kc__exchange *x)
{
    webhook_pool_job *j = kc_new(webhook_pool_job);
    j->job.run = serve_job;
    j->pool = pool;
    j->task.run = webhook_pool_respond;
    j->hook = hook;
    j->x = x;
    j->call = (kc__webhook_call){
        .content_type = kc__http_headers_get(&x->request.headers, KC_STR("Content-Type")),
        .body = x->request.body,
        .log = pool->opts.log,
    };
    kc_gauge_inc(hook->in_flight);
    if (kc_thread_pool_add(pool->threads, &j->job))
        return;
    kc_gauge_dec(hook->in_flight);
    j->status = 503;
    kc_buf_puts(&j->call.out, "too many requests in the queue\n");
    webhook_pool_respond(&j->task);
}

/* ---- on a thread of the pool ---- */

static void webhook_pool_count(const webhook_pool_job *j, int64_t took)
{
    char code[16];
    snprintf(code, sizeof(code), "%d", j->status);
    kc_counter_inc(kc_metric_counter(j->hook->requests, kc_cstr(j->hook->path), kc_cstr(code)));
    kc_histogram_observe_duration(j->hook->latency, took);
    if (j->call.crashed)
        kc_counter_inc(j->hook->panics);
    kc_gauge_dec(j->hook->in_flight);
}

static void serve_job(kc_job *job_of_pool, void *local)
{
    webhook_pool_job *j = kc_container_of(job_of_pool, webhook_pool_job, job);
    const kc__webhook_pool_opts *opts = &j->pool->opts;
    const int64_t began = kc_clock_now(opts->clock);
    j->call.guard = local;
    j->call.guard->name = j->hook->path;
    j->status = j->hook->serve(j->hook, &j->call);
    webhook_pool_count(j, kc_clock_now(opts->clock) - began);
    kc__loop_post(j->x->loop, &j->task);
}

/* A thread has one guard for all its calls; `user` is the pool. */
static void guard_thread(kc_thread_pool_work *webhook_pool_work, void *arg, void *user)
{
    const kc__webhook_pool *pool = user;
    kc__guard guard;
    kc__guard_begin(&guard);
    guard.recovers = pool->opts.crash_recovery;
    guard.limited = true;
    guard.role = "webhook";
    webhook_pool_work(arg, &guard);
    kc__guard_end(&guard);
}

/* ---- start and stop ---- */

kc__webhook_pool *kc__webhook_pool_start(const kc__webhook_pool_opts *opts)
{
    kc__webhook_pool *pool = kc_new(kc__webhook_pool);
    pool->opts = *opts;
    pool->threads = kc_thread_pool_new(&(kc_thread_pool_opts){.name = "webhook",
                                                              .threads = opts->workers,
                                                              .max_waiting = MAX_WAITING,
                                                              .clock = opts->clock,
                                                              .around = guard_thread,
                                                              .user = pool});
    return pool;
}

kc__webhook_pool *kc__webhook_pool_stop(kc__webhook_pool *pool)
{
    if (!pool)
        return NULL;
    kc_thread_pool_stop(pool->threads, NULL);
    free(pool);
    return NULL;
}
