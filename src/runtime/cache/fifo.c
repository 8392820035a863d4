/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fifo.c: the queue of fifo.h.
 *
 * Two arrays alternate: reflectors append to one while the informer processes the other. Both keep
 * their memory, unless a long list has made one of them large.
 *
 * The fifo does not merge deltas: an event handler gets every change in the server's order, and a
 * controller's own queue merges by key.
 */
#include "runtime/cache/fifo.h"

enum { KEEP_DELTAS = 64 }; /* Arrays of up to this capacity are kept. */

void kc__fifo_deltas_clear(kc__fifo_deltas *deltas)
{
    kc_vec_each (deltas, delta)
        kc_object_unref(delta->object);
    if (deltas->cap > KEEP_DELTAS)
        kc_vec_done(deltas);
    kc_vec_clear(deltas);
}

void kc__fifo_deltas_done(kc__fifo_deltas *deltas)
{
    kc__fifo_deltas_clear(deltas);
    kc_vec_done(deltas);
}

void kc__fifo_done(kc__fifo *fifo)
{
    kc__fifo_deltas_done(&fifo->waiting);
}

void kc__fifo_push(kc__fifo *fifo, const kc__fifo_delta *delta)
{
    kc_vec_push(&fifo->waiting, *delta);
}

void kc__fifo_take(kc__fifo *fifo, kc__fifo_deltas *ret)
{
    const kc__fifo_deltas taken = fifo->waiting;
    fifo->waiting = *ret;
    *ret = taken;
}
