/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_internal.h: what conditions (cond.c) and the virtual clock (virtual_clock.c) share: one
 * thread's wait in virtual time.
 *
 * A waiter lives on the stack of the thread that waits. Two parties may wake it: a signal, which
 * finds it in the condition's list, and the clock, which finds it in its heap. They never hold each
 * other's lock; the state decides between them, by compare-and-swap:
 *
 *     NEW ──enter──▶ ASLEEP ──▶ SIGNALLED   by a signal, holding the condition's lock
 *      │                   └──▶ DUE         by the clock, holding the clock's lock
 *      └──▶ SIGNALLED                       before it fell asleep
 *
 * Whoever leaves ASLEEP lowers the clock's count of sleepers in the same step, so that a thread
 * that was woken but has not run yet is not taken for one that sleeps. A signal that comes too late
 * for a waiter that is DUE goes to the next one, so none is lost.
 *
 * Before its stack frame goes, a waiter has left the list and the heap, each under its lock: by
 * then nobody who woke it can still be touching it.
 */
#ifndef KC_BASE_CLOCK_INTERNAL_H
#define KC_BASE_CLOCK_INTERNAL_H

#include "kc/clock.h"
#include "kc/heap.h"
#include "kc/list.h"

#include <semaphore.h>
#include <stdatomic.h>

typedef enum kc__wait_state {
    KC__WAIT_NEW,
    KC__WAIT_ASLEEP,
    KC__WAIT_SIGNALLED,
    KC__WAIT_DUE,
} kc__wait_state;

typedef struct kc__waiter {
    kc_clock *clock;
    int64_t deadline;
    uint64_t turn;     /* Orders equal deadlines: first come, first woken. */
    kc_heap_node node; /* In the clock's heap; guarded by the clock's mutex. */
    kc_link link;      /* In a condition's list; guarded by that condition's lock. */
    _Atomic kc__wait_state state;
    sem_t woken; /* Posted once, by whoever woke it. */
} kc__waiter;

bool kc__clock_is_virtual(const kc_clock *clock);

void kc__waiter_init(kc__waiter *waiter, const kc_clock *clock, int64_t deadline);
void kc__waiter_done(kc__waiter *waiter);

/* Counts it as asleep. False when there is nothing to wait for: it is DUE, or SIGNALLED already. */
bool kc__waiter_enter(kc__waiter *waiter);
/* Blocks until it was woken, and leaves the clock. Only after kc__waiter_enter was true. */
void kc__waiter_block(kc__waiter *waiter);
/* True when this call woke it; false when somebody else did before. */
bool kc__waiter_wake(kc__waiter *waiter, kc__wait_state why);

#endif
