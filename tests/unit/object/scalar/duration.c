/* SPDX-License-Identifier: Apache-2.0 */
#include "kc/duration.h"
#include "testing.h"

static const int64_t second = 1000000000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;

static int64_t parsed(const char *text)
{
    int64_t ns = 0;
    kc_scoped(kc_error) err = {0};
    if (kc_duration_parse(kc_cstr(text), &ns, &err) < 0)
        fail_msg("%s: %s", text, kc_error_text(&err));
    return ns;
}

static void durations_are_sums_of_numbers_with_units(void **state)
{
    (void)state;
    assert_int_equal(parsed("0"), 0);
    assert_int_equal(parsed("-0"), 0);
    assert_int_equal(parsed("5s"), 5 * second);
    assert_int_equal(parsed("+5s"), 5 * second);
    assert_int_equal(parsed("1h2m3.5s"), hour + 2 * minute + 3500000000);
    assert_int_equal(parsed("1.5h"), 90 * minute);
    assert_int_equal(parsed("300ms"), 300000000);
    assert_int_equal(parsed("-2m"), -2 * minute);
    assert_int_equal(parsed("1us"), 1000);
    assert_int_equal(parsed("1\xC2\xB5s"), 1000);
    assert_int_equal(parsed("1\xCE\xBCs"), 1000);
    assert_int_equal(parsed(".5s"), second / 2);
    assert_int_equal(parsed("5.s"), 5 * second);
    assert_int_equal(parsed("3s1h"), hour + 3 * second);
    assert_int_equal(parsed("0.9ns"), 0);
    assert_int_equal(parsed("0.3333333333333333333h"), 20 * minute);
    assert_int_equal(parsed("0.830103483285477580700h"), INT64_C(2988372539827));
    assert_int_equal(parsed("9007199254.740993ms"), INT64_C(9007199254740993));
}

static void range_limits_are_accepted(void **state)
{
    (void)state;
    assert_int_equal(parsed("9223372036854775807ns"), INT64_MAX);
    assert_int_equal(parsed("9223372036854775.807us"), INT64_MAX);
    assert_int_equal(parsed("-9223372036854775808ns"), INT64_MIN);
    assert_int_equal(parsed("-2562047h47m16.854775808s"), INT64_MIN);
}

static void invalid_duration_fails_with_message_of_go(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"", "time: invalid duration \"\""},
        {"-", "time: invalid duration \"-\""},
        {"s", "time: invalid duration \"s\""},
        {".", "time: invalid duration \".\""},
        {".s", "time: invalid duration \".s\""},
        {"3", "time: missing unit in duration \"3\""},
        {"1h2", "time: missing unit in duration \"1h2\""},
        {"1d", "time: unknown unit \"d\" in duration \"1d\""},
        {"1S", "time: unknown unit \"S\" in duration \"1S\""},
        {"1s ", "time: unknown unit \"s \" in duration \"1s \""},
        {"1h-2m", "time: unknown unit \"h-\" in duration \"1h-2m\""},
        {"\"\xC3\xA9\n", "time: invalid duration \"\\\"\\xc3\\xa9\\x0a\""},
        {"9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""},
        {"9223372036854775.808us", "time: invalid duration \"9223372036854775.808us\""},
        {"3000000h", "time: invalid duration \"3000000h\""},
        {"2562047h48m", "time: invalid duration \"2562047h48m\""},
        {"-9223372036854775809ns", "time: invalid duration \"-9223372036854775809ns\""},
        {"99999999999999999999s", "time: invalid duration \"99999999999999999999s\""},
        {"-9223372036854775808ns9223372036854775808ns",
         "time: invalid duration \"-9223372036854775808ns9223372036854775808ns\""},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        kc_scoped(kc_error) err = {0};
        int64_t ns = 7;
        assert_int_equal(kc_duration_parse(kc_cstr(table[i][0]), &ns, &err), -KC_BAD_REQUEST);
        assert_string_equal(kc_error_text(&err), table[i][1]);
        assert_int_equal(ns, 7);
    }
}

static void long_text_is_truncated_in_message(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_error) err = {0};
    int64_t ns;
    for (int i = 0; i < 100000; i++)
        kc_buf_putc(&text, 'x');
    assert_int_equal(kc_duration_parse(kc_buf_str(&text), &ns, &err), -KC_BAD_REQUEST);
    assert_true(strlen(kc_error_text(&err)) < 2000);
    assert_contains(kc_error_text(&err), "xxx...\"");
}

static void durations_print_as_in_go(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } table[] = {
        {0, "0s"},
        {1, "1ns"},
        {1100, "1.1\xC2\xB5s"},
        {2200000, "2.2ms"},
        {3300000000, "3.3s"},
        {65 * INT64_C(1000000000), "1m5s"},
        {65001000000, "1m5.001s"},
        {5 * INT64_C(3600000000000) + 7 * INT64_C(60000000000) + 1001000000, "5h7m1.001s"},
        {8 * INT64_C(60000000000) + 1, "8m0.000000001s"},
        {INT64_C(3600000000000), "1h0m0s"},
        {-1500000000, "-1.5s"},
        {-100, "-100ns"},
        {INT64_MAX, "2562047h47m16.854775807s"},
        {INT64_MIN, "-2562047h47m16.854775808s"},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        kc_scoped(kc_buf) out = {0};
        kc_duration_write(&out, table[i].ns);
        assert_string_equal(kc_buf_cstr(&out), table[i].text);
        assert_int_equal(parsed(table[i].text), table[i].ns);
    }
}

static void ages_are_formatted_as_in_kubectl(void **state)
{
    (void)state;
    const struct {
        int64_t ns;
        const char *text, *shorter;
    } table[] = {
        {-2 * second, "<invalid>", "<invalid>"},
        {-2 * second + 1, "0s", "0s"},
        {0, "0s", "0s"},
        {70 * second, "70s", "1m"},
        {119 * second + 999999999, "119s", "1m"},
        {190 * second, "3m10s", "3m"},
        {180 * second, "3m", "3m"},
        {70 * minute, "70m", "1h"},
        {47 * hour, "47h", "1d"},
        {3 * hour + 5 * minute, "3h5m", "3h"},
        {4 * hour, "4h", "4h"},
        {2 * day + 4 * hour, "2d4h", "2d"},
        {5 * day, "5d", "5d"},
        {8 * day + 2 * hour, "8d", "8d"},
        {729 * day, "729d", "1y"},
        {2 * 365 * day, "2y", "2y"},
        {3 * 365 * day + 11 * day, "3y11d", "3y"},
        {9 * 365 * day + 11 * day, "9y", "9y"},
        {INT64_MAX, "292y", "292y"},
        {INT64_MIN, "<invalid>", "<invalid>"},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        char out[KC_DURATION_TEXT];
        assert_str(kc_duration_human(table[i].ns, out), table[i].text);
        assert_str(kc_duration_human_short(table[i].ns, out), table[i].shorter);
    }
}

TESTS(durations_are_sums_of_numbers_with_units, range_limits_are_accepted,
      invalid_duration_fails_with_message_of_go, long_text_is_truncated_in_message,
      durations_print_as_in_go, ages_are_formatted_as_in_kubectl)
