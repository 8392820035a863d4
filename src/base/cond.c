/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cond.c: condition variables, in real and in virtual time.
 *
 * In real time they are pthread condition variables on the monotonic clock. For virtual time those
 * do not suffice: the passing of time must wake the thread, too, and the clock may neither take the
 * caller's mutex (that would violate the lock order) nor access the condition variable after its
 * owner freed it. So such a thread is in a list of the condition variable, with its own semaphore;
 * clock_internal.h describes how signal and clock agree on which of them wakes it.
 *
 * Lock order: the caller's mutex, then the condition variable's lock. The clock's mutex is never
 * held together with the latter.
 */
#include "base/clock_internal.h"
#include "base/sim_internal.h"
#include "kc/thread.h"

#include <assert.h>
#include <errno.h>

void kc_cond_init(kc_cond *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&cond->native, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&cond->lock, NULL);
    kc_dlist_init(&cond->virtual_waiters);
    atomic_init(&cond->virtual_count, 0);
}

void kc_cond_done(kc_cond *cond)
{
    assert(kc_dlist_empty(&cond->virtual_waiters));
    pthread_cond_destroy(&cond->native);
    pthread_mutex_destroy(&cond->lock);
}

void kc_cond_wait(kc_cond *cond, kc_mutex *mutex)
{
    if (kc__sim_self()) {
        kc__sim_wait(kc__sim_self(), cond, mutex, NULL, KC_FOREVER);
        return;
    }
    int failed = pthread_cond_wait(&cond->native, &mutex->native);
    assert(!failed && "the mutex must be held by this thread");
    (void)failed;
}

static bool real_wait(kc_cond *cond, kc_mutex *mutex, int64_t deadline)
{
    int64_t at = KC_MAX(deadline, 0);
    struct timespec until = {at / KC_SECOND, at % KC_SECOND};
    int failed = pthread_cond_timedwait(&cond->native, &mutex->native, &until);
    assert((!failed || failed == ETIMEDOUT) && "the mutex must be held by this thread");
    return failed != ETIMEDOUT;
}

static void join(kc_cond *cond, kc__clock_waiter *waiter)
{
    pthread_mutex_lock(&cond->lock);
    kc_dlist_push(&cond->virtual_waiters, &waiter->link);
    atomic_fetch_add(&cond->virtual_count, 1);
    pthread_mutex_unlock(&cond->lock);
}

/* The lock is held. */
static void take_out(kc_cond *cond, kc__clock_waiter *waiter)
{
    kc_dlist_remove(&waiter->link);
    atomic_fetch_sub(&cond->virtual_count, 1);
}

/* Also ensures that the thread that signalled the waiter no longer accesses it. */
static void leave_cond_wait(kc_cond *cond, kc__clock_waiter *waiter)
{
    pthread_mutex_lock(&cond->lock);
    if (kc_dlist_is_linked(&waiter->link))
        take_out(cond, waiter);
    pthread_mutex_unlock(&cond->lock);
}

static bool virtual_wait(kc_cond *cond, kc_mutex *mutex, const kc_clock *clock, int64_t deadline)
{
    kc__clock_waiter waiter;
    kc__clock_waiter_init(&waiter, clock, deadline);
    join(cond, &waiter);
    if (kc__clock_waiter_enter(&waiter)) {
        kc_mutex_unlock(mutex);
        kc__clock_waiter_block(&waiter);
        leave_cond_wait(cond, &waiter);
        kc_mutex_lock(mutex);
    } else {
        leave_cond_wait(cond, &waiter);
    }
    bool signalled = atomic_load(&waiter.state) == KC__CLOCK_WAIT_SIGNALLED;
    kc__clock_waiter_done(&waiter);
    return signalled;
}

bool kc_cond_wait_until(kc_cond *cond, kc_mutex *mutex, const kc_clock *clock, int64_t deadline)
{
    if (kc__sim_self())
        return kc__sim_wait(kc__sim_self(), cond, mutex, clock, deadline);
    if (kc__clock_is_virtual(clock))
        return virtual_wait(cond, mutex, clock, deadline);
    if (deadline != KC_FOREVER)
        return real_wait(cond, mutex, deadline);
    kc_cond_wait(cond, mutex);
    return true;
}

/*
 * Wakes up to `most` of the threads that wait in virtual time. Reads the count without the lock: a
 * waiter increments it while holding the caller's mutex, and the signalled condition changes under
 * the same mutex, so the count includes every thread that must be woken.
 */
static void wake_virtual(kc_cond *cond, size_t most)
{
    if (atomic_load(&cond->virtual_count) == 0)
        return;
    pthread_mutex_lock(&cond->lock);
    kc_dlist_each (&cond->virtual_waiters, kc__clock_waiter, link, waiter) {
        if (most == 0)
            break;
        take_out(cond, waiter);
        if (kc__clock_waiter_wake(waiter, KC__CLOCK_WAIT_SIGNALLED))
            most--;
    }
    pthread_mutex_unlock(&cond->lock);
}

void kc_cond_signal(kc_cond *cond)
{
    if (kc__sim_self())
        kc__sim_wake(kc__sim_self(), cond, 1);
    pthread_cond_signal(&cond->native);
    wake_virtual(cond, 1);
}

void kc_cond_broadcast(kc_cond *cond)
{
    if (kc__sim_self())
        kc__sim_wake(kc__sim_self(), cond, SIZE_MAX);
    pthread_cond_broadcast(&cond->native);
    wake_virtual(cond, SIZE_MAX);
}
