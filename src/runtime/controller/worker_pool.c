/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_pool.c: the worker threads of a controller: started when there is work, up to the limit of
 * the controller, and ended after some idle seconds. An idle controller has no thread.
 *
 *     queue: keys are ready and no worker waits ──▶ wanted ──▶ serial task: starts workers
 *     worker: idle for KC__WORKER_IDLE ──▶ ends ──▶ wakes the task, in case a key came meanwhile
 *
 * Only the serial task (executor.h) starts workers, so their random generators are split in a
 * deterministic order. While no worker waits, the task also keeps the time of delayed keys: a step
 * returns when the next one is due.
 *
 * A worker that has ended keeps its slot and its thread handle until the slot is used again or the
 * pool stops: only then is the thread joined.
 */
#include "runtime/controller/worker.h"

static kc__worker *take_slot(kc__worker_pool *pool)
{
    kc__worker *found = NULL;
    kc_locked (&pool->mutex) {
        for (size_t i = 0; i < pool->n && !found; i++)
            if (pool->workers[i].state != KC__WORKER_RUNS)
                found = &pool->workers[i];
        if (!found)
            break;
        found->state = KC__WORKER_RUNS;
        pool->running++;
    }
    return found;
}

/* False if no slot is left, or no thread can be started. */
static bool start_worker(kc_controller *c)
{
    kc__worker_pool *pool = &c->pool;
    kc_scoped(kc_error) err = {0};
    kc__worker *worker = take_slot(pool);
    if (!worker)
        return false;
    if (worker->controller)
        kc__worker_join(worker); /* Its thread has ended. */
    if (kc__worker_start(worker, c, pool->stop, &err) == 0)
        return true;
    kc_log_warn(c->log, "starting a worker failed", kc_kv("err", &err));
    kc_locked (&pool->mutex) {
        worker->state = KC__WORKER_FREE;
        pool->running--;
    }
    return false;
}

static bool is_full(kc__worker_pool *pool)
{
    bool full = false;
    kc_locked (&pool->mutex)
        full = pool->running == pool->n;
    return full;
}

static int64_t pool_step(void *user)
{
    kc_controller *c = user;
    int64_t next = KC_FOREVER;
    size_t unserved = kc__queue_poll(c->queue, &next);
    while (unserved && !kc_queue_shutting_down(c->queue) && start_worker(c))
        unserved--;
    const bool full = is_full(&c->pool);
    kc__queue_set_full(c->queue, full);
    /* A worker that ended meanwhile has woken the task again. */
    return full ? KC_FOREVER : next;
}

static void pool_wanted(void *user)
{
    kc_controller *c = user;
    kc__serial_wake(c->pool.serial);
}

void kc__worker_pool_worker_ended(kc__worker *worker)
{
    kc_controller *c = worker->controller;
    kc__worker_pool *pool = &c->pool;
    kc__queue_set_full(c->queue, false);
    kc_locked (&pool->mutex) {
        worker->state = KC__WORKER_ENDED;
        pool->running--;
        if (pool->serial)
            kc__serial_wake(pool->serial);
    }
}

void kc__worker_pool_start(kc_controller *c, kc_cancel *stop)
{
    kc__worker_pool *pool = &c->pool;
    *pool = (kc__worker_pool){.n = (size_t)c->n_workers, .stop = stop};
    pool->workers = kc_calloc(pool->n, sizeof(*pool->workers));
    kc_mutex_init(&pool->mutex);
    pool->serial = kc__serial_new(c->executor, pool_step, c);
    kc__queue_set_demand(c->queue, pool_wanted, c);
    kc__serial_wake(pool->serial);
}

void kc__worker_pool_stop(kc_controller *c)
{
    kc__worker_pool *pool = &c->pool;
    kc__serial *serial = NULL;
    if (!pool->serial)
        return;
    kc__queue_set_demand(c->queue, NULL, NULL);
    kc_locked (&pool->mutex)
        serial = kc_take(pool->serial);
    kc__serial_free(serial); /* From now on no worker starts. */
    for (size_t i = 0; i < pool->n; i++)
        if (pool->workers[i].controller)
            kc__worker_join(&pool->workers[i]);
    kc_mutex_done(&pool->mutex);
    free(pool->workers);
    *pool = (kc__worker_pool){0};
}
