/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h: threads that take turns: the same program, run so that a seed decides everything.
 *
 *     kc_auto(kc_sim) *sim = kc_sim_new(7, start);
 *     kc_sim_enter(sim);                                    this thread is the first of it
 *     … start servers, caches, controllers with kc_sim_clock(sim) …
 *     kc_sim_run_for(sim, 10 * KC_SECOND);                  virtual seconds, as fast as it goes
 *     … stop all of it …
 *     kc_sim_leave(sim);
 *
 * Threads started by a thread of a simulation belong to it (kc_thread_start). They are real
 * threads, but only one of them runs at any time: when it waits (for a condition, a lock, a latch,
 * a thread, a deadline), the simulation chooses who goes on, by the seed, among all that could; now
 * and then it chooses anew where a lock is taken, too. When nobody could, virtual time jumps to the
 * next deadline. So everything that happens is a function of the seed and of the program: a run
 * that failed can be had again.
 *
 * For that the program may wait only through thread.h, read time only from the simulation's clock,
 * and take chance only from the seed. When nobody can go on and nobody has a deadline, the process
 * ends and says who waits for what.
 */
#ifndef KC_SIM_H
#define KC_SIM_H

#include "kc/rand.h"
#include "kc/thread.h"

typedef struct kc_sim kc_sim;

/* Its clock stands at `wall` nanoseconds since 1970. */
kc_sim *kc_sim_new(uint64_t seed, int64_t wall);
/* Only the thread that entered is left. NULL is allowed; returns NULL. */
kc_sim *kc_sim_free(kc_sim *sim);
KC_AUTO_DEFINE(kc_sim, kc_sim_free)

void kc_sim_enter(kc_sim *sim);
void kc_sim_leave(kc_sim *sim);
/* The simulation the calling thread belongs to, or NULL. */
kc_sim *kc_sim_current(void);

const kc_clock *kc_sim_clock(const kc_sim *sim);
/* A generator of its own for whoever needs one; the same one by one in every run. */
kc_rand kc_sim_rand(kc_sim *sim);

/* Lets the others run: until none of them could without time passing. */
void kc_sim_settle(kc_sim *sim);
/* Lets time pass, deadline by deadline, everybody running at the time waited for. */
void kc_sim_run_for(kc_sim *sim, int64_t ns);
/* Lets another thread go first, perhaps. */
void kc_sim_yield(kc_sim *sim);
/* How many choices were made so far: equal in equal runs. */
uint64_t kc_sim_choices(const kc_sim *sim);

#endif
