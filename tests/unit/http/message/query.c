/* SPDX-License-Identifier: Apache-2.0 */
#include "http/message/query.h"
#include "testing.h"

static kc__query parsed(kc_arena *arena, const char *text)
{
    kc__query query = {0};
    assert_int_equal(kc__query_parse(kc_cstr(text), NULL, arena, &query, NULL), 0);
    return query;
}

/* "name=value|name=value", decoded. */
static void assert_params(const char *text, const char *expected)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) out = {0};
    kc__query query = parsed(&arena, text);
    for (size_t i = 0; i < query.n; i++)
        kc_buf_printf(&out, "%s%.*s=%.*s", i ? "|" : "", KC_ARG(query.params[i].name),
                      KC_ARG(query.params[i].value));
    assert_str(kc_buf_str(&out), expected);
}

static void parameters_are_decoded_in_order(void **state)
{
    (void)state;
    assert_params("", "");
    assert_params("watch=1", "watch=1");
    assert_params("a=1&b=2&a=3", "a=1|b=2|a=3");
    assert_params("labelSelector=app%3Dweb%2Ctier+in+%28a%29", "labelSelector=app=web,tier in (a)");
    assert_params("a%26b=c%3Dd", "a&b=c=d");
    assert_params("a=b=c", "a=b=c");
    assert_params("verbose", "verbose=");
    assert_params("verbose=", "verbose=");
    assert_params("=x", "=x");
    assert_params("&&a=1&", "a=1");
    assert_params("a=%252B", "a=%2B");
    assert_params("a=\xC3\xA9", "a=\xC3\xA9");
}

static void malformed_parameters_are_skipped_and_counted(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    assert_params("a=1&b=%zz&c=3", "a=1|c=3");
    assert_params("%=1&c=3", "c=3");
    assert_params("a=1;b=2&c=3", "c=3");
    assert_params("a=%3B", "a=;");
    assert_int_equal(parsed(&arena, "a=%&b;&c=1&%2").n_skipped, 3);
    assert_int_equal(parsed(&arena, "a=1&&b=2").n_skipped, 0);
}

static void first_value_wins_and_all_can_be_iterated(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__query q = parsed(&arena, "dryRun=All&x=&dryRun=None");
    kc_str value = KC_STR("untouched");
    size_t at = 0;
    assert_true(kc__query_get(&q, KC_STR("dryRun"), &value));
    assert_str(value, "All");
    assert_true(kc__query_next(&q, KC_STR("dryRun"), &at, &value));
    assert_true(kc__query_next(&q, KC_STR("dryRun"), &at, &value));
    assert_str(value, "None");
    assert_false(kc__query_next(&q, KC_STR("dryRun"), &at, &value));
    assert_false(kc__query_get(&q, KC_STR("dryrun"), &value));
    assert_str(value, "None");
    assert_true(kc__query_has(&q, KC_STR("x")));
    assert_false(kc__query_has(&q, KC_STR("y")));
}

static void result_does_not_depend_on_the_input_text(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    char text[] = "a=1";
    kc__query q = parsed(&arena, text);
    memset(text, '!', sizeof(text) - 1);
    assert_str(q.params[0].name, "a");
    assert_str(q.params[0].value, "1");
}

static void flag_is_true_unless_absent_zero_or_false(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    assert_false(kc__query_flag(&(kc__query){0}, KC_STR("watch")));
    static const char *const yes[] = {
        "watch=1", "watch=true", "watch=", "watch", "watch=yes", "watch=00"};
    static const char *const no[] = {"watch=0",     "watch=false", "watch=FALSE",
                                     "watch=False", "w=1",         "watch=0&watch=1"};
    for (size_t i = 0; i < KC_COUNT(yes); i++) {
        kc__query q = parsed(&arena, yes[i]);
        assert_true(kc__query_flag(&q, KC_STR("watch")));
    }
    for (size_t i = 0; i < KC_COUNT(no); i++) {
        kc__query q = parsed(&arena, no[i]);
        assert_false(kc__query_flag(&q, KC_STR("watch")));
    }
}

static void strict_boolean_accepts_twelve_spellings(void **state)
{
    (void)state;
    static const char *const words[] = {"1", "t", "T", "true",  "TRUE",  "True",
                                        "0", "f", "F", "false", "FALSE", "False"};
    kc_scoped(kc_arena) arena = {0};
    for (size_t i = 0; i < KC_COUNT(words); i++) {
        kc__query q = parsed(&arena, kc_arena_printf(&arena, "pretty=%s", words[i]));
        bool value = i >= 6;
        assert_int_equal(kc__query_bool(&q, KC_STR("pretty"), false, &value, NULL), 0);
        assert_int_equal(value, i < 6);
    }
}

static void strict_boolean_refuses_other_values(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"pretty=yes", "strconv.ParseBool: parsing \"yes\": invalid syntax"},
        {"pretty=", "strconv.ParseBool: parsing \"\": invalid syntax"},
        {"pretty=tRUE", "strconv.ParseBool: parsing \"tRUE\": invalid syntax"},
        {"pretty=%22%0A", "strconv.ParseBool: parsing \"\\\"\\x0a\": invalid syntax"},
    };
    kc_scoped(kc_arena) arena = {0};
    bool value = false;
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        kc_scoped(kc_error) err = {0};
        kc__query q = parsed(&arena, table[i][0]);
        assert_int_equal(kc__query_bool(&q, KC_STR("pretty"), true, &value, &err), -KC_BAD_REQUEST);
        assert_string_equal(kc_error_text(&err), table[i][1]);
        assert_false(value);
    }
    kc__query none = parsed(&arena, "");
    assert_int_equal(kc__query_bool(&none, KC_STR("pretty"), true, &value, NULL), 0);
    assert_true(value);
}

static void signed_integers_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t number;
    } table[] = {
        {"limit=0", 0},         {"limit=500", 500},
        {"limit=%2B5", 5},      {"limit=-5", -5},
        {"limit=007", 7},       {"limit=9223372036854775807", INT64_MAX},
        {"other=1", 42},        {"limit=-9223372036854775808", INT64_MIN},
        {"limit=1&limit=2", 1},
    };
    kc_scoped(kc_arena) arena = {0};
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        int64_t number = 0;
        kc__query q = parsed(&arena, table[i].text);
        assert_int_equal(kc__query_i64(&q, KC_STR("limit"), 42, &number, NULL), 0);
        assert_int_equal(number, table[i].number);
    }
}

static void invalid_integer_is_refused_with_message_of_go(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"limit=abc", "strconv.ParseInt: parsing \"abc\": invalid syntax"},
        {"limit=", "strconv.ParseInt: parsing \"\": invalid syntax"},
        {"limit=-", "strconv.ParseInt: parsing \"-\": invalid syntax"},
        {"limit=%2B-1", "strconv.ParseInt: parsing \"+-1\": invalid syntax"},
        {"limit=1+", "strconv.ParseInt: parsing \"1 \": invalid syntax"},
        {"limit=1.5", "strconv.ParseInt: parsing \"1.5\": invalid syntax"},
        {"limit=0x10", "strconv.ParseInt: parsing \"0x10\": invalid syntax"},
        {"limit=1_000", "strconv.ParseInt: parsing \"1_000\": invalid syntax"},
        {"limit=9223372036854775808",
         "strconv.ParseInt: parsing \"9223372036854775808\": value out of range"},
        {"limit=-9223372036854775809",
         "strconv.ParseInt: parsing \"-9223372036854775809\": value out of range"},
        {"limit=99999999999999999999x",
         "strconv.ParseInt: parsing \"99999999999999999999x\": value out of range"},
    };
    kc_scoped(kc_arena) arena = {0};
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        kc_scoped(kc_error) err = {0};
        int64_t number = 7;
        kc__query q = parsed(&arena, table[i][0]);
        assert_int_equal(kc__query_i64(&q, KC_STR("limit"), 0, &number, &err), -KC_BAD_REQUEST);
        assert_string_equal(kc_error_text(&err), table[i][1]);
        assert_int_equal(number, 7);
    }
}

static void long_value_is_truncated_in_the_error(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) text = {0};
    int64_t number;
    kc_buf_puts(&text, "limit=");
    while (text.n < 10000)
        kc_buf_putc(&text, 'x');
    kc__query q = parsed(&arena, kc_buf_cstr(&text));
    assert_int_equal(kc__query_i64(&q, KC_STR("limit"), 0, &number, &err), -KC_BAD_REQUEST);
    assert_true(strlen(kc_error_text(&err)) < 400);
    assert_contains(kc_error_text(&err), "xxx...\"");
}

static void bytes_and_parameters_are_limited(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc__query q = {.n = 7};
    const kc__query_opts opts = {.max_bytes = 8, .max_params = 2};
    assert_int_equal(kc__query_parse(KC_STR("a=1&&b=2"), &opts, &arena, &q, NULL), 0);
    assert_int_equal(q.n, 2);
    assert_int_equal(kc__query_parse(KC_STR("a=1&b=234"), &opts, &arena, &q, &err), -KC_TOO_LARGE);
    assert_error(&err, KC_TOO_LARGE, "9 bytes: the limit is 8");
    kc_error_done(&err);
    assert_int_equal(kc__query_parse(KC_STR("a&b&c"), &opts, &arena, &q, &err), -KC_BAD_REQUEST);
    assert_error(&err, KC_BAD_REQUEST, "3 parameters: the limit is 2");
    assert_int_equal(q.n, 2);
}

static void default_limits_apply(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) text = {0};
    kc__query q;
    for (int i = 0; i < 1000; i++)
        kc_buf_puts(&text, "a&");
    assert_int_equal(kc__query_parse(kc_buf_str(&text), NULL, &arena, &q, NULL), 0);
    assert_int_equal(q.n, 1000);
    kc_buf_putc(&text, 'a');
    assert_int_equal(kc__query_parse(kc_buf_str(&text), NULL, &arena, &q, NULL), -KC_BAD_REQUEST);
    while (text.n <= 64 * 1024)
        kc_buf_putc(&text, 'a');
    assert_int_equal(kc__query_parse(kc_buf_str(&text), NULL, &arena, &q, NULL), -KC_TOO_LARGE);
}

static void small_arena_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {.limit = 8};
    kc__query q;
    assert_int_equal(kc__query_parse(KC_STR("a=1"), NULL, &arena, &q, NULL), -KC_TOO_LARGE);
}

TESTS(parameters_are_decoded_in_order, malformed_parameters_are_skipped_and_counted,
      first_value_wins_and_all_can_be_iterated, result_does_not_depend_on_the_input_text,
      flag_is_true_unless_absent_zero_or_false, strict_boolean_accepts_twelve_spellings,
      strict_boolean_refuses_other_values, signed_integers_are_parsed,
      invalid_integer_is_refused_with_message_of_go, long_value_is_truncated_in_the_error,
      bytes_and_parameters_are_limited, default_limits_apply, small_arena_is_an_error)
