/* SPDX-License-Identifier: Apache-2.0 */
/* virtual_clock_internal.h: the internals of a clock, for clock.c and virtual_clock.c only. */
#ifndef KC_BASE_VIRTUAL_CLOCK_INTERNAL_H
#define KC_BASE_VIRTUAL_CLOCK_INTERNAL_H

#include "base/clock_internal.h"
#include "kc/thread.h"

struct kc_clock {
    bool is_virtual; /* The real clock uses none of the following members. */
    int64_t start_wall;
    _Atomic int64_t now;   /* Written with the mutex held, read without. */
    _Atomic size_t asleep; /* Incremented and read with the mutex held, decremented by
                            * kc__clock_waiter_wake without. */
    kc_mutex mutex;        /* Guards what follows. Innermost lock. */
    kc_heap waiters;       /* By deadline. May contain some that were signalled and have not run. */
    uint64_t turns;        /* Number of waits so far. */
    kc_cond waiter_added;  /* For kc_clock_await_waiters. */
};

int64_t kc__clock_virtual_wall(const kc_clock *clock);

#endif
