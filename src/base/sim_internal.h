/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_internal.h: the interface of a simulation for thread.c, cond.c and clock.c.
 *
 * Each of them first calls kc__sim_self(): NULL outside of simulations, at the cost of reading a
 * thread-local variable. Inside, blocking operations call the functions below, which let other
 * threads run meanwhile.
 */
#ifndef KC_BASE_SIM_INTERNAL_H
#define KC_BASE_SIM_INTERNAL_H

#include "kc/sim.h"

typedef struct kc__sim_thread kc__sim_thread;

/* The calling thread's record in its simulation. */
extern _Thread_local kc__sim_thread *kc__sim_current_thread;

static inline kc__sim_thread *kc__sim_self(void)
{
    return kc__sim_current_thread;
}

/* A thread that `by` is about to start; it is ready. */
kc__sim_thread *kc__sim_thread_new(kc__sim_thread *by, const char *name);
/* After it was joined, or if it never started. */
void kc__sim_thread_free(kc__sim_thread *thread);
/* First and last calls of the new thread. */
void kc__sim_thread_begin(kc__sim_thread *thread);
void kc__sim_thread_end(kc__sim_thread *thread);
void kc__sim_join(kc__sim_thread *me, kc__sim_thread *other);

void kc__sim_lock(kc__sim_thread *me, kc_mutex *mutex);
void kc__sim_unlock(kc__sim_thread *me, kc_mutex *mutex);
/* As kc_cond_wait_until. */
bool kc__sim_wait(kc__sim_thread *me, kc_cond *cond, kc_mutex *mutex, const kc_clock *clock,
                  int64_t deadline);
/* Wakes up to `most` threads of the simulation that wait for the condition variable. */
void kc__sim_wake(kc__sim_thread *me, const kc_cond *cond, size_t most);
void kc__sim_sleep_until(kc__sim_thread *me, const kc_clock *clock, int64_t deadline);

#endif
