/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_internal.h: where thread.c, cond.c and clock.c turn to a simulation.
 *
 * Each of them first asks kc__sim_self(): NULL outside of simulations, at the price of reading a
 * thread-local variable. Inside, what would block goes to the functions below, which let others run
 * meanwhile.
 */
#ifndef KC_BASE_SIM_INTERNAL_H
#define KC_BASE_SIM_INTERNAL_H

#include "kc/sim.h"

typedef struct kc__sim_thread kc__sim_thread;

/* The calling thread's part in its simulation. */
extern _Thread_local kc__sim_thread *kc__sim_me;

static inline kc__sim_thread *kc__sim_self(void)
{
    return kc__sim_me;
}

/* A thread that is about to be started by `by`; it can go on from now. */
kc__sim_thread *kc__sim_thread_new(kc__sim_thread *by, const char *name);
/* Joined, or never started. */
void kc__sim_thread_free(kc__sim_thread *thread);
/* First and last of what the new thread does itself. */
void kc__sim_thread_begin(kc__sim_thread *thread);
void kc__sim_thread_end(kc__sim_thread *thread);
void kc__sim_join(kc__sim_thread *me, kc__sim_thread *other);

void kc__sim_lock(kc__sim_thread *me, kc_mutex *mutex);
void kc__sim_unlock(kc__sim_thread *me, kc_mutex *mutex);
/* As kc_cond_wait_until. */
bool kc__sim_wait(kc__sim_thread *me, kc_cond *cond, kc_mutex *mutex, const kc_clock *clock,
                  int64_t deadline);
/* Wakes up to `most` of those of the simulation who wait for it. */
void kc__sim_wake(kc__sim_thread *me, const kc_cond *cond, size_t most);
void kc__sim_sleep_until(kc__sim_thread *me, const kc_clock *clock, int64_t deadline);

#endif
