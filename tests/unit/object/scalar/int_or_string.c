/* SPDX-License-Identifier: Apache-2.0 */
#include "kc/int_or_string.h"
#include "testing.h"

static void json_numbers_and_strings_are_accepted(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("[80,'http',-1,null,2147483648,1.5,true,1.0]");
    const kc_value *root = kc_view_root(view);
    kc_int_or_string v;
    char out[KC_INT_OR_STRING_TEXT];
    static const char *const wanted[] = {"80", "http", "-1", "0"};
    for (size_t i = 0; i < KC_COUNT(wanted); i++) {
        assert_int_equal(kc_int_or_string_from(kc_value_at(root, i), &v, NULL), 0);
        assert_str(kc_int_or_string_print(v, out), wanted[i]);
        assert_int_equal(v.is_string, i == 1);
    }
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_int_or_string_from(kc_value_at(root, 4), &v, &err), -KC_BAD_REQUEST);
    assert_error(&err, KC_BAD_REQUEST, "does not fit 32 bits");
    assert_int_equal(kc_int_or_string_from(kc_value_at(root, 5), &v, &err), -KC_BAD_REQUEST);
    assert_error(&err, KC_BAD_REQUEST, "not a value of type number");
    assert_int_equal(kc_int_or_string_from(kc_value_at(root, 6), &v, NULL), -KC_BAD_REQUEST);
    assert_int_equal(kc_int_or_string_from(NULL, &v, NULL), -KC_BAD_REQUEST);
}

static void numeric_text_becomes_number(void **state)
{
    (void)state;
    assert_int_equal(kc_int_or_string_of("42").number, 42);
    assert_int_equal(kc_int_or_string_of("+42").number, 42);
    assert_int_equal(kc_int_or_string_of("-2147483648").number, INT32_MIN);
    assert_true(kc_int_or_string_of("2147483648").is_string);
    assert_true(kc_int_or_string_of("+-1").is_string);
    assert_string_equal(kc_int_or_string_of("50%").text, "50%");
    assert_true(kc_int_or_string_of("").is_string);
}

static int64_t scaled(const char *text, int64_t total, bool round_up)
{
    int64_t n = -12345;
    assert_int_equal(kc_int_or_string_scaled(kc_int_or_string_of(text), total, round_up, &n, NULL),
                     0);
    return n;
}

static void percentages_are_rounded_up_or_down(void **state)
{
    (void)state;
    assert_int_equal(scaled("7", 100, true), 7);
    assert_int_equal(scaled("25%", 10, true), 3);
    assert_int_equal(scaled("25%", 10, false), 2);
    assert_int_equal(scaled("50%", 10, true), 5);
    assert_int_equal(scaled("0%", 10, true), 0);
    assert_int_equal(scaled("150%", 3, false), 4);
    assert_int_equal(scaled("-25%", 10, true), -2);
    assert_int_equal(scaled("-25%", 10, false), -3);
    assert_int_equal(scaled("100%", INT64_MAX, true), INT64_MAX);
}

static void strings_other_than_percentages_fail(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"http", "invalid value for IntOrString: invalid type: string is not a percentage"},
        {"", "invalid value for IntOrString: invalid type: string is not a percentage"},
        {"%", "invalid value for IntOrString: invalid value \"%\": strconv.Atoi: parsing \"\": "
              "invalid syntax"},
        {"1.5%", "invalid value for IntOrString: invalid value \"1.5%\": strconv.Atoi: parsing "
                 "\"1.5\": invalid syntax"},
        {"99999999999999999999%",
         "invalid value for IntOrString: invalid value \"99999999999999999999%\": strconv.Atoi: "
         "parsing \"99999999999999999999\": value out of range"},
        {"200%", "invalid value for IntOrString: 200% of 9223372036854775807 does not fit 64 bits"},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        kc_scoped(kc_error) err = {0};
        kc_int_or_string v = {.is_string = true, .text = (char *)table[i][0]};
        int64_t n = 7;
        assert_int_equal(kc_int_or_string_scaled(v, INT64_MAX, true, &n, &err), -KC_BAD_REQUEST);
        assert_string_equal(kc_error_text(&err), table[i][1]);
        assert_int_equal(n, 7);
    }
}

TESTS(json_numbers_and_strings_are_accepted, numeric_text_becomes_number,
      percentages_are_rounded_up_or_down, strings_other_than_percentages_fail)
