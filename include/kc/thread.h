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
 * Thin over pthreads. Wherever assert is on, mutexes check their use: locking twice, unlocking what
 * another thread locked, or freeing a locked one ends the process there. Waiting with a deadline
 * goes through a clock, real or virtual (clock.h).
 */
#ifndef KC_THREAD_H
#define KC_THREAD_H

#include "kc/clock.h"
#include "kc/error.h"
#include "kc/list.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- threads ---- */

typedef struct kc_thread kc_thread;

/* Starts a thread that runs fn(user). The name (its first 15 bytes) is shown by debuggers and ps.
 * NULL when the system has no room for another thread. To be joined. */
kc_thread *kc_thread_start(const char *name, void (*fn)(void *user), void *user, kc_error *err);
/* Blocks until fn has returned, and frees the thread. NULL is allowed. Returns NULL. */
kc_thread *kc_thread_join(kc_thread *thread);

/* ---- mutual exclusion ---- */

/* Lives inside what it guards; say there which fields, and its place in the lock order. */
typedef struct kc_mutex {
    pthread_mutex_t native;
} kc_mutex;

void kc_mutex_init(kc_mutex *mutex);
void kc_mutex_done(kc_mutex *mutex);
void kc_mutex_lock(kc_mutex *mutex);
void kc_mutex_unlock(kc_mutex *mutex);

/*
 * Runs the block that follows with the mutex locked. Leaving it by return, goto or break unlocks
 * too; break and continue leave this block, not a loop around it.
 */
#define kc_locked(mutex) KC__LOCKED(mutex, __COUNTER__)

/* ---- conditions ---- */

/*
 * Waiting may end without a reason, so it always stands in a loop that looks again. Threads that
 * wait in virtual time are woken in the order they came.
 */
typedef struct kc_cond {
    pthread_cond_t native;        /* For those who wait in real time. */
    pthread_mutex_t lock;         /* Guards `virtual_waiters`. Taken last, nothing is under it. */
    kc_list virtual_waiters;      /* Of kc__waiter. */
    _Atomic size_t virtual_count; /* Of those: lets a signal skip the lock. */
} kc_cond;

void kc_cond_init(kc_cond *cond);
void kc_cond_done(kc_cond *cond);

/* Unlocks the mutex, waits to be signalled, locks it again. In real time, and so not counted by a
 * virtual clock. */
void kc_cond_wait(kc_cond *cond, kc_mutex *mutex);
/* The same until a deadline in the clock's monotonic time (KC_FOREVER: none). False when the
 * deadline has passed. */
bool kc_cond_wait_until(kc_cond *cond, kc_mutex *mutex, const kc_clock *clock, int64_t deadline);

/* Wakes one thread (of each kind of clock), or all. With the mutex held or not. */
void kc_cond_signal(kc_cond *cond);
void kc_cond_broadcast(kc_cond *cond);

/* ---- latches ---- */

/*
 * Waits for a number of things to be done:
 *
 *     kc_latch_add(&latch, 3);        … three threads each call kc_latch_count_down(&latch) …
 *     kc_latch_wait(&latch);
 *
 * May be used again once it was down to zero.
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
/* The same; false when the deadline passed before. */
bool kc_latch_wait_until(kc_latch *latch, const kc_clock *clock, int64_t deadline);

/* ---- behind the macros ---- */

#define KC__LOCKED(mutex, n) KC__LOCKED_AS(mutex, n)
#define KC__LOCKED_AS(mutex, n)                                                    \
    for (kc_mutex * guard_##n##_                                                   \
             __attribute__((cleanup(kc__unlock_guard))) = kc__lock_guarded(mutex), \
             *once_##n##_ = guard_##n##_;                                          \
         once_##n##_; once_##n##_ = NULL)

static inline kc_mutex *kc__lock_guarded(kc_mutex *mutex)
{
    kc_mutex_lock(mutex);
    return mutex;
}

static inline void kc__unlock_guard(kc_mutex **guard)
{
    kc_mutex_unlock(*guard);
}

#endif
