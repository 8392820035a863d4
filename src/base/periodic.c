/* SPDX-License-Identifier: Apache-2.0 */
/*
 * periodic.c: runs jobs at intervals.
 *
 * The thread sleeps until the first job is due. A job's next time counts from its end, so a job
 * that takes longer than its interval does not keep the others from running.
 */
#include "base/periodic.h"

#include "kc/thread.h"
#include "kc/vec.h"

typedef struct periodic_job {
    int64_t interval, due;
    void (*run)(void *user);
    void *user;
} periodic_job;

struct kc__periodic {
    const kc_clock *clock;
    KC_VEC(periodic_job) jobs;
    kc_thread *thread;
    kc_mutex mutex; /* Guards stopping. */
    kc_cond changed;
    bool stopping;
};

kc__periodic *kc__periodic_new(const kc_clock *clock)
{
    kc__periodic *periodic = kc_new(kc__periodic);
    periodic->clock = clock ? clock : kc_clock_real();
    kc_mutex_init(&periodic->mutex);
    kc_cond_init(&periodic->changed);
    return periodic;
}

void kc__periodic_add(kc__periodic *periodic, int64_t interval, void (*run)(void *user), void *user)
{
    kc_vec_push(&periodic->jobs, ((periodic_job){.interval = interval, .run = run, .user = user}));
}

static periodic_job *first_due(kc__periodic *periodic)
{
    periodic_job *first = &periodic->jobs.items[0];
    for (size_t i = 1; i < periodic->jobs.n; i++)
        if (periodic->jobs.items[i].due < first->due)
            first = &periodic->jobs.items[i];
    return first;
}

/* False when the thread must end. */
static bool wait_until_due(kc__periodic *periodic, int64_t due)
{
    bool stopping = false;
    kc_locked (&periodic->mutex) {
        while (!periodic->stopping &&
               kc_cond_wait_until(&periodic->changed, &periodic->mutex, periodic->clock, due))
            ;
        stopping = periodic->stopping;
    }
    return !stopping;
}

static void run_periodic(void *user)
{
    kc__periodic *periodic = user;
    for (size_t i = 0; i < periodic->jobs.n; i++)
        periodic->jobs.items[i].due =
            kc_clock_deadline(periodic->clock, periodic->jobs.items[i].interval);
    for (periodic_job *job; job = first_due(periodic), wait_until_due(periodic, job->due);) {
        job->run(job->user);
        job->due = kc_clock_deadline(periodic->clock, job->interval);
    }
}

int kc__periodic_start(kc__periodic *periodic, const char *name, kc_error *err)
{
    if (!periodic->jobs.n)
        return 0;
    periodic->thread = kc_thread_start(name, run_periodic, periodic, err);
    return periodic->thread ? 0 : kc_error_result(err);
}

kc__periodic *kc__periodic_free(kc__periodic *periodic)
{
    if (!periodic)
        return NULL;
    kc_locked (&periodic->mutex) {
        periodic->stopping = true;
        kc_cond_broadcast(&periodic->changed);
    }
    if (periodic->thread)
        kc_thread_join(periodic->thread);
    kc_cond_done(&periodic->changed);
    kc_mutex_done(&periodic->mutex);
    kc_vec_done(&periodic->jobs);
    free(periodic);
    return NULL;
}
