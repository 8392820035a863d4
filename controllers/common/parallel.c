/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel.c: see parallel.h. The thread that asks takes part; others are started for it, no more
 * than are worth their start. Each takes the next number until there is none left. Where no thread
 * can be had, the one there is does it all.
 */
#include "common/parallel.h"

#include "kc/thread.h"

enum { THREADS = 16, WORTH = 4 /* As many tasks, at least, for each thread. */ };

typedef struct crew {
    kc__task_fn *task;
    void *user;
    size_t n, base;

    kc_mutex mutex; /* Guards what follows. Taken last. */
    size_t next, done;
    size_t failed_at; /* Of `failure`; n: none. */
    kc_error failure;
} crew;

static bool take_next(crew *c, size_t *ret)
{
    bool some = false;
    kc_locked (&c->mutex) {
        some = c->next < c->n;
        *ret = c->next;
        c->next += some;
    }
    return some;
}

static void report(crew *c, size_t i, kc_error *err, bool succeeded)
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

static void work(void *user)
{
    crew *c = user;
    size_t i;
    while (take_next(c, &i)) {
        kc_scoped(kc_error) err = {0};
        const int result = c->task(c->base + i, c->user, &err);
        report(c, i, &err, result >= 0);
    }
}

static size_t run(size_t base, size_t n, kc__task_fn *task, void *user, kc_error *err)
{
    kc_thread *threads[THREADS] = {NULL};
    size_t started = 0;
    crew c = {.task = task, .user = user, .n = n, .base = base, .failed_at = n};
    kc_mutex_init(&c.mutex);
    const size_t wanted = KC_MIN((n + WORTH - 1) / WORTH, (size_t)THREADS);
    while (started + 1 < wanted) {
        threads[started] = kc_thread_start("parallel", work, &c, NULL);
        if (!threads[started])
            break;
        started++;
    }
    work(&c);
    while (started > 0)
        kc_thread_join(threads[--started]);
    kc_mutex_done(&c.mutex);
    if (c.failed_at < n)
        kc_error_move(err, &c.failure);
    kc_error_done(&c.failure);
    return c.done;
}

size_t kc__parallel(size_t n, kc__task_fn *task, void *user, kc_error *err)
{
    return run(0, n, task, user, err);
}

size_t kc__slow_start(size_t n, kc__task_fn *task, void *user, kc_error *err)
{
    size_t done = 0;
    for (size_t batch = 1; done < n; batch *= 2) {
        batch = KC_MIN(batch, n - done);
        const size_t succeeded = run(done, batch, task, user, err);
        done += succeeded;
        if (succeeded < batch)
            break;
    }
    return done;
}
