/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h: time, passed in. Whoever needs to know the time or to wait is given a clock: the real
 * one in production, a virtual one in tests and simulation.
 *
 *     int64_t deadline = kc_clock_deadline(clock, 30 * KC_SECOND);
 *     while (!ready && kc_cond_wait_until(&cond, &mutex, clock, deadline))
 *         ;
 *
 * Times are int64_t nanoseconds. Monotonic time is for measuring and for deadlines: its zero means
 * nothing, it never goes back. Wall time is for people: nanoseconds since 1970, UTC.
 *
 * Virtual time stands still until kc_clock_advance moves it, and then wakes whoever waits for a
 * deadline that has passed, in the order of deadlines (of waiting, where they are equal). A test
 * advances when everybody sleeps:
 *
 *     kc_auto(kc_clock) *clock = kc_clock_virtual_new(start);
 *     … start two threads that wait through the clock …
 *     kc_clock_await_waiters(clock, 2);            both sleep: nothing more happens by itself
 *     kc_clock_advance(clock, 30 * KC_SECOND);
 *
 * Three rules make that work. Threads of such a plane wait only through the clock: a wait without
 * end is kc_cond_wait_until(…, KC_FOREVER), which is counted, not kc_cond_wait, which is not. A
 * thread stops being counted at the moment it is signalled or its deadline passes, not when it gets
 * to run; so "all are waiting" means that nobody has anything to do. The thread that advances does
 * not itself wait on that clock.
 *
 * All functions may be called from any thread.
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

/* Appends a length of time as Go prints it: "1h0m0s", "1.5ms", "15µs", "0s". (duration.h reads it.)
 */
void kc_duration_write(kc_buf *out, int64_t ns);

/* A deadline that never comes. */
#define KC_FOREVER INT64_MAX

/* Its users hold a const one: they may read it and wait, not move it. */
typedef struct kc_clock kc_clock;

/* The machine's clock. Shared, lives forever. */
const kc_clock *kc_clock_real(void);

/* Monotonic nanoseconds. */
int64_t kc_clock_now(const kc_clock *clock);
/* Nanoseconds since 1970. */
int64_t kc_clock_wall(const kc_clock *clock);

/* now + ns, in monotonic time; KC_FOREVER where that would not fit. */
int64_t kc_clock_deadline(const kc_clock *clock, int64_t ns);

/* Blocks until ns have passed; not at all for 0 or less. To be able to stop early, wait on a
 * condition instead (thread.h). */
void kc_clock_sleep(const kc_clock *clock, int64_t ns);
void kc_clock_sleep_until(const kc_clock *clock, int64_t deadline);

/* A clock that stands at `wall` nanoseconds since 1970. Its monotonic time starts at one second
 * rather than at 0, which some code takes for "never". The caller frees it. */
kc_clock *kc_clock_virtual_new(int64_t wall);
/* Nobody may be waiting. NULL is allowed; so is nothing else that is not virtual. Returns NULL. */
kc_clock *kc_clock_free(kc_clock *clock);
KC_AUTO_DEFINE(kc_clock, kc_clock_free)

/*
 * Moves virtual time forward (by ns, or to a monotonic time, if that is later than now) and wakes
 * everybody whose deadline has passed, who all see the new time. Does not wait for them to run.
 */
void kc_clock_advance(kc_clock *clock, int64_t ns);
void kc_clock_advance_to(kc_clock *clock, int64_t deadline);

/*
 * Lets ns pass deadline by deadline, so that everybody wakes at exactly the time waited for: waits
 * until at least `sleepers` threads wait, moves to the next deadline, and so on to the end; returns
 * when they all sleep again. Blocks for as long as one of them is at work.
 */
void kc_clock_run(kc_clock *clock, int64_t ns, size_t sleepers);

/* The earliest deadline somebody waits for, in virtual time. False, and *ret_deadline untouched,
 * when there is none (waiting forever does not count). */
bool kc_clock_next_deadline(const kc_clock *clock, int64_t *ret_deadline);

/* How many threads wait on a virtual clock, forever or not. */
size_t kc_clock_waiters(const kc_clock *clock);
/* Blocks until at least n do. */
void kc_clock_await_waiters(const kc_clock *clock, size_t n);

#endif
