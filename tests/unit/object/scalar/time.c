/* SPDX-License-Identifier: Apache-2.0 */
#include "kc/time.h"
#include "testing.h"

static const int64_t second = 1000000000;

static kc_time parsed(const char *text)
{
    kc_time time = 0;
    kc_scoped(kc_error) err = {0};
    if (kc_time_parse(kc_cstr(text), &time, &err) < 0)
        fail_msg("%s: %s", text, kc_error_text(&err));
    return time;
}

static void assert_prints(kc_time time, const char *text)
{
    char out[KC_TIME_TEXT];
    assert_str(kc_time_print(time, out), text);
    assert_int_equal(out[strlen(text)], 0);
}

static void text_is_parsed_to_nanoseconds_since_1970(void **state)
{
    (void)state;
    assert_int_equal(parsed("1970-01-01T00:00:00Z"), 0);
    assert_int_equal(parsed("1970-01-01T00:00:01Z"), second);
    assert_int_equal(parsed("1969-12-31T23:59:59Z"), -second);
    assert_int_equal(parsed("2024-02-29T12:34:56Z"), 1709210096 * second);
    assert_int_equal(parsed("2000-02-29T00:00:00Z"), 951782400 * second);
    assert_int_equal(parsed("1969-12-31T23:59:59.999999999Z"), -1);
}

static void fractions_and_offsets_are_parsed(void **state)
{
    (void)state;
    assert_int_equal(parsed("1970-01-01T00:00:00.5Z"), second / 2);
    assert_int_equal(parsed("1970-01-01T00:00:00,5Z"), second / 2);
    assert_int_equal(parsed("1970-01-01T00:00:00.0000000019Z"), 1);
    assert_int_equal(parsed("1970-01-01T02:00:00+02:00"), 0);
    assert_int_equal(parsed("1969-12-31T19:30:00-04:30"), 0);
    assert_int_equal(parsed("1970-01-02T00:00:00+24:00"), 0);
    assert_int_equal(parsed("1970-01-01T5:00:00Z"), 5 * 3600 * second);
}

static void printed_time_is_utc_with_whole_seconds(void **state)
{
    (void)state;
    assert_prints(0, "1970-01-01T00:00:00Z");
    assert_prints(parsed("2024-02-29T23:30:00.999-01:00"), "2024-03-01T00:30:00Z");
    assert_prints(-1, "1969-12-31T23:59:59Z");
    assert_prints(parsed("2100-03-01T00:00:00Z") - 1, "2100-02-28T23:59:59Z");
    assert_prints(parsed("1900-02-28T23:59:59Z") + second, "1900-03-01T00:00:00Z");
    assert_prints(INT64_MAX, "2262-04-11T23:47:16Z");
    assert_prints(INT64_MIN, "1677-09-21T00:12:43Z");
}

static void every_day_of_four_centuries_round_trips(void **state)
{
    (void)state;
    char out[KC_TIME_TEXT];
    for (int64_t day = -106751; day <= 106750; day++) {
        kc_time time = day * 86400 * second;
        kc_time back;
        assert_int_equal(kc_time_parse(kc_time_print(time, out), &back, NULL), 0);
        assert_int_equal(back, time);
    }
}

static void range_limits_are_accepted(void **state)
{
    (void)state;
    kc_time time = 7;
    assert_int_equal(parsed("2262-04-11T23:47:16.854775807Z"), INT64_MAX);
    assert_int_equal(parsed("1677-09-21T00:12:43.145224192Z"), INT64_MIN);
    static const char *const outside[] = {"2262-04-11T23:47:16.854775808Z", "9999-12-31T23:59:59Z",
                                          "1677-09-21T00:12:43.145224191Z", "0000-01-01T00:00:00Z"};
    for (size_t i = 0; i < KC_COUNT(outside); i++) {
        kc_scoped(kc_error) err = {0};
        assert_int_equal(kc_time_parse(kc_cstr(outside[i]), &time, &err), -KC_BAD_REQUEST);
        assert_error(&err, KC_BAD_REQUEST, "years before 1678 and after 2261 are out of range");
    }
    assert_int_equal(time, 7);
}

static void micro_times_have_six_fractional_digits(void **state)
{
    (void)state;
    char out[KC_TIME_TEXT];
    kc_time time = 7;
    assert_int_equal(kc_time_parse_micro(KC_STR("2024-01-01T00:00:00.123456+01:00"), &time, NULL),
                     0);
    assert_str(kc_time_print_micro(time, out), "2023-12-31T23:00:00.123456Z");
    assert_str(kc_time_print_micro(1999, out), "1970-01-01T00:00:00.000001Z");
    assert_str(kc_time_print_micro(-1, out), "1969-12-31T23:59:59.999999Z");
    static const char *const refused[] = {"2024-01-01T00:00:00Z", "2024-01-01T00:00:00.12345Z",
                                          "2024-01-01T00:00:00.1234567Z"};
    for (size_t i = 0; i < KC_COUNT(refused); i++)
        assert_int_equal(kc_time_parse_micro(kc_cstr(refused[i]), &time, NULL), -KC_BAD_REQUEST);
    kc_scoped(kc_error) err = {0};
    kc_time_parse_micro(KC_STR("2024-01-01T00:00:00Z"), &time, &err);
    assert_string_equal(kc_error_text(&err),
                        "parsing time \"2024-01-01T00:00:00Z\" as "
                        "\"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"");
}

#define AS "\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "

static void invalid_time_fails_with_message_of_go(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"", "parsing time \"" AS "\"\" as \"2006\""},
        {"now", "parsing time \"now" AS "\"now\" as \"2006\""},
        {"2024", "parsing time \"2024" AS "\"\" as \"-\""},
        {"2024-1-01T00:00:00Z",
         "parsing time \"2024-1-01T00:00:00Z" AS "\"1-01T00:00:00Z\" as \"01\""},
        {"2024-01-01", "parsing time \"2024-01-01" AS "\"\" as \"T\""},
        {"2024-01-01 00:00:00Z",
         "parsing time \"2024-01-01 00:00:00Z" AS "\" 00:00:00Z\" as \"T\""},
        {"2024-01-01t00:00:00z",
         "parsing time \"2024-01-01t00:00:00z" AS "\"t00:00:00z\" as \"T\""},
        {"2024-01-01T00:00:00", "parsing time \"2024-01-01T00:00:00" AS "\"\" as \"Z07:00\""},
        {"2024-01-01T00:00:00.Z", "parsing time \"2024-01-01T00:00:00.Z" AS "\".Z\" as \"Z07:00\""},
        {"2024-01-01T00:00:00+0100",
         "parsing time \"2024-01-01T00:00:00+0100" AS "\"+0100\" as \"Z07:00\""},
        {"2024-13-01T00:00:00Z", "parsing time \"2024-13-01T00:00:00Z\": month out of range"},
        {"2024-00-01T00:00:00Z", "parsing time \"2024-00-01T00:00:00Z\": month out of range"},
        {"2023-02-29T00:00:00Z", "parsing time \"2023-02-29T00:00:00Z\": day out of range"},
        {"1900-02-29T00:00:00Z", "parsing time \"1900-02-29T00:00:00Z\": day out of range"},
        {"2024-04-31T00:00:00Z", "parsing time \"2024-04-31T00:00:00Z\": day out of range"},
        {"2024-01-00T00:00:00Z", "parsing time \"2024-01-00T00:00:00Z\": day out of range"},
        {"2024-01-01T24:00:00Z", "parsing time \"2024-01-01T24:00:00Z\": hour out of range"},
        {"2024-01-01T00:60:00Z", "parsing time \"2024-01-01T00:60:00Z\": minute out of range"},
        {"2024-01-01T00:00:60Z", "parsing time \"2024-01-01T00:00:60Z\": second out of range"},
        {"2024-01-01T00:00:00+25:00",
         "parsing time \"2024-01-01T00:00:00+25:00\": time zone offset hour out of range"},
        {"2024-01-01T00:00:00+00:61",
         "parsing time \"2024-01-01T00:00:00+00:61\": time zone offset minute out of range"},
        {"2024-01-01T00:00:00Z ", "parsing time \"2024-01-01T00:00:00Z \": extra text: \" \""},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        kc_scoped(kc_error) err = {0};
        kc_time time = 7;
        assert_int_equal(kc_time_parse(kc_cstr(table[i][0]), &time, &err), -KC_BAD_REQUEST);
        assert_string_equal(kc_error_text(&err), table[i][1]);
        assert_int_equal(time, 7);
    }
    assert_int_equal(kc_time_parse(KC_STR("x"), &(kc_time){0}, NULL), -KC_BAD_REQUEST);
}

static void rewriting_covers_all_years_of_four_digits(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"2024-02-29T12:00:00Z", "2024-02-29T12:00:00Z"},
        {"2024-02-29T12:00:00.75+02:00", "2024-02-29T10:00:00Z"},
        {"9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"},
        {"0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"},
        {"0001-01-01T00:00:00Z", ""},
        {"0001-01-01T01:00:00+01:00", ""},
        {"0001-01-01T00:00:01Z", "0001-01-01T00:00:01Z"},
    };
    char out[KC_TIME_TEXT];
    kc_str text;
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        assert_int_equal(kc_time_rewrite(kc_cstr(table[i][0]), out, &text, NULL), 0);
        assert_str(text, table[i][1]);
    }
    assert_int_equal(kc_time_rewrite_micro(KC_STR("9000-01-01T00:00:00.000001Z"), out, &text, NULL),
                     0);
    assert_str(text, "9000-01-01T00:00:00.000001Z");
    kc_scoped(kc_error) err = {0};
    kc_time_rewrite(KC_STR("9999-12-31T23:59:59-01:00"), out, &text, &err);
    assert_error(&err, KC_BAD_REQUEST, "outside the years 0 to 9999");
    kc_time_rewrite(KC_STR("0000-01-01T00:00:00+01:00"), out, &text, &err);
    assert_error(&err, KC_BAD_REQUEST, "outside the years 0 to 9999");
    assert_int_equal(kc_time_rewrite(KC_STR("soon"), out, &text, NULL), -KC_BAD_REQUEST);
}

static void ages_are_computed_from_timestamps(void **state)
{
    (void)state;
    kc_time now = parsed("2024-01-02T04:00:00Z");
    char out[KC_DURATION_TEXT];
    assert_str(kc_time_age(KC_STR("2024-01-02T03:55:00Z"), now, out), "5m");
    assert_str(kc_time_age(KC_STR("2023-12-31T00:00:00Z"), now, out), "2d4h");
    assert_str(kc_time_age(KC_STR("2024-01-02T05:00:00Z"), now, out), "<invalid>");
    assert_str(kc_time_age(KC_STR(""), now, out), "<unknown>");
    assert_str(kc_time_age(KC_STR("yesterday"), now, out), "<unknown>");
    assert_str(kc_time_age(KC_STR("1677-09-22T00:00:00Z"), INT64_MAX, out), "292y");
}

TESTS(text_is_parsed_to_nanoseconds_since_1970, fractions_and_offsets_are_parsed,
      printed_time_is_utc_with_whole_seconds, every_day_of_four_centuries_round_trips,
      range_limits_are_accepted, micro_times_have_six_fractional_digits,
      invalid_time_fails_with_message_of_go, rewriting_covers_all_years_of_four_digits,
      ages_are_computed_from_timestamps)
