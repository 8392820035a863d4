/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h: time as a dependency. Code that reads the time or waits takes a clock: the real one in
 * production, a virtual one in tests and simulations.
 *
 *     int64_t deadline = kc_clock_deadline(clock, 30 * KC_SECOND);
 *     while (!ready && kc_cond_wait_until(&cond, &mutex, clock, deadline))
 *         ;
 *
 * Times are int64_t nanoseconds. Monotonic time is for measuring and for deadlines: its zero has no
 * meaning and it never goes back. Wall time is nanoseconds since 1970, UTC.
 *
 * Virtual time stands still until kc_clock_advance moves it. The clock then wakes the threads whose
 * deadlines have passed, in the order of deadlines (first waiter first where they are equal). A
 * test advances the clock when all threads wait:
 *
 *     kc_auto(kc_clock) *clock = kc_clock_virtual_new(start);
 *     … start two threads that wait through the clock …
 *     kc_clock_await_waiters(clock, 2);            both wait: nothing more happens by itself
 *     kc_clock_advance(clock, 30 * KC_SECOND);
 *
 * Three rules make that work. (1) Threads wait only through the clock: an endless wait is
 * kc_cond_wait_until(…, KC_FOREVER), which the clock counts, not kc_cond_wait, which it does not.
 * (2) A thread stops being counted at the moment it is signalled or its deadline passes, not when
 * it is scheduled, so "all are waiting" means that no thread has work to do. (3) The thread that
 * advances the clock does not wait on it.
 *
 * All functions are thread-safe.
 */
#ifndef KC_CLOCK_H
#define KC_CLOCK_H

#include "kc/buf.h"

#define KC_NANOSECOND  INT64_C(1)
#define KC_MICROSECOND (1000 * KC_NANOSECOND)
#define KC_MILLISECOND (1000 * KC_MICROSECOND)
#define KC_SECOND      (1000 * KC_MILLISECOND)
#define KC_MINUTE      (60 * KC_SECOND)
#define KC_HOUR        (60 * KC_MINUTE)

/* Appends a duration as Go prints it: "1h0m0s", "1.5ms", "15µs", "0s". (duration.h parses it.) */
void kc_duration_write(kc_buf *out, int64_t ns);

/* A deadline that never comes. */
#define KC_FOREVER INT64_MAX

/* Users hold a const pointer: they may read the time and wait, but not advance it. */
typedef struct kc_clock kc_clock;

/* The system clock. Shared; never freed. */
const kc_clock *kc_clock_real(void);

/* Monotonic nanoseconds. */
int64_t kc_clock_now(const kc_clock *clock);
/* Nanoseconds since 1970. */
int64_t kc_clock_wall(const kc_clock *clock);

/* now + ns, in monotonic time; KC_FOREVER where that would not fit. */
int64_t kc_clock_deadline(const kc_clock *clock, int64_t ns);

/* Blocks for ns nanoseconds; returns at once for 0 or less. If the wait must be cancellable, wait
 * on a condition variable instead (thread.h). */
void kc_clock_sleep(const kc_clock *clock, int64_t ns);
void kc_clock_sleep_until(const kc_clock *clock, int64_t deadline);

/* A virtual clock whose wall time is `wall` nanoseconds since 1970. Its monotonic time starts at
 * one second because some code uses 0 for "never". The caller frees it. */
kc_clock *kc_clock_virtual_new(int64_t wall);
/* Frees a virtual clock. No thread may be waiting on it. NULL is allowed; returns NULL. */
kc_clock *kc_clock_free(kc_clock *clock);
KC_AUTO_DEFINE(kc_clock, kc_clock_free)

/*
 * Moves virtual time forward (by ns, or to a monotonic time if that is later than now) and wakes
 * all threads whose deadlines have passed; all see the new time. Does not wait for them to run.
 */
void kc_clock_advance(kc_clock *clock, int64_t ns);
void kc_clock_advance_to(kc_clock *clock, int64_t deadline);

/*
 * Advances by ns from deadline to deadline, so that each thread wakes exactly at its deadline:
 * waits until at least `sleepers` threads wait, moves to the next deadline, and repeats. Returns
 * when all wait again. Blocks while one of them runs.
 */
void kc_clock_run(kc_clock *clock, int64_t ns, size_t sleepers);

/* The earliest deadline of a waiting thread, in virtual time. False, with *ret_deadline untouched,
 * when there is none (endless waits do not count). */
bool kc_clock_next_deadline(const kc_clock *clock, int64_t *ret_deadline);

/* Number of threads that wait on a virtual clock, with or without a deadline. */
size_t kc_clock_waiters(const kc_clock *clock);
/* Blocks until at least n threads wait on the clock. */
void kc_clock_await_waiters(const kc_clock *clock, size_t n);

#endif
