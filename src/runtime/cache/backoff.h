/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h: the delay before the next attempt: 800 ms, doubled each time up to 30 s, each with a
 * jitter of up to 100 %. It restarts at 800 ms when no delay was requested for two minutes.
 */
#ifndef KC_RUNTIME_BACKOFF_H
#define KC_RUNTIME_BACKOFF_H

#include "kc/clock.h"
#include "kc/rand.h"

typedef struct kc__backoff {
    const kc_clock *clock;
    kc_rand rand;
    int64_t step;  /* The next delay without jitter; 0: the first. */
    int64_t since; /* When the last delay was requested. */
} kc__backoff;

#define KC__BACKOFF_FIRST (800 * KC_MILLISECOND)
#define KC__BACKOFF_MOST  (30 * KC_SECOND)
#define KC__BACKOFF_RESET (2 * KC_MINUTE)

int64_t kc__backoff_next(kc__backoff *backoff);

#endif
