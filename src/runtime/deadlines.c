/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlines.c: one thread for all calls of a controller that has a timeout; controllers without one
 * do not have it. Beginning and ending a call takes a lock and wakes nobody, except that the first
 * call after a silence tells the thread when to wake.
 */
#include "runtime/deadlines.h"

static kc__timed_call *first_call(kc__deadlines *d)
{
    kc_link *first = kc_list_first(&d->calls);
    return first ? kc_container_of(first, kc__timed_call, link) : NULL;
}

/* The token of the next call that is late; NULL when it is time to stop. */
static kc_cancel *await_late(kc__deadlines *d)
{
    kc_cancel *late = NULL;
    kc_locked (&d->mutex) {
        while (!d->stop) {
            kc__timed_call *call = first_call(d);
            if (call && call->deadline <= kc_clock_now(d->clock)) {
                call->late = true;
                kc_list_remove(&call->link);
                late = kc_cancel_ref(call->cancel);
                break;
            }
            kc_cond_wait_until(&d->changed, &d->mutex, d->clock,
                               call ? call->deadline : KC_FOREVER);
        }
    }
    return late;
}

static void watch_the_time(void *user)
{
    kc_cancel *late;
    while ((late = await_late(user))) {
        kc_cancel_fire(late);
        kc_cancel_unref(late);
    }
}

int kc__deadlines_start(kc__deadlines *d, const kc_clock *clock, kc_error *err)
{
    *d = (kc__deadlines){.clock = clock};
    kc_mutex_init(&d->mutex);
    kc_cond_init(&d->changed);
    kc_list_init(&d->calls);
    d->thread = kc_thread_start("deadlines", watch_the_time, d, err);
    if (d->thread)
        return 0;
    kc_cond_done(&d->changed);
    kc_mutex_done(&d->mutex);
    return -KC_INTERNAL;
}

void kc__deadlines_stop(kc__deadlines *d)
{
    if (!d->thread)
        return;
    kc_locked (&d->mutex) {
        d->stop = true;
        kc_cond_broadcast(&d->changed);
    }
    d->thread = kc_thread_join(d->thread);
    kc_cond_done(&d->changed);
    kc_mutex_done(&d->mutex);
}

/* At the end, but for calls that began at the same moment. */
static void put_in_order(kc_list *calls, kc__timed_call *call)
{
    kc_link *after = calls->head.prev;
    while (after != &calls->head &&
           kc_container_of(after, kc__timed_call, link)->deadline > call->deadline)
        after = after->prev;
    kc__list_between(after, &call->link, after->next);
}

void kc__deadlines_begin(kc__deadlines *d, kc__timed_call *call, kc_cancel *cancel,
                         int64_t deadline)
{
    *call = (kc__timed_call){.cancel = cancel, .deadline = deadline};
    kc_locked (&d->mutex) {
        put_in_order(&d->calls, call);
        if (first_call(d) == call)
            kc_cond_signal(&d->changed);
    }
}

bool kc__deadlines_end(kc__deadlines *d, kc__timed_call *call)
{
    kc_locked (&d->mutex)
        kc_list_remove(&call->link);
    return call->late;
}
