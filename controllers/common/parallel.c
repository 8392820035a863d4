/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel.c: see parallel.h. The calling thread takes part; helper threads are started only for
 * enough tasks to be worth it. Each thread takes the next index until none is left. If no thread
 * can be started, the calling thread runs all tasks.
 */
#include "common/parallel.h"

#include "kc/thread.h"

enum { THREADS = 16, WORTH = 4 /* Minimum number of tasks for each thread. */ };

typedef struct parallel_run {
    kc__common_task_fn *task;
    void *user;
    size_t n, base;

    kc_mutex mutex; /* Guards what follows. Taken last. */
    size_t next, done;
    size_t failed_at; /* Index of the task that set `failure`; n: no failure. */
    kc_error failure;
} parallel_run;

static bool take_next(parallel_run *c, size_t *ret)
{
    bool some = false;
    kc_locked (&c->mutex) {
        some = c->next < c->n;
        *ret = c->next;
        c->next += some;
    }
    return some;
}

static void common_parallel_report(parallel_run *c, size_t i, kc_error *err, bool succeeded)
{
    kc_locked (&c->mutex) {
        c->done += succeeded;
        if (succeeded || i > c->failed_at)
            break;
        c->failed_at = i;
        kc_error_done(&c->failure);
        kc_error_move(&c->failure, err);
    }
}

static void common_parallel_work(void *user)
{
    parallel_run *c = user;
    size_t i;
    while (take_next(c, &i)) {
        kc_scoped(kc_error) err = {0};
        const int result = c->task(c->base + i, c->user, &err);
        common_parallel_report(c, i, &err, result >= 0);
    }
}

static size_t common_parallel_run(size_t base, size_t n, kc__common_task_fn *task, void *user,
                                  kc_error *err)
{
    kc_thread *threads[THREADS] = {NULL};
    size_t started = 0;
    parallel_run c = {.task = task, .user = user, .n = n, .base = base, .failed_at = n};
    kc_mutex_init(&c.mutex);
    const size_t wanted = KC_MIN((n + WORTH - 1) / WORTH, (size_t)THREADS);
    while (started + 1 < wanted) {
        threads[started] = kc_thread_start("api-requests", common_parallel_work, &c, NULL);
        if (!threads[started])
            break;
        started++;
    }
    common_parallel_work(&c);
    while (started > 0)
        kc_thread_join(threads[--started]);
    kc_mutex_done(&c.mutex);
    if (c.failed_at < n)
        kc_error_move(err, &c.failure);
    kc_error_done(&c.failure);
    return c.done;
}

size_t kc__common_parallel(size_t n, kc__common_task_fn *task, void *user, kc_error *err)
{
    return common_parallel_run(0, n, task, user, err);
}

size_t kc__common_slow_start(size_t n, kc__common_task_fn *task, void *user, kc_error *err)
{
    size_t done = 0;
    for (size_t batch = 1; done < n; batch *= 2) {
        batch = KC_MIN(batch, n - done);
        const size_t succeeded = common_parallel_run(done, batch, task, user, err);
        done += succeeded;
        if (succeeded < batch)
            break;
    }
    return done;
}
