/* SPDX-License-Identifier: Apache-2.0 */
/* The delay of a failed key, for each limiter. */
#include "kc/rate_limit.h"

#include "testing.h"

#include <stdio.h>

#define A KC_KEY("ns", "a")
#define B KC_KEY("ns", "b")

static void delay_doubles_with_failures_up_to_the_cap(void **state)
{
    (void)state;
    kc_auto(kc_rate_limiter) *limiter = kc_rate_limiter_exponential(KC_MILLISECOND, KC_SECOND);
    for (int i = 0; i < 10; i++)
        assert_int_equal(kc_rate_limiter_when(limiter, A), KC_MILLISECOND << i);
    assert_int_equal(kc_rate_limiter_when(limiter, A), KC_SECOND);
    for (int i = 0; i < 2000; i++)
        assert_int_equal(kc_rate_limiter_when(limiter, A), KC_SECOND);
    assert_int_equal(kc_rate_limiter_num_requeues(limiter, A), 2011);
}

static void success_forgets_one_key_only(void **state)
{
    (void)state;
    kc_auto(kc_rate_limiter) *limiter = kc_rate_limiter_exponential(KC_MILLISECOND, KC_SECOND);
    kc_rate_limiter_when(limiter, A);
    kc_rate_limiter_when(limiter, A);
    kc_rate_limiter_when(limiter, B);
    kc_rate_limiter_forget(limiter, A);
    kc_rate_limiter_forget(limiter, A);
    assert_int_equal(kc_rate_limiter_num_requeues(limiter, A), 0);
    assert_int_equal(kc_rate_limiter_when(limiter, A), KC_MILLISECOND);
    assert_int_equal(kc_rate_limiter_num_requeues(limiter, B), 1);
    assert_int_equal(kc_rate_limiter_when(limiter, B), 2 * KC_MILLISECOND);
}

static void namespace_and_name_are_distinct(void **state)
{
    (void)state;
    kc_auto(kc_rate_limiter) *limiter = kc_rate_limiter_exponential(0, 0);
    kc_rate_limiter_when(limiter, KC_KEY("a", "bc"));
    assert_int_equal(kc_rate_limiter_num_requeues(limiter, KC_KEY("ab", "c")), 0);
    assert_int_equal(kc_rate_limiter_num_requeues(limiter, KC_KEY("", "abc")), 0);
    assert_int_equal(kc_rate_limiter_when(limiter, KC_KEY("", "abc")), 5 * KC_MILLISECOND);
}

static void default_delay_is_capped_at_1000_seconds(void **state)
{
    (void)state;
    kc_auto(kc_rate_limiter) *limiter = kc_rate_limiter_exponential(0, 0);
    int64_t last = 0;
    for (int i = 0; i < 30; i++)
        last = kc_rate_limiter_when(limiter, A);
    assert_int_equal(last, 1000 * KC_SECOND);
}

static void fast_retries_come_before_slow_ones(void **state)
{
    (void)state;
    kc_auto(kc_rate_limiter) *limiter = kc_rate_limiter_fast_slow(KC_MILLISECOND, KC_MINUTE, 2);
    assert_int_equal(kc_rate_limiter_when(limiter, A), KC_MILLISECOND);
    assert_int_equal(kc_rate_limiter_when(limiter, A), KC_MILLISECOND);
    assert_int_equal(kc_rate_limiter_when(limiter, A), KC_MINUTE);
    assert_int_equal(kc_rate_limiter_when(limiter, B), KC_MILLISECOND);
    kc_rate_limiter_forget(limiter, A);
    assert_int_equal(kc_rate_limiter_when(limiter, A), KC_MILLISECOND);
    assert_int_equal(kc_rate_limiter_num_requeues(limiter, A), 1);
}

static void bucket_delays_and_never_refuses(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc_auto(kc_rate_limiter) *limiter = kc_rate_limiter_bucket(clock, 10, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(kc_rate_limiter_when(limiter, A), 0);
    assert_int_equal(kc_rate_limiter_when(limiter, A), 100 * KC_MILLISECOND);
    assert_int_equal(kc_rate_limiter_when(limiter, B), 200 * KC_MILLISECOND);
    kc_clock_advance(clock, 200 * KC_MILLISECOND);
    assert_int_equal(kc_rate_limiter_when(limiter, A), 100 * KC_MILLISECOND);
    kc_clock_advance(clock, KC_HOUR); /* Full, and no fuller than that. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(kc_rate_limiter_when(limiter, A), 0);
    assert_true(kc_rate_limiter_when(limiter, A) > 0);
    kc_rate_limiter_forget(limiter, A);
    assert_int_equal(kc_rate_limiter_num_requeues(limiter, A), 0);
}

static void longer_of_two_delays_is_used(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc_auto(kc_rate_limiter) *limiter =
        kc_rate_limiter_max_of(kc_rate_limiter_exponential(5 * KC_MILLISECOND, 1000 * KC_SECOND),
                               kc_rate_limiter_bucket(clock, 10, 1));
    assert_int_equal(kc_rate_limiter_when(limiter, A), 5 * KC_MILLISECOND);
    assert_int_equal(kc_rate_limiter_when(limiter, A), 100 * KC_MILLISECOND);
    assert_int_equal(kc_rate_limiter_num_requeues(limiter, A), 2);
    kc_rate_limiter_forget(limiter, A);
    assert_int_equal(kc_rate_limiter_num_requeues(limiter, A), 0);
}

static void jitter_adds_a_random_delay(void **state)
{
    (void)state;
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    kc_auto(kc_rate_limiter) *limiter =
        kc_rate_limiter_jitter(kc_rate_limiter_fast_slow(KC_SECOND, KC_SECOND, 1), 0.5, rand);
    bool differ = false;
    int64_t last = 0;
    for (int i = 0; i < 20; i++) {
        int64_t wait = kc_rate_limiter_when(limiter, A);
        assert_true(wait >= KC_SECOND && wait <= 3 * KC_SECOND / 2);
        differ |= i && wait != last;
        last = wait;
    }
    assert_true(differ);
    assert_int_equal(kc_rate_limiter_num_requeues(limiter, A), 20);
}

static int64_t by_length(void *user, kc_key key)
{
    ++*(int *)user;
    return (int64_t)key.name.n;
}

static void custom_limiter_needs_only_when(void **state)
{
    (void)state;
    static const kc_rate_limiter_ops ops = {.when = by_length};
    int calls = 0;
    kc_auto(kc_rate_limiter) *limiter = kc_rate_limiter_new(&ops, &calls);
    assert_int_equal(kc_rate_limiter_when(limiter, KC_KEY("", "four")), 4);
    kc_rate_limiter_forget(limiter, A);
    assert_int_equal(kc_rate_limiter_num_requeues(limiter, A), 0);
    assert_int_equal(calls, 1);
}

static void many_keys_are_distinct(void **state)
{
    (void)state;
    kc_auto(kc_rate_limiter) *limiter = kc_rate_limiter_exponential(0, 0);
    char name[16];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            snprintf(name, sizeof(name), "n%d", i);
            assert_int_equal(kc_rate_limiter_num_requeues(limiter, KC_KEY("ns", name)), round);
            kc_rate_limiter_when(limiter, KC_KEY("ns", name));
        }
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        kc_rate_limiter_forget(limiter, KC_KEY("ns", name));
        assert_int_equal(kc_rate_limiter_num_requeues(limiter, KC_KEY("ns", name)), 0);
    }
}

TESTS(delay_doubles_with_failures_up_to_the_cap, success_forgets_one_key_only,
      namespace_and_name_are_distinct, default_delay_is_capped_at_1000_seconds,
      fast_retries_come_before_slow_ones, bucket_delays_and_never_refuses,
      longer_of_two_delays_is_used, jitter_adds_a_random_delay, custom_limiter_needs_only_when,
      many_keys_are_distinct)
