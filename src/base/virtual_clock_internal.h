/* SPDX-License-Identifier: Apache-2.0 */
/* virtual_clock_internal.h: the inside of a clock, for clock.c and virtual_clock.c only. */
#ifndef KC_BASE_VIRTUAL_CLOCK_INTERNAL_H
#define KC_BASE_VIRTUAL_CLOCK_INTERNAL_H

#include "base/clock_internal.h"
#include "kc/thread.h"

struct kc_clock {
    bool is_virtual; /* The real one uses nothing of what follows. */
    int64_t start_wall;
    _Atomic int64_t now; /* Written with the mutex held, read without. */
    _Atomic size_t
        asleep;      /* Raised and read with the mutex held, lowered by kc__waiter_wake without. */
    kc_mutex mutex;  /* Guards what follows. No other lock is taken under it. */
    kc_heap waiters; /* By deadline. May hold some that were signalled and have not run. */
    uint64_t turns;  /* Waits so far. */
    kc_cond fell_asleep; /* For kc_clock_await_waiters. */
};

int64_t kc__virtual_wall(const kc_clock *clock);

#endif
