/* SPDX-License-Identifier: Apache-2.0 */
#include "kc/quantity.h"
#include "testing.h"

static kc_quantity parsed(const char *text)
{
    kc_quantity q = {0};
    kc_scoped(kc_error) err = {0};
    if (kc_quantity_parse(kc_cstr(text), &q, &err) < 0)
        fail_msg("%s: %s", text, kc_error_text(&err));
    return q;
}

static void assert_prints(kc_quantity q, const char *text)
{
    char out[KC_QUANTITY_MAX];
    assert_str(kc_quantity_print(q, out), text);
    assert_int_equal(out[strlen(text)], 0);
}

static void canonical_text_has_no_fraction_and_largest_suffix(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"0", "0"},
        {"0Ki", "0"},
        {"-0", "0"},
        {"1", "1"},
        {"1000", "1k"},
        {"1500m", "1500m"},
        {"1.5", "1500m"},
        {"0.5", "500m"},
        {"100.035k", "100035"},
        {"0.00050k", "500m"},
        {"1.01E", "1010P"},
        {"40T", "40T"},
        {"5n", "5n"},
        {"1000n", "1u"},
        {"-12.5M", "-12500k"},
        {"1Ki", "1Ki"},
        {"1024Ki", "1Mi"},
        {"1.5Gi", "1536Mi"},
        {"0.5Mi", "512Ki"},
        {"1025Ki", "1025Ki"},
        {"512Gi", "512Gi"},
        {"3Ei", "3Ei"},
        {"-2048Ti", "-2Pi"},
        {"12e6", "12e6"},
        {"1.2e3", "1200"},
        {"1E-3", "1e-3"},
        {"1e14", "100e12"},
        {"1.7E18", "1700e15"},
        {"1e22", "10e21"},
        {".001", "1m"},
        {"1.G", "1G"},
        {"+7", "7"},
        {"00012", "12"},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++)
        assert_prints(parsed(table[i][0]), table[i][1]);
}

static void values_finer_than_nano_are_rounded_up(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"3.001n", "4n"},
        {"-3.001n", "-4n"},
        {"0.9n", "1n"},
        {"0.0000000001", "1n"},
        {"-0.0000000001", "-1n"},
        {"0.00000012345", "124n"},
        {"1.1E-9", "2e-9"},
        {"1e-100", "1e-9"},
        {"1e-2147483648", "1e-9"},
        {"0e-100", "0"},
        {"1.0000000001", "1000000001n"},
        {"1.0000000000", "1"},
        {"0.000000000001Ki", "2n"},
        {"0.00000000000000000000000000000000000000000000000001Ei", "1n"},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++)
        assert_prints(parsed(table[i][0]), table[i][1]);
}

static void small_or_fractional_binary_number_prints_in_decimal(void **state)
{
    (void)state;
    assert_prints(parsed("1.5Ki"), "1536");
    assert_prints(parsed("0.5Ki"), "512");
    assert_prints(parsed("100.035Ki"), "102435840m");
    assert_int_equal(parsed("0.5Ki").form, KC_BINARY_SI);
    assert_int_equal(parsed("0.0001Ki").form, KC_DECIMAL_SI);
    assert_prints(kc_quantity_of(1023, KC_BINARY_SI), "1023");
    assert_prints(kc_quantity_of(1024, KC_BINARY_SI), "1Ki");
    assert_prints(kc_quantity_of(-1024, KC_BINARY_SI), "-1Ki");
    assert_prints(kc_quantity_of_milli(2048500, KC_BINARY_SI), "2048500m");
}

static void only_binary_numbers_are_capped(void **state)
{
    (void)state;
    assert_prints(parsed("9Ei"), "9223372036854775807");
    assert_prints(parsed("-9Ei"), "-9223372036854775807");
    assert_prints(parsed("99999999999999999999999999Ki"), "9223372036854775807");
    assert_prints(parsed("8191.999Pi"), "9223370910954868965376m");
    assert_prints(parsed("12345678901234567890"), "12345678901234567890");
    assert_prints(parsed("12345678901234567890123456789n"), "12345678901234567890123456789n");
    assert_prints(parsed("1e2147483646"), "1e2147483646");
}

static void number_too_large_for_suffix_prints_with_exponent(void **state)
{
    (void)state;
    assert_prints(parsed("1000E"), "1e21");
    assert_prints(parsed("1500E"), "1500E");
    assert_prints(parsed("1000000000000000000000000000000000000000000000000000"), "1e51");
    assert_int_equal(kc_quantity_cmp(parsed("1000E"), parsed("1e21")), 0);
    /* 1024 Ei: there is no larger binary suffix. */
    kc_quantity large = parsed("1024");
    kc_quantity exa = parsed("1152921504606846976");
    for (int i = 0; i < 10; i++) {
        kc_quantity copy = exa;
        assert_true(kc_quantity_add(&exa, copy));
    }
    exa.form = KC_BINARY_SI;
    assert_prints(exa, "1024Ei");
    assert_int_equal(kc_quantity_cmp(large, exa), -1);
}

static void invalid_quantity_fails_with_message_of_kubernetes(void **state)
{
    (void)state;
    static const char *const format[] = {"", " 1", "1 ", "aoeu", "1.1.M", "0.1am", "1_0", "5e5e"};
    static const char *const suffix[] = {"1+1",   ".5i", "1i",  "-3.01i", "-3.01e-", "1e",
                                         "0.1mi", "1K",  "1m5", "+-1",    "1Ei5",    "1ki",
                                         "1ee",   "1uu", "1nm", "1EE"};
    kc_quantity q = {.mantissa = 7};
    for (size_t i = 0; i < KC_COUNT(format); i++) {
        kc_scoped(kc_error) err = {0};
        assert_int_equal(kc_quantity_parse(kc_cstr(format[i]), &q, &err), -KC_BAD_REQUEST);
        assert_string_equal(kc_error_text(&err), "quantities must match the regular expression "
                                                 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    }
    for (size_t i = 0; i < KC_COUNT(suffix); i++) {
        kc_scoped(kc_error) err = {0};
        assert_int_equal(kc_quantity_parse(kc_cstr(suffix[i]), &q, &err), -KC_BAD_REQUEST);
        assert_string_equal(kc_error_text(&err), "unable to parse quantity's suffix");
    }
    assert_true(q.mantissa == 7);
    assert_int_equal(kc_quantity_parse(KC_STR("x"), &q, NULL), -KC_BAD_REQUEST);
}

static void number_without_digits_is_zero_as_in_kubernetes(void **state)
{
    (void)state;
    static const char *const zeros[] = {"-", "+", ".", "k", "Ki", "-.m", "e5", "E"};
    for (size_t i = 0; i < KC_COUNT(zeros); i++)
        assert_int_equal(kc_quantity_sign(parsed(zeros[i])), 0);
    static const char *const refused[] = {"Ei", "-Ei", ".Ei", "e-10"};
    for (size_t i = 0; i < KC_COUNT(refused); i++) {
        kc_scoped(kc_error) err = {0};
        kc_quantity q;
        kc_quantity_parse(kc_cstr(refused[i]), &q, &err);
        assert_error(&err, KC_BAD_REQUEST, "unable to parse numeric part of quantity");
    }
}

static void values_beyond_limits_fail(void **state)
{
    (void)state;
    kc_quantity q;
    kc_scoped(kc_error) err = {0};
    assert_prints(parsed("99999999999999999999999999999999999999"),
                  "99999999999999999999999999999999999999");
    kc_quantity_parse(KC_STR("999999999999999999999999999999999999999"), &q, &err);
    assert_error(&err, KC_BAD_REQUEST, "quantities may have at most 38 digits");
    kc_quantity_parse(KC_STR("1e2147483648"), &q, &err);
    assert_error(&err, KC_BAD_REQUEST, "suffix");
    kc_quantity_parse(KC_STR("1e99999999999999999999"), &q, &err);
    assert_error(&err, KC_BAD_REQUEST, "suffix");
}

static void rewrite_keeps_text_that_kubernetes_keeps(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"0", "0"},       {"1", "1"},         {"+1", "+1"},   {"001", "001"},   {"1.500", "1.500"},
        {"12E3", "12E3"}, {"1e-0", "1e-0"},   {"5Ki", "5Ki"}, {"+5Ki", "+5Ki"}, {"1.Ki", "1.Ki"},
        {"8Ki", "8Ki"},   {"1024Ki", "1Mi"},  {"1000", "1k"}, {"0.5", "500m"},  {"1.5e3", "1500"},
        {"00", "0"},      {"100Ti", "100Ti"},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        char out[KC_QUANTITY_MAX];
        kc_str text;
        assert_int_equal(kc_quantity_rewrite(kc_cstr(table[i][0]), out, &text, NULL), 0);
        assert_str(text, table[i][1]);
    }
    char out[KC_QUANTITY_MAX];
    kc_str text;
    assert_int_equal(kc_quantity_rewrite(KC_STR("one"), out, &text, NULL), -KC_BAD_REQUEST);
}

static void quantities_compare_by_value(void **state)
{
    (void)state;
    static const char *const ascending[] = {
        "-1e100", "-9Ei",  "-1.5",  "-1",          "-1n", "0",   "1n",  "1u",
        "1m",     "999m",  "1",     "1k",          "1Ki", "1e6", "1Mi", "9223372036854775807",
        "9500P",  "1e100", "2e100", "1e2000000000"};
    for (size_t i = 0; i < KC_COUNT(ascending); i++)
        for (size_t j = 0; j < KC_COUNT(ascending); j++) {
            int order = kc_quantity_cmp(parsed(ascending[i]), parsed(ascending[j]));
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
    assert_int_equal(kc_quantity_cmp(parsed("1Ki"), parsed("1.024k")), 0);
    assert_int_equal(kc_quantity_cmp(parsed("1000m"), parsed("1e0")), 0);
    assert_int_equal(kc_quantity_sign(parsed("-1n")), -1);
    assert_int_equal(kc_quantity_sign(parsed("1n")), 1);
}

static void sums_are_exact_and_keep_the_first_form(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b, *sum, *difference;
    } table[] = {
        {"10", "1m", "10001m", "9999m"},
        {"1Gi", "1", "1073741825", "1073741823"},
        {"1Gi", "1Gi", "2Gi", "0"},
        {"0", "1Gi", "1Gi", "-1Gi"},
        {"1Gi", "0", "1Gi", "1Gi"},
        {"-50m", "50m", "0", "-100m"},
        {"1k", "1Ki", "2024", "-24"},
        {"5e3", "5k", "10e3", "0"},
        {"1e20", "1n", "100000000000000000000000000001e-9", "99999999999999999999999999999e-9"},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        kc_quantity sum = parsed(table[i].a), difference = sum;
        assert_true(kc_quantity_add(&sum, parsed(table[i].b)));
        assert_true(kc_quantity_sub(&difference, parsed(table[i].b)));
        assert_prints(sum, table[i].sum);
        assert_prints(difference, table[i].difference);
    }
    kc_quantity q = parsed("+1");
    kc_quantity_neg(&q);
    assert_prints(q, "-1");
    assert_false(q.as_written);
}

static void sum_beyond_38_digits_fails_and_changes_nothing(void **state)
{
    (void)state;
    kc_quantity q = parsed("1e100");
    assert_false(kc_quantity_add(&q, parsed("1")));
    assert_false(kc_quantity_sub(&q, parsed("1e10")));
    assert_prints(q, "10e99");
    kc_quantity most = parsed("99999999999999999999999999999999999999");
    assert_true(kc_quantity_add(&most, parsed("1")));
    assert_prints(most, "100e36");
    assert_true(kc_quantity_sub(&most, parsed("1")));
    assert_prints(most, "99999999999999999999999999999999999999");
    assert_false(kc_quantity_add(&most, parsed("2")));
    assert_false(kc_quantity_add(&most, most));
}

static void values_are_rounded_away_from_zero(void **state)
{
    (void)state;
    assert_int_equal(kc_quantity_value(parsed("1.1")), 2);
    assert_int_equal(kc_quantity_value(parsed("-1.1")), -2);
    assert_int_equal(kc_quantity_value(parsed("1n")), 1);
    assert_int_equal(kc_quantity_value(parsed("5k")), 5000);
    assert_int_equal(kc_quantity_milli_value(parsed("100m")), 100);
    assert_int_equal(kc_quantity_milli_value(parsed("1.0001")), 1001);
    assert_int_equal(kc_quantity_milli_value(parsed("2Ki")), 2048000);
    assert_int_equal(kc_quantity_scaled_value(parsed("1500k"), 6), 2);
    assert_int_equal(kc_quantity_value(parsed("1e100")), INT64_MAX);
    assert_int_equal(kc_quantity_value(parsed("-1e19")), INT64_MIN);
    assert_int_equal(kc_quantity_milli_value(parsed("9Ei")), INT64_MAX);
}

static void only_integers_in_range_convert_to_int64(void **state)
{
    (void)state;
    int64_t number = 7;
    assert_true(kc_quantity_as_i64(parsed("9223372036854775807"), &number));
    assert_int_equal(number, INT64_MAX);
    assert_true(kc_quantity_as_i64(parsed("2000m"), &number));
    assert_int_equal(number, 2);
    assert_false(kc_quantity_as_i64(parsed("1m"), &number));
    assert_false(kc_quantity_as_i64(parsed("10E"), &number));
    assert_int_equal(number, 2);
}

static void quantities_are_created_from_numbers(void **state)
{
    (void)state;
    assert_prints(kc_quantity_of(5000, KC_DECIMAL_SI), "5k");
    assert_prints(kc_quantity_of(INT64_MIN, KC_DECIMAL_SI), "-9223372036854775808");
    assert_prints(kc_quantity_of_milli(1500, KC_DECIMAL_SI), "1500m");
    assert_prints(kc_quantity_of_scaled(3, 7, KC_DECIMAL_EXPONENT), "30e6");
    assert_prints(kc_quantity_of_scaled(1001, -12, KC_DECIMAL_SI), "2n");
    assert_prints((kc_quantity){0}, "0");
}

static void json_strings_and_numbers_are_quantities(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("['1Gi',' 2 ',3,1.5,null,1e30,true,{}]");
    const kc_value *root = kc_view_root(view);
    static const char *const wanted[] = {"1Gi", "2", "3", "1500m", "0", "1e30"};
    kc_quantity q;
    for (size_t i = 0; i < KC_COUNT(wanted); i++) {
        assert_int_equal(kc_quantity_from(kc_value_at(root, i), &q, NULL), 0);
        assert_prints(q, wanted[i]);
    }
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_quantity_from(kc_value_at(root, 6), &q, &err), -KC_BAD_REQUEST);
    assert_error(&err, KC_BAD_REQUEST, "not a value of type boolean");
    assert_int_equal(kc_quantity_from(kc_value_at(root, 7), &q, NULL), -KC_BAD_REQUEST);
}

TESTS(canonical_text_has_no_fraction_and_largest_suffix, values_finer_than_nano_are_rounded_up,
      small_or_fractional_binary_number_prints_in_decimal, only_binary_numbers_are_capped,
      number_too_large_for_suffix_prints_with_exponent,
      invalid_quantity_fails_with_message_of_kubernetes,
      number_without_digits_is_zero_as_in_kubernetes, values_beyond_limits_fail,
      rewrite_keeps_text_that_kubernetes_keeps, quantities_compare_by_value,
      sums_are_exact_and_keep_the_first_form, sum_beyond_38_digits_fails_and_changes_nothing,
      values_are_rounded_away_from_zero, only_integers_in_range_convert_to_int64,
      quantities_are_created_from_numbers, json_strings_and_numbers_are_quantities)
