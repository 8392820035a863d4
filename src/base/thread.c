/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.c: threads, mutexes and latches. Conditions are cond.c.
 *
 * Mutexes are of the error-checking kind wherever assert is on; the price is a comparison, and a
 * lock that is taken twice says so instead of standing still. In a simulation, whatever blocks goes
 * to sim.c.
 */
#include "kc/thread.h"
#include "base/sim_internal.h"

#include <assert.h>
#include <stdio.h>

struct kc_thread {
    pthread_t native;
    void (*fn)(void *user);
    void *user;
    char name[16];       /* What Linux keeps of it, with the terminator. */
    kc__sim_thread *sim; /* NULL outside of simulations. */
};

static void *run(void *arg)
{
    kc_thread *thread = arg;
    pthread_setname_np(pthread_self(), thread->name);
    if (thread->sim)
        kc__sim_thread_begin(thread->sim);
    thread->fn(thread->user);
    if (thread->sim)
        kc__sim_thread_end(thread->sim);
    return NULL;
}

kc_thread *kc_thread_start(const char *name, void (*fn)(void *user), void *user, kc_error *err)
{
    kc_thread *thread = kc_new(kc_thread);
    thread->fn = fn;
    thread->user = user;
    snprintf(thread->name, sizeof(thread->name), "%.15s", name);
    if (kc__sim_self())
        thread->sim = kc__sim_thread_new(kc__sim_self(), name);
    int failed = pthread_create(&thread->native, NULL, run, thread);
    if (failed) {
        kc__sim_thread_free(thread->sim);
        free(thread);
        kc_error_set(err, KC_INTERNAL, "start thread %s: %s", name, strerrordesc_np(failed));
        return NULL;
    }
    return thread;
}

kc_thread *kc_thread_join(kc_thread *thread)
{
    if (!thread)
        return NULL;
    if (thread->sim)
        kc__sim_join(kc__sim_self(), thread->sim);
    int failed = pthread_join(thread->native, NULL);
    assert(!failed && "a thread cannot join itself");
    (void)failed;
    kc__sim_thread_free(thread->sim);
    free(thread);
    return NULL;
}

void kc_mutex_init(kc_mutex *mutex)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
#ifndef NDEBUG
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
#endif
    pthread_mutex_init(&mutex->native, &attr);
    pthread_mutexattr_destroy(&attr);
}

void kc_mutex_done(kc_mutex *mutex)
{
    int failed = pthread_mutex_destroy(&mutex->native);
    assert(!failed && "a locked mutex is freed");
    (void)failed;
}

void kc_mutex_lock(kc_mutex *mutex)
{
    if (kc__sim_self()) {
        kc__sim_lock(kc__sim_self(), mutex);
        return;
    }
    int failed = pthread_mutex_lock(&mutex->native);
    assert(!failed && "this thread holds the mutex already");
    (void)failed;
}

void kc_mutex_unlock(kc_mutex *mutex)
{
    if (kc__sim_self()) {
        kc__sim_unlock(kc__sim_self(), mutex);
        return;
    }
    int failed = pthread_mutex_unlock(&mutex->native);
    assert(!failed && "this thread does not hold the mutex");
    (void)failed;
}

void kc_latch_init(kc_latch *latch)
{
    kc_mutex_init(&latch->mutex);
    kc_cond_init(&latch->zero);
    latch->count = 0;
}

void kc_latch_done(kc_latch *latch)
{
    kc_cond_done(&latch->zero);
    kc_mutex_done(&latch->mutex);
}

void kc_latch_add(kc_latch *latch, size_t n)
{
    kc_locked (&latch->mutex)
        latch->count += n;
}

void kc_latch_count_down(kc_latch *latch)
{
    /* The broadcast stands under the mutex: nobody who waits returns, and frees the latch, before
     * it is over. */
    kc_locked (&latch->mutex) {
        assert(latch->count > 0);
        if (--latch->count == 0)
            kc_cond_broadcast(&latch->zero);
    }
}

void kc_latch_wait(kc_latch *latch)
{
    kc_latch_wait_until(latch, kc_clock_real(), KC_FOREVER);
}

bool kc_latch_wait_until(kc_latch *latch, const kc_clock *clock, int64_t deadline)
{
    bool zero = false;
    kc_locked (&latch->mutex) {
        while (latch->count > 0 && kc_cond_wait_until(&latch->zero, &latch->mutex, clock, deadline))
            ;
        zero = latch->count == 0;
    }
    return zero;
}
