/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_stand_in.h: the part of loop.h that the store needs, a thread with a queue of tasks, for
 * programs that are linked without the real one.
 */
#ifndef KC_LOOP_STAND_IN_H
#define KC_LOOP_STAND_IN_H

#include "http/loop.h"
#include "kc/thread.h"

struct kc__loop {
    kc_thread *thread;
    kc_mutex mutex; /* Guards the next four. */
    kc_cond more;
    kc__task *first, *last;
    bool stopping;
};

static void stand_in_run(void *user)
{
    kc__loop *loop = user;
    for (;;) {
        kc__task *task = NULL;
        kc_locked (&loop->mutex) {
            while (!loop->first && !loop->stopping)
                kc_cond_wait(&loop->more, &loop->mutex);
            task = loop->first;
            loop->first = loop->last = NULL;
        }
        if (!task)
            return;
        for (kc__task *next; task; task = next) {
            next = task->next;
            task->run(task);
        }
    }
}

kc__loop *kc__loop_start(const char *name, const kc_clock *clock, kc_error *err)
{
    (void)clock;
    kc__loop *loop = kc_new(kc__loop);
    kc_mutex_init(&loop->mutex);
    kc_cond_init(&loop->more);
    loop->thread = kc_thread_start(name, stand_in_run, loop, err);
    return loop;
}

kc__loop *kc__loop_stop(kc__loop *loop)
{
    kc_locked (&loop->mutex) {
        loop->stopping = true;
        kc_cond_signal(&loop->more);
    }
    kc_thread_join(loop->thread);
    kc_cond_done(&loop->more);
    kc_mutex_done(&loop->mutex);
    free(loop);
    return NULL;
}

void kc__loop_post(kc__loop *loop, kc__task *task)
{
    task->next = NULL;
    kc_locked (&loop->mutex) {
        if (loop->last)
            loop->last->next = task;
        else
            loop->first = task;
        loop->last = task;
        kc_cond_signal(&loop->more);
    }
}

#endif
