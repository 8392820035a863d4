/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h: threads, locks and waiting.
 *
 *     kc_locked (&queue->mutex) {                   unlocked however the block is left
 *         while (!queue->n)
 *             if (!kc_cond_wait_until(&queue->more, &queue->mutex, clock, deadline))
 *                 return NULL;
 *     }
 *
 * A thin layer over pthreads. If assert is enabled, mutexes check their use: locking twice,
 * unlocking from another thread, or freeing a locked mutex ends the process. Waiting with a
 * deadline goes through a clock, real or virtual (clock.h).
 */
#ifndef KC_THREAD_H
#define KC_THREAD_H

#include "kc/clock.h"
#include "kc/dlist.h"
#include "kc/error.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- threads ---- */

typedef struct kc_thread kc_thread;

/* Starts a thread that runs fn(user). Debuggers and ps show the name (its first 15 bytes). NULL
 * when the system cannot create a thread. Must be joined. */
kc_thread *kc_thread_start(const char *name, void (*fn)(void *user), void *user, kc_error *err);
/* Blocks until fn has returned, and frees the thread. NULL is allowed. Returns NULL. */
kc_thread *kc_thread_join(kc_thread *thread);

/* ---- mutual exclusion ---- */

/* Embedded in what it guards; its comment names the guarded fields and its place in the lock order.
 */
typedef struct kc_mutex {
    pthread_mutex_t native;
} kc_mutex;

void kc_mutex_init(kc_mutex *mutex);
void kc_mutex_done(kc_mutex *mutex);
void kc_mutex_lock(kc_mutex *mutex);
void kc_mutex_unlock(kc_mutex *mutex);

/*
 * Runs the following block with the mutex locked. Leaving it by return, goto or break unlocks, too;
 * break and continue leave this block, not a loop around it.
 */
#define kc_locked(mutex) KC__THREAD_LOCKED(mutex, __COUNTER__)

/* ---- condition variables ---- */

/*
 * Wakeups can be spurious, so wait in a loop that checks the condition. Threads that wait in
 * virtual time are woken in the order in which they started waiting.
 */
typedef struct kc_cond {
    pthread_cond_t native;        /* For waits in real time. */
    pthread_mutex_t lock;         /* Guards `virtual_waiters`. Innermost lock. */
    kc_dlist virtual_waiters;     /* Of kc__clock_waiter. */
    _Atomic size_t virtual_count; /* Their number: lets a signal skip the lock. */
} kc_cond;

void kc_cond_init(kc_cond *cond);
void kc_cond_done(kc_cond *cond);

/* Unlocks the mutex, waits for a signal, locks it again. In real time, so a virtual clock does not
 * count it. */
void kc_cond_wait(kc_cond *cond, kc_mutex *mutex);
/* The same until a deadline in the clock's monotonic time (KC_FOREVER: none). False when the
 * deadline has passed. */
bool kc_cond_wait_until(kc_cond *cond, kc_mutex *mutex, const kc_clock *clock, int64_t deadline);

/* Wake one thread (of each kind of clock), or all. With or without the mutex held. */
void kc_cond_signal(kc_cond *cond);
void kc_cond_broadcast(kc_cond *cond);

/* ---- latches ---- */

/*
 * Waits until a number of operations are done:
 *
 *     kc_latch_add(&latch, 3);        … three threads each call kc_latch_count_down(&latch) …
 *     kc_latch_wait(&latch);
 *
 * May be reused after the count reached zero.
 */
typedef struct kc_latch {
    kc_mutex mutex; /* Guards count. */
    kc_cond zero;
    size_t count;
} kc_latch;

void kc_latch_init(kc_latch *latch);
/* May be called as soon as all waits have returned, even if the last kc_latch_count_down has not.
 */
void kc_latch_done(kc_latch *latch);

void kc_latch_add(kc_latch *latch, size_t n);
/* The count must not be zero. */
void kc_latch_count_down(kc_latch *latch);
/* Blocks until the count is zero. In real time, as kc_cond_wait. */
void kc_latch_wait(kc_latch *latch);
/* The same; false when the deadline passed first. */
bool kc_latch_wait_until(kc_latch *latch, const kc_clock *clock, int64_t deadline);

/* ---- implementation of the macros ---- */

#define KC__THREAD_LOCKED(mutex, n) KC__THREAD_LOCKED_AS(mutex, n)
#define KC__THREAD_LOCKED_AS(mutex, n)                                                           \
    for (kc_mutex * guard_##n##_                                                                 \
             __attribute__((cleanup(kc__thread_unlock_guard))) = kc__thread_lock_guarded(mutex), \
             *once_##n##_ = guard_##n##_;                                                        \
         once_##n##_; once_##n##_ = NULL)

static inline kc_mutex *kc__thread_lock_guarded(kc_mutex *mutex)
{
    kc_mutex_lock(mutex);
    return mutex;
}

static inline void kc__thread_unlock_guard(kc_mutex **guard)
{
    kc_mutex_unlock(*guard);
}

#endif
