/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h: an event loop: one thread on which connections, timers and tasks run one after the other.
 *
 *     kc__loop *loop = kc__loop_start("http-0", clock, err);       its own thread
 *     kc__loop_post(loop, &write->task);                           from any thread
 *
 * What belongs to a loop is touched by its thread only, so it needs no locks; other threads reach
 * it by posting. Nothing on a loop may block: a slow callback delays every connection of the loop.
 */
#ifndef KC_HTTP_LOOP_H
#define KC_HTTP_LOOP_H

#include "kc/clock.h"
#include "kc/error.h"
#include "kc/heap.h"

typedef struct kc__loop kc__loop;

/* Runs on the loop's thread. Lives inside what it is about; posting allocates nothing. */
typedef struct kc__task {
    void (*run)(struct kc__task *task);
    struct kc__task *next; /* Private. */
} kc__task;

/* Starts a loop and its thread. The clock drives its timers; NULL is the real one. NULL on error.
 */
kc__loop *kc__loop_start(const char *name, const kc_clock *clock, kc_error *err);
/* Runs what has been posted, ends the thread, frees the loop. Everything that lives on it is gone
 * by then. Not from the loop's own thread. NULL is allowed; returns NULL. */
kc__loop *kc__loop_stop(kc__loop *loop);

/* Hands a task over. Tasks posted by one thread run in the order they were posted; the loop is
 * woken once however many there are. Any thread. A task may be posted again once it has begun to
 * run. */
void kc__loop_post(kc__loop *loop, kc__task *task);

/* Whether the calling thread is the loop's. */
bool kc__loop_is_mine(const kc__loop *loop);
const kc_clock *kc__loop_clock(const kc__loop *loop);
/* The present time as a Date field has it. On the loop's thread only; valid until the next call. */
kc_str kc__loop_date(kc__loop *loop);

/* A timer; zeroed and given a loop and a callback, it is ready. On the loop's thread only. */
typedef struct kc__timer {
    kc__loop *loop;
    void (*fire)(struct kc__timer *timer);
    int64_t deadline;   /* Monotonic; private with the next one. */
    kc_heap_node place; /* In the loop's heap while it is running. */
} kc__timer;

/* Fires once, at the deadline or as soon after as the loop can. Starting a running one moves it.
 * Costs O(log n) of the loop's timers. */
void kc__timer_start(kc__timer *timer, int64_t deadline);
void kc__timer_stop(kc__timer *timer);

#endif
