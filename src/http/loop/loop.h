/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h: an event loop: one thread that runs connections, timers and tasks one after the other.
 *
 *     kc__loop *loop = kc__loop_start("http-0", clock, err);       its own thread
 *     kc__loop_post(loop, &write->task);                           from any thread
 *
 * Only the loop's thread accesses the state of a loop, so it needs no locks; other threads post
 * tasks. Nothing on a loop may block: a slow callback delays every connection of the loop.
 */
#ifndef KC_HTTP_LOOP_H
#define KC_HTTP_LOOP_H

#include "kc/clock.h"
#include "kc/error.h"
#include "kc/heap.h"

typedef struct kc__loop kc__loop;

/* Runs on the loop's thread. Embedded in the struct it works on; posting allocates nothing. */
typedef struct kc__loop_task {
    void (*run)(struct kc__loop_task *task);
    struct kc__loop_task *next; /* Private. */
} kc__loop_task;

/* Starts a loop and its thread. `clock` drives its timers; NULL is the real clock. NULL on
 * error. */
kc__loop *kc__loop_start(const char *name, const kc_clock *clock, kc_error *err);
/* Runs all posted tasks, ends the thread and frees the loop. Its timers and connections must be
 * closed before. Not from the loop's own thread. NULL is allowed; returns NULL. */
kc__loop *kc__loop_stop(kc__loop *loop);

/* Posts a task. Tasks posted by one thread run in the order in which they were posted; the loop
 * is woken once for all of them. Any thread. A task may be posted again once it has begun to
 * run. */
void kc__loop_post(kc__loop *loop, kc__loop_task *task);

/* Runs a function on the loop's thread, after the tasks that the caller has posted, and waits for
 * its end. Not from the loop's own thread. */
void kc__loop_call(kc__loop *loop, void (*run)(void *user), void *user);

/* Returns whether the calling thread is the loop's. */
bool kc__loop_is_current(const kc__loop *loop);
const kc_clock *kc__loop_clock(const kc__loop *loop);
/* Returns the current time in the format of the Date field. On the loop's thread only; valid
 * until the next call. */
kc_str kc__loop_date(kc__loop *loop);

/* A timer. Zero it and set the loop and the callback. On the loop's thread only. */
typedef struct kc__loop_timer {
    kc__loop *loop;
    void (*fire)(struct kc__loop_timer *timer);
    int64_t deadline;   /* Monotonic; this field and the next are private. */
    kc_heap_node place; /* In the loop's heap while the timer runs. */
} kc__loop_timer;

/* Fires once, at the deadline or as soon as possible after it. Starting a running timer moves
 * it. O(log n) in the number of timers of the loop. */
void kc__loop_timer_start(kc__loop_timer *timer, int64_t deadline);
void kc__loop_timer_stop(kc__loop_timer *timer);

#endif
