/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.c: threads, mutexes and latches. cond.c has condition variables.
 *
 * With assert enabled mutexes are error-checking, at the cost of a comparison: locking twice fails
 * an assertion instead of deadlocking. In a simulation blocking operations go to sim.c.
 */
#include "kc/thread.h"
#include "base/sim_internal.h"

#include <assert.h>
#include <stdio.h>

struct kc_thread {
    pthread_t native;
    void (*fn)(void *user);
    void *user;
    char name[16];       /* As much as Linux keeps, with the terminator. */
    kc__sim_thread *sim; /* NULL outside of simulations. */
};

static void *run_thread(void *arg)
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
    int failed = pthread_create(&thread->native, NULL, run_thread, thread);
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
    assert(!failed && "a locked mutex must not be freed");
    (void)failed;
}

enum { LONGEST_PAUSE = 64 };

static void pause_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Tries for a few microseconds: a holder on another processor unlocks most mutexes sooner, and the
 * system calls to sleep and to be woken take longer. */
static bool lock_soon(pthread_mutex_t *mutex)
{
    for (unsigned pauses = 1; pthread_mutex_trylock(mutex) != 0; pauses *= 2) {
        if (pauses > LONGEST_PAUSE)
            return false;
        for (unsigned i = 0; i < pauses; i++)
            pause_processor();
    }
    return true;
}

void kc_mutex_lock(kc_mutex *mutex)
{
    if (kc__sim_self()) {
        kc__sim_lock(kc__sim_self(), mutex);
        return;
    }
    int failed = lock_soon(&mutex->native) ? 0 : pthread_mutex_lock(&mutex->native);
    assert(!failed && "this thread already holds the mutex");
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
    /* The broadcast is under the mutex: no waiting thread can return and free the latch before it
     * ends. */
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
