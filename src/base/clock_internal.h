/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_internal.h: one thread's wait in virtual time, shared by condition variables (cond.c) and
 * the virtual clock (virtual_clock.c).
 *
 * A waiter lives on the stack of the waiting thread. Two parties may wake it: a signal, which finds
 * it in the condition variable's list, and the clock, which finds it in its heap. They never hold
 * each other's lock; the state decides between them, by compare-and-swap:
 *
 *     NEW ──enter──▶ ASLEEP ──▶ SIGNALLED   by a signal, holding the condition variable's lock
 *      │                   └──▶ DUE         by the clock, holding the clock's lock
 *      └──▶ SIGNALLED                       before it fell asleep
 *
 * The party that leaves ASLEEP decrements the clock's count of sleepers in the same step, so that a
 * thread that was woken but has not run yet does not count as sleeping. A signal that is too late
 * for a waiter that is DUE goes to the next waiter, so no signal is lost.
 *
 * Before its stack frame ends, a waiter leaves the list and the heap, each under its lock: then no
 * waking thread can still access it.
 */
#ifndef KC_BASE_CLOCK_INTERNAL_H
#define KC_BASE_CLOCK_INTERNAL_H

#include "kc/clock.h"
#include "kc/dlist.h"
#include "kc/heap.h"

#include <semaphore.h>
#include <stdatomic.h>

typedef enum kc__clock_wait_state {
    KC__CLOCK_WAIT_NEW,
    KC__CLOCK_WAIT_ASLEEP,
    KC__CLOCK_WAIT_SIGNALLED,
    KC__CLOCK_WAIT_DUE,
} kc__clock_wait_state;

typedef struct kc__clock_waiter {
    kc_clock *clock;
    int64_t deadline;
    uint64_t turn;      /* Orders equal deadlines: first in, first woken. */
    kc_heap_node node;  /* In the clock's heap; guarded by the clock's mutex. */
    kc_dlist_link link; /* In a condition variable's list; guarded by its lock. */
    _Atomic kc__clock_wait_state state;
    sem_t woken; /* Posted once, by the thread that wakes it. */
} kc__clock_waiter;

bool kc__clock_is_virtual(const kc_clock *clock);

void kc__clock_waiter_init(kc__clock_waiter *waiter, const kc_clock *clock, int64_t deadline);
void kc__clock_waiter_done(kc__clock_waiter *waiter);

/* Counts the waiter as asleep. False when it need not wait: it is DUE or already SIGNALLED. */
bool kc__clock_waiter_enter(kc__clock_waiter *waiter);
/* Blocks until woken, and leaves the clock. Only after kc__clock_waiter_enter returned true. */
void kc__clock_waiter_block(kc__clock_waiter *waiter);
/* True when this call woke the waiter; false when it was already awake. */
bool kc__clock_waiter_wake(kc__clock_waiter *waiter, kc__clock_wait_state why);

#endif
