/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/backoff.h"
#include "testing.h"

static void waits_double_up_to_the_most_and_chance_adds_up_to_as_much(void **state)
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

static void after_two_quiet_minutes_it_begins_anew(void **state)
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

TESTS(waits_double_up_to_the_most_and_chance_adds_up_to_as_much,
      after_two_quiet_minutes_it_begins_anew)
