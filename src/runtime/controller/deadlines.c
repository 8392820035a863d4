/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlines.c: see deadlines.h. Starting and ending a call takes a lock and wakes no thread, except
 * that the first call after a pause wakes the task, which then waits for the call's deadline with a
 * timer of the executor.
 */
#include "runtime/controller/deadlines.h"

static kc__deadlines_call *first_call(kc__deadlines *d)
{
    kc_dlist_link *first = kc_dlist_first(&d->calls);
    return first ? kc_container_of(first, kc__deadlines_call, link) : NULL;
}

/* The token of the next call past its deadline; NULL: none, and then `ret_next` is when to check
 * again. */
static kc_cancel *take_late(kc__deadlines *d, int64_t *ret_next)
{
    kc_cancel *late = NULL;
    kc_locked (&d->mutex) {
        kc__deadlines_call *call = first_call(d);
        *ret_next = call ? call->deadline : KC_FOREVER;
        if (!call || call->deadline > kc_clock_now(d->clock))
            break;
        call->late = true;
        kc_dlist_remove(&call->link);
        late = kc_cancel_ref(call->cancel);
    }
    return late;
}

static int64_t fire_late(void *user)
{
    int64_t next = KC_FOREVER;
    for (kc_cancel *late; (late = take_late(user, &next));) {
        kc_cancel_fire(late);
        kc_cancel_unref(late);
    }
    return next;
}

void kc__deadlines_start(kc__deadlines *d, kc__executor *executor, const kc_clock *clock)
{
    *d = (kc__deadlines){.clock = clock};
    kc_mutex_init(&d->mutex);
    kc_dlist_init(&d->calls);
    d->serial = kc__serial_new(executor, fire_late, d);
}

void kc__deadlines_stop(kc__deadlines *d)
{
    if (!d->serial)
        return;
    d->serial = kc__serial_free(d->serial);
    kc_mutex_done(&d->mutex);
}

/* Appends, except for calls that started at the same moment. */
static void put_in_order(kc_dlist *calls, kc__deadlines_call *call)
{
    kc_dlist_link *after = calls->head.prev;
    while (after != &calls->head &&
           kc_container_of(after, kc__deadlines_call, link)->deadline > call->deadline)
        after = after->prev;
    kc__dlist_insert_between(after, &call->link, after->next);
}

void kc__deadlines_begin(kc__deadlines *d, kc__deadlines_call *call, kc_cancel *cancel,
                         int64_t deadline)
{
    bool first = false;
    *call = (kc__deadlines_call){.cancel = cancel, .deadline = deadline};
    kc_locked (&d->mutex) {
        put_in_order(&d->calls, call);
        first = first_call(d) == call;
    }
    if (first)
        kc__serial_wake(d->serial);
}

bool kc__deadlines_end(kc__deadlines *d, kc__deadlines_call *call)
{
    kc_locked (&d->mutex)
        kc_dlist_remove(&call->link);
    return call->late;
}
