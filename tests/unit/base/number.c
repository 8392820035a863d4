/* SPDX-License-Identifier: Apache-2.0 */
/* number.c: the shortest text of floating-point numbers. */
#include "testing.h"

#include "kc/number.h"
#include "kc/rand.h"

#include <math.h>
#include <stdio.h>

static void digits_are_shortest_that_round_trip(void **state)
{
    (void)state;
    kc_digits d = kc_double_digits(-12.5, false);
    assert_string_equal(d.text, "125");
    assert_int_equal(d.exponent, 1);
    assert_string_equal(kc_double_digits(0.1, false).text, "1");
    assert_string_equal(kc_double_digits(0.1f, true).text, "1");
    assert_string_equal(kc_double_digits(0.1f, false).text, "10000000149011612");
    assert_string_equal(kc_double_digits(5e-324, false).text, "5");
    assert_string_equal(kc_double_digits(0, false).text, "0");
}

static void text_matches_go_and_prometheus(void **state)
{
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {{0, "0"},
                 {12, "12"},
                 {0.005, "0.005"},
                 {1e6, "1e+06"},
                 {999999, "999999"},
                 {1e-5, "1e-05"},
                 {-2.5, "-2.5"},
                 {INFINITY, "+Inf"},
                 {-INFINITY, "-Inf"},
                 {NAN, "NaN"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"}};
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_buf) text = {0};
        kc_double_write(&text, cases[i].number, false);
        assert_string_equal(kc_buf_cstr(&text), cases[i].text);
    }
}

static void written_number_round_trips(void **state)
{
    (void)state;
    kc_rand rand;
    kc_rand_seed(&rand, 11);
    for (int i = 0; i < 2000; i++) {
        uint64_t bits = kc_rand_u64(&rand);
        double number;
        memcpy(&number, &bits, sizeof(number));
        if (!isfinite(number))
            continue;
        kc_scoped(kc_buf) text = {0};
        kc_double_write(&text, number, false);
        assert_true(strtod(kc_buf_cstr(&text), NULL) == number);
    }
}

/* The number of digits of the shortest printed text that round-trips. */
static size_t fewest_digits(double number, bool single)
{
    char text[40];
    for (int decimals = 0;; decimals++) {
        snprintf(text, sizeof(text), "%.*e", decimals, number);
        if (single ? strtof(text, NULL) == (float)number : strtod(text, NULL) == number)
            return (size_t)decimals + 1;
    }
}

static void assert_shortest(double number, bool single)
{
    kc_scoped(kc_buf) text = {0};
    kc_digits digits = kc_double_digits(number, single);
    kc_digits_write_exponent(&text, &digits);
    double back =
        single ? (double)strtof(kc_buf_cstr(&text), NULL) : strtod(kc_buf_cstr(&text), NULL);
    assert_true(back == number);
    assert_true(digits.n <= fewest_digits(number, single));
    assert_true(digits.n == 1 || digits.text[digits.n - 1] != '0');
}

static void random_numbers_and_powers_of_two_have_the_fewest_digits(void **state)
{
    (void)state;
    kc_rand rand;
    kc_rand_seed(&rand, 12);
    for (int i = -1074; i < 1024; i++) {
        assert_shortest(ldexp(1, i), false);
        assert_shortest(nextafter(ldexp(1, i), INFINITY), false);
    }
    for (int i = -149; i < 128; i++)
        assert_shortest(ldexp(1, i), true);
    for (int i = 0; i < 20000; i++) {
        double number = ldexp((double)(kc_rand_u64(&rand) >> (kc_rand_u64(&rand) % 60)),
                              (int)(kc_rand_u64(&rand) % 2000) - 1060);
        if (isfinite(number) && number)
            assert_shortest(number, false);
        float single = (float)number;
        if (isfinite(single) && single != 0)
            assert_shortest((double)single, true);
    }
}

/* Two texts of 16 digits round-trip here; the nearer one is written, as in Go. */
static void nearest_of_shortest_candidates_is_chosen(void **state)
{
    (void)state;
    assert_string_equal(kc_double_digits(0x1p-44, false).text, "5684341886080802");
    assert_string_equal(kc_double_digits(9007199254740993.0, false).text, "9007199254740992");
    assert_string_equal(kc_double_digits(2e23, false).text, "2");
    assert_string_equal(kc_double_digits(0x1.fffffffffffffp1023, false).text, "17976931348623157");
    assert_string_equal(kc_double_digits(0x1p-1022, false).text, "22250738585072014");
}

static void integers_are_written_in_decimal(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_i64_write(&text, INT64_MIN);
    kc_buf_putc(&text, ' ');
    kc_i64_write(&text, -7);
    kc_buf_putc(&text, ' ');
    kc_i64_write(&text, INT64_MAX);
    kc_buf_putc(&text, ' ');
    kc_u64_write(&text, 0);
    kc_buf_putc(&text, ' ');
    kc_u64_write(&text, UINT64_MAX);
    assert_str(kc_buf_str(&text),
               "-9223372036854775808 -7 9223372036854775807 0 18446744073709551615");
}

TESTS(integers_are_written_in_decimal, digits_are_shortest_that_round_trip,
      text_matches_go_and_prometheus, written_number_round_trips,
      random_numbers_and_powers_of_two_have_the_fewest_digits,
      nearest_of_shortest_candidates_is_chosen)
