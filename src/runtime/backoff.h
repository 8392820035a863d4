/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h: how long to wait before the next attempt: 800 ms, twice as long each time up to 30 s,
 * each up to doubled by chance; from the beginning when there was none for two minutes.
 */
#ifndef KC_RUNTIME_BACKOFF_H
#define KC_RUNTIME_BACKOFF_H

#include "kc/clock.h"
#include "kc/rand.h"

typedef struct kc__backoff {
    const kc_clock *clock;
    kc_rand rand;
    int64_t step;  /* The next one without chance; 0: the first. */
    int64_t since; /* When the last was asked for. */
} kc__backoff;

#define KC__BACKOFF_FIRST (800 * KC_MILLISECOND)
#define KC__BACKOFF_MOST  (30 * KC_SECOND)
#define KC__BACKOFF_RESET (2 * KC_MINUTE)

int64_t kc__backoff_next(kc__backoff *backoff);

#endif
