/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c: the real clock, and the functions common to both clocks. virtual_clock.c implements the
 * virtual one. Two kinds suffice, so a flag selects between them instead of a table of functions.
 */
#include "base/sim_internal.h"
#include "base/virtual_clock_internal.h"

#include <errno.h>
#include <time.h>

static const kc_clock real_clock = {.is_virtual = false};

const kc_clock *kc_clock_real(void)
{
    return &real_clock;
}

bool kc__clock_is_virtual(const kc_clock *clock)
{
    return clock->is_virtual;
}

static int64_t read_machine(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return now.tv_sec * KC_SECOND + now.tv_nsec;
}

int64_t kc_clock_now(const kc_clock *clock)
{
    return clock->is_virtual ? atomic_load(&clock->now) : read_machine(CLOCK_MONOTONIC);
}

int64_t kc_clock_wall(const kc_clock *clock)
{
    return clock->is_virtual ? kc__clock_virtual_wall(clock) : read_machine(CLOCK_REALTIME);
}

int64_t kc_clock_deadline(const kc_clock *clock, int64_t ns)
{
    int64_t deadline;
    if (__builtin_add_overflow(kc_clock_now(clock), ns, &deadline))
        return ns < 0 ? INT64_MIN : KC_FOREVER;
    return deadline;
}

void kc_clock_sleep(const kc_clock *clock, int64_t ns)
{
    if (ns > 0)
        kc_clock_sleep_until(clock, kc_clock_deadline(clock, ns));
}

void kc_clock_sleep_until(const kc_clock *clock, int64_t deadline)
{
    if (kc__sim_self()) {
        kc__sim_sleep_until(kc__sim_self(), clock, deadline);
        return;
    }
    if (clock->is_virtual) {
        kc__clock_waiter waiter;
        kc__clock_waiter_init(&waiter, clock, deadline);
        if (kc__clock_waiter_enter(&waiter))
            kc__clock_waiter_block(&waiter);
        kc__clock_waiter_done(&waiter);
        return;
    }
    if (deadline <= 0)
        return;
    struct timespec until = {deadline / KC_SECOND, deadline % KC_SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}
