/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/rand.h"

static kc_rand seeded(uint64_t seed)
{
    kc_rand rand;
    kc_rand_seed(&rand, seed);
    return rand;
}

static void generator_matches_published_numbers(void **state)
{
    (void)state;
    kc_rand rand = {{1, 2, 3, 4}};
    static const uint64_t expected[] = {11520, 0, 1509978240, 1215971899390074240,
                                        1216172134540287360};
    for (size_t i = 0; i < KC_COUNT(expected); i++)
        assert_true(kc_rand_u64(&rand) == expected[i]);
}

static void seed_expansion_matches_published_function(void **state)
{
    (void)state;
    kc_rand rand = seeded(1234567);
    assert_true(rand.state[0] == 6457827717110365317u);
    assert_true(rand.state[3] == 4593380528125082431u);
    rand = seeded(7);
    assert_true(kc_rand_u64(&rand) == 0xb358faf74ef9765au);
    assert_true(kc_rand_u64(&rand) == 0x475c3d964f482cd2u);
}

static void same_seed_repeats_sequence(void **state)
{
    (void)state;
    kc_rand a = seeded(7), b = seeded(7);
    char x[13], y[13];
    for (int i = 0; i < 100; i++) {
        assert_true(kc_rand_below(&a, 1000) == kc_rand_below(&b, 1000));
        assert_true(kc_rand_double(&a) == kc_rand_double(&b));
        kc_rand_bytes(&a, x, sizeof(x));
        kc_rand_bytes(&b, y, sizeof(y));
        assert_memory_equal(x, y, sizeof(x));
    }
}

static void system_seed_differs_each_time(void **state)
{
    (void)state;
    kc_rand a, b;
    kc_rand_seed_os(&a);
    kc_rand_seed_os(&b);
    assert_true(kc_rand_u64(&a) != kc_rand_u64(&b) || kc_rand_u64(&a) != kc_rand_u64(&b));
}

static void split_generator_is_independent(void **state)
{
    (void)state;
    kc_rand parent = seeded(7), again = seeded(7);
    kc_rand child = kc_rand_split(&parent), same = kc_rand_split(&again);
    assert_true(kc_rand_u64(&child) != kc_rand_u64(&parent));
    kc_rand_u64(&same);
    assert_true(kc_rand_u64(&child) == kc_rand_u64(&same));
}

static void below_is_in_range_and_uniform(void **state)
{
    (void)state;
    kc_rand rand = seeded(1);
    int seen[7] = {0};
    for (int i = 0; i < 70000; i++)
        seen[kc_rand_below(&rand, 7)]++;
    for (int i = 0; i < 7; i++)
        assert_in_range(seen[i], 9600, 10400);
    assert_int_equal(kc_rand_below(&rand, 1), 0);
}

/* With n of two thirds of the range, a plain remainder would return the lower half twice as often.
 */
static void below_has_no_bias_for_large_ranges(void **state)
{
    (void)state;
    kc_rand rand = seeded(2);
    const uint64_t n = UINT64_MAX / 3 * 2;
    int low = 0;
    for (int i = 0; i < 30000; i++) {
        uint64_t x = kc_rand_below(&rand, n);
        assert_true(x < n);
        low += x < n / 2;
    }
    assert_in_range(low, 14600, 15400);
}

static void doubles_are_in_unit_interval(void **state)
{
    (void)state;
    kc_rand rand = seeded(3);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double x = kc_rand_double(&rand);
        assert_true(x >= 0 && x < 1);
        sum += x;
    }
    assert_true(sum > 4900 && sum < 5100);
}

static void bytes_fill_exactly_the_buffer(void **state)
{
    (void)state;
    kc_rand rand = seeded(4);
    for (size_t n = 0; n <= 20; n++) {
        unsigned char bytes[24], touched[24] = {0};
        for (int round = 0; round < 20; round++) {
            memset(bytes, 0, sizeof(bytes));
            kc_rand_bytes(&rand, bytes, n);
            for (size_t i = 0; i < sizeof(bytes); i++)
                touched[i] |= bytes[i];
        }
        for (size_t i = 0; i < sizeof(touched); i++)
            assert_int_equal(touched[i] != 0, i < n);
    }
}

static void jitter_adds_up_to_the_factor(void **state)
{
    (void)state;
    kc_rand rand = seeded(5);
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t d = kc_rand_jitter(&rand, 1000, 0.5);
        least = KC_MIN(least, d);
        most = KC_MAX(most, d);
    }
    assert_in_range(least, 1000, 1020);
    assert_in_range(most, 1480, 1499);
}

static void jitter_without_a_factor_doubles_at_most(void **state)
{
    (void)state;
    kc_rand rand = seeded(6);
    int64_t most = 0;
    for (int i = 0; i < 1000; i++)
        most = KC_MAX(most, kc_rand_jitter(&rand, 1000, i % 2 ? 0 : -3));
    assert_in_range(most, 1900, 1999);
}

static void jitter_never_overflows(void **state)
{
    (void)state;
    kc_rand rand = seeded(7);
    for (int i = 0; i < 100; i++) {
        assert_true(kc_rand_jitter(&rand, INT64_MAX, 1e300) >= INT64_MAX / 2);
        assert_true(kc_rand_jitter(&rand, INT64_MAX - 10, 1) >= INT64_MAX - 10);
    }
    assert_int_equal(kc_rand_jitter(&rand, 0, 1), 0);
}

static void shuffle_keeps_items_and_reaches_every_order(void **state)
{
    (void)state;
    kc_rand rand = seeded(8);
    int orders[6] = {0};
    for (int i = 0; i < 6000; i++) {
        char items[3][100] = {"a", "b", "c"};
        kc_rand_shuffle(&rand, items, 3, sizeof(items[0]));
        int a = items[0][0] - 'a', b = items[1][0] - 'a', c = items[2][0] - 'a';
        assert_int_equal((1 << a) | (1 << b) | (1 << c), 7);
        orders[a * 2 + (b > c)]++;
    }
    for (int i = 0; i < 6; i++)
        assert_in_range(orders[i], 850, 1150);
    kc_rand_shuffle(&rand, NULL, 0, 1);
}

TESTS(generator_matches_published_numbers, seed_expansion_matches_published_function,
      same_seed_repeats_sequence, system_seed_differs_each_time, split_generator_is_independent,
      below_is_in_range_and_uniform, below_has_no_bias_for_large_ranges,
      doubles_are_in_unit_interval, bytes_fill_exactly_the_buffer, jitter_adds_up_to_the_factor,
      jitter_without_a_factor_doubles_at_most, jitter_never_overflows,
      shuffle_keeps_items_and_reaches_every_order)
