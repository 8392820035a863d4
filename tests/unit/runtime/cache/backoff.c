/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cache/backoff.h"
#include "testing.h"

static void backoff_doubles_up_to_maximum_with_jitter(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc__backoff backoff = {.clock = clock};
    kc_rand_seed(&backoff.rand, 1);
    static const int64_t steps[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};
    for (size_t i = 0; i < KC_COUNT(steps); i++) {
        const int64_t wait = kc__backoff_next(&backoff);
        assert_true(wait >= steps[i] * KC_MILLISECOND && wait <= 2 * steps[i] * KC_MILLISECOND);
    }
}

static void backoff_resets_after_two_minutes(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc__backoff backoff = {.clock = clock};
    kc_rand_seed(&backoff.rand, 1);
    for (int i = 0; i < 8; i++)
        kc__backoff_next(&backoff);
    kc_clock_advance(clock, KC__BACKOFF_RESET);
    assert_true(kc__backoff_next(&backoff) >= KC__BACKOFF_MOST);
    kc_clock_advance(clock, KC__BACKOFF_RESET + 1);
    assert_true(kc__backoff_next(&backoff) <= 2 * KC__BACKOFF_FIRST);
}

TESTS(backoff_doubles_up_to_maximum_with_jitter, backoff_resets_after_two_minutes)
