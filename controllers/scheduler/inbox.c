/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox.c: the queue of events for the loop, in order; see engine.h. Many threads add, one takes
 * all events at a time, so that the lock is held for an exchange of pointers only. The inbox has no
 * limit: it holds references to objects that the caches hold anyway, and the loop is faster than a
 * server can send.
 */
#include "scheduler/engine.h"

void kc__sched_event_done(kc__sched_event *note)
{
    kc_object_unref(note->object);
    free(note->text);
}

void kc__sched_inbox_init(kc__sched_inbox *inbox)
{
    *inbox = (kc__sched_inbox){0};
    kc_mutex_init(&inbox->mutex);
    kc_cond_init(&inbox->filled);
}

void kc__sched_inbox_done(kc__sched_inbox *inbox)
{
    kc_vec_each (&inbox->notes, note)
        kc__sched_event_done(note);
    kc_vec_done(&inbox->notes);
    kc_cond_done(&inbox->filled);
    kc_mutex_done(&inbox->mutex);
}

void kc__sched_inbox_put(kc__sched_inbox *inbox, kc__sched_event note)
{
    kc_locked (&inbox->mutex) {
        kc_vec_push(&inbox->notes, note);
        kc_cond_signal(&inbox->filled);
    }
}

void kc__sched_inbox_close(kc__sched_inbox *inbox)
{
    kc_locked (&inbox->mutex) {
        inbox->closed = true;
        kc_cond_signal(&inbox->filled);
    }
}

bool kc__sched_inbox_take(kc__sched_inbox *inbox, const kc_clock *clock, int64_t deadline,
                          kc__sched_event_vec *ret)
{
    kc_locked (&inbox->mutex) {
        while (!inbox->notes.n && !inbox->closed && deadline > 0)
            if (!kc_cond_wait_until(&inbox->filled, &inbox->mutex, clock, deadline))
                break;
        ret->items = inbox->notes.items;
        ret->n = inbox->notes.n;
        ret->cap = inbox->notes.cap;
        inbox->notes.items = NULL;
        inbox->notes.n = inbox->notes.cap = 0;
        return !inbox->closed;
    }
    return false;
}
