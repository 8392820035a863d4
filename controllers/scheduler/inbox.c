/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox.c: notes to the loop, in the order they came; see engine.h. Many threads put, one takes:
 * all there are at a time, so that the lock is held for an exchange of pointers. It has no limit:
 * what is in it are references to objects the caches hold, and the loop takes them faster than a
 * server can send them.
 */
#include "scheduler/engine.h"

void kc__note_done(kc__note *note)
{
    kc_object_unref(note->object);
    free(note->text);
}

void kc__inbox_init(kc__inbox *inbox)
{
    *inbox = (kc__inbox){0};
    kc_mutex_init(&inbox->mutex);
    kc_cond_init(&inbox->filled);
}

void kc__inbox_done(kc__inbox *inbox)
{
    kc_vec_each (&inbox->notes, note)
        kc__note_done(note);
    kc_vec_done(&inbox->notes);
    kc_cond_done(&inbox->filled);
    kc_mutex_done(&inbox->mutex);
}

void kc__inbox_put(kc__inbox *inbox, kc__note note)
{
    kc_locked (&inbox->mutex) {
        kc_vec_push(&inbox->notes, note);
        kc_cond_signal(&inbox->filled);
    }
}

void kc__inbox_close(kc__inbox *inbox)
{
    kc_locked (&inbox->mutex) {
        inbox->closed = true;
        kc_cond_signal(&inbox->filled);
    }
}

bool kc__inbox_take(kc__inbox *inbox, const kc_clock *clock, int64_t deadline, kc__notes *ret)
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
