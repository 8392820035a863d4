/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h: deterministic simulation: threads take turns, and a seed determines the whole run.
 *
 *     kc_auto(kc_sim) *sim = kc_sim_new(7, start);
 *     kc_sim_enter(sim);                                    makes this its first thread
 *     … start servers, caches, controllers with kc_sim_clock(sim) …
 *     kc_sim_run_for(sim, 10 * KC_SECOND);                  virtual seconds, as fast as possible
 *     … stop all of it …
 *     kc_sim_leave(sim);
 *
 * Threads started by a thread of a simulation belong to it (kc_thread_start). They are real
 * threads, but only one runs at a time. When it waits (for a condition variable, a lock, a latch, a
 * thread, a deadline), the simulation picks the next among all runnable threads, by the seed;
 * sometimes it also switches where a lock is taken. When no thread is runnable, virtual time jumps
 * to the next deadline. So a run is a function of the seed and the program: a failed run can be
 * repeated.
 *
 * For that, the program must wait only through thread.h, read time only from the simulation's
 * clock, and derive all randomness from the seed. When no thread is runnable and none has a
 * deadline, the process ends with a report of all waiting threads.
 */
#ifndef KC_SIM_H
#define KC_SIM_H

#include "kc/rand.h"
#include "kc/thread.h"

typedef struct kc_sim kc_sim;

/* A simulation whose clock starts at `wall` nanoseconds since 1970. */
kc_sim *kc_sim_new(uint64_t seed, int64_t wall);
/* Only the thread that entered may be left. NULL is allowed; returns NULL. */
kc_sim *kc_sim_free(kc_sim *sim);
KC_AUTO_DEFINE(kc_sim, kc_sim_free)

void kc_sim_enter(kc_sim *sim);
void kc_sim_leave(kc_sim *sim);
/* The simulation of the calling thread, or NULL. */
kc_sim *kc_sim_current(void);

const kc_clock *kc_sim_clock(const kc_sim *sim);
/* A new generator; the n-th call returns the same one in every run. */
kc_rand kc_sim_rand(kc_sim *sim);

/* Runs the other threads until none is runnable without time passing. */
void kc_sim_settle(kc_sim *sim);
/* Advances time from deadline to deadline; each thread wakes exactly at its deadline. */
void kc_sim_run_for(kc_sim *sim, int64_t ns);
/* A scheduling point: another thread may run first. */
void kc_sim_yield(kc_sim *sim);
/* The number of scheduling decisions so far: equal in equal runs. */
uint64_t kc_sim_choices(const kc_sim *sim);

#endif
