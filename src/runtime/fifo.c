/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fifo.c: a queue that is taken whole.
 *
 * Two arrays: reflectors append to one while the informer's thread works through the other, and
 * both keep their memory from turn to turn, unless a long list has made one large. So a change
 * costs one short lock on each side, and a burst of changes one wake-up.
 *
 * Nothing is merged here: a listener that wants every change in the order of the server gets it,
 * and a controller's own queue merges by key anyway.
 */
#include "runtime/fifo.h"

struct kc__fifo {
    const kc_clock *clock;
    kc_mutex mutex;   /* Guards all below. Nothing is locked under it. */
    kc_cond changed;  /* Something came, or it was kicked or closed. */
    kc_cond has_room; /* Or it was closed. */
    kc__deltas waiting;
    bool kicked, closed;
};

enum { KEEP = 1024 }; /* So many deltas' memory is kept. */

void kc__deltas_clear(kc__deltas *deltas)
{
    kc_vec_each (deltas, delta)
        kc_object_unref(delta->object);
    if (deltas->cap > KEEP)
        kc_vec_done(deltas);
    kc_vec_clear(deltas);
}

void kc__deltas_done(kc__deltas *deltas)
{
    kc__deltas_clear(deltas);
    kc_vec_done(deltas);
}

kc__fifo *kc__fifo_new(const kc_clock *clock)
{
    kc__fifo *fifo = kc_new(kc__fifo);
    fifo->clock = clock;
    kc_mutex_init(&fifo->mutex);
    kc_cond_init(&fifo->changed);
    kc_cond_init(&fifo->has_room);
    return fifo;
}

kc__fifo *kc__fifo_free(kc__fifo *fifo)
{
    if (!fifo)
        return NULL;
    kc__deltas_done(&fifo->waiting);
    kc_cond_done(&fifo->changed);
    kc_cond_done(&fifo->has_room);
    kc_mutex_done(&fifo->mutex);
    free(fifo);
    return NULL;
}

static void append(kc__fifo *fifo, const kc__delta *deltas, size_t n)
{
    kc_vec_reserve(&fifo->waiting, n);
    memcpy(fifo->waiting.items + fifo->waiting.n, deltas, n * sizeof(*deltas));
    fifo->waiting.n += n;
    kc_cond_signal(&fifo->changed);
}

static void drop(const kc__delta *deltas, size_t n)
{
    for (size_t i = 0; i < n; i++)
        kc_object_unref(deltas[i].object);
}

bool kc__fifo_push(kc__fifo *fifo, const kc__delta *deltas, size_t n)
{
    bool open = true;
    kc_locked (&fifo->mutex) {
        while (!fifo->closed && fifo->waiting.n >= KC__FIFO_ROOM)
            kc_cond_wait_until(&fifo->has_room, &fifo->mutex, fifo->clock, KC_FOREVER);
        open = !fifo->closed;
        if (open && n)
            append(fifo, deltas, n);
    }
    if (!open)
        drop(deltas, n);
    return open;
}

bool kc__fifo_take(kc__fifo *fifo, int64_t deadline, kc__deltas *ret)
{
    kc_locked (&fifo->mutex) {
        while (!fifo->waiting.n && !fifo->kicked && !fifo->closed)
            if (!kc_cond_wait_until(&fifo->changed, &fifo->mutex, fifo->clock, deadline))
                break;
        fifo->kicked = false;
        if (fifo->closed)
            return false;
        kc__deltas taken = fifo->waiting;
        fifo->waiting = *ret;
        *ret = taken;
        kc_cond_broadcast(&fifo->has_room);
    }
    return true;
}

void kc__fifo_kick(kc__fifo *fifo)
{
    kc_locked (&fifo->mutex) {
        fifo->kicked = true;
        kc_cond_signal(&fifo->changed);
    }
}

void kc__fifo_close(kc__fifo *fifo)
{
    kc_locked (&fifo->mutex) {
        fifo->closed = true;
        kc_cond_broadcast(&fifo->changed);
        kc_cond_broadcast(&fifo->has_room);
    }
}

void kc__fifo_keys(kc__fifo *fifo, kc_arena *arena, kc_map *ret)
{
    kc_scoped(kc_buf) key = {0};
    kc_locked (&fifo->mutex)
        kc_vec_each (&fifo->waiting, delta) {
            if (!delta->object)
                continue;
            kc_buf_clear(&key);
            kc_key_write(&key, kc_object_key(delta->object));
            kc_map_put(ret, kc_arena_str(arena, kc_buf_str(&key)), fifo);
        }
}
