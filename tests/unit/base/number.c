/* SPDX-License-Identifier: Apache-2.0 */
/* number.c: the shortest text of floating-point numbers. */
#include "testing.h"

#include "kc/number.h"
#include "kc/rand.h"

#include <math.h>

static void digits_are_the_fewest_that_read_back(void **state)
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

static void text_is_as_go_and_prometheus_write_it(void **state)
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

static void what_is_written_reads_back_the_same(void **state)
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

TESTS(digits_are_the_fewest_that_read_back, text_is_as_go_and_prometheus_write_it,
      what_is_written_reads_back_the_same)
