/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.c: delays between attempts to reach a server. Delays grow and are jittered, so that
 * clients of a failing server do not all return at once. The values are those of client-go's
 * reflector.
 */
#include "runtime/cache/backoff.h"

int64_t kc__backoff_next(kc__backoff *backoff)
{
    const int64_t now = kc_clock_now(backoff->clock);
    if (!backoff->step || now - backoff->since > KC__BACKOFF_RESET)
        backoff->step = KC__BACKOFF_FIRST;
    backoff->since = now;
    const int64_t wait = kc_rand_jitter(&backoff->rand, backoff->step, 1.0);
    backoff->step = KC_MIN(backoff->step * 2, KC__BACKOFF_MOST);
    return wait;
}
