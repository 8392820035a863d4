/* SPDX-License-Identifier: Apache-2.0 */
#include "http/message/header.h"
#include "testing.h"

static void names_are_case_insensitive_and_first_value_is_returned(void **state)
{
    (void)state;
    kc_scoped(kc__http_headers) h = {0};
    size_t at = 0;
    kc_str value = {0};
    assert_int_equal(kc__http_headers_add(&h, KC_STR("Accept"), KC_STR(" \ta/b\t "), NULL), 0);
    assert_int_equal(kc__http_headers_add(&h, KC_STR("Host"), KC_STR("x"), NULL), 0);
    assert_int_equal(kc__http_headers_add(&h, KC_STR("accept"), KC_STR("c/d"), NULL), 0);
    assert_str(kc__http_headers_get(&h, KC_STR("ACCEPT")), "a/b");
    assert_true(kc__http_headers_next(&h, KC_STR("accept"), &at, &value));
    assert_true(kc__http_headers_next(&h, KC_STR("accept"), &at, &value));
    assert_str(value, "c/d");
    assert_false(kc__http_headers_next(&h, KC_STR("accept"), &at, &value));
    assert_str(value, "c/d");
    assert_str(kc__http_headers_get(&h, KC_STR("Accept-Encoding")), "");
    kc__http_headers_clear(&h);
    assert_str(kc__http_headers_get(&h, KC_STR("Host")), "");
}

static void names_must_be_tokens(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "a b", "a:",  "a\r\n", "\xC3\xA9",
                                      "a/b", "(a)", "a\"", "a@b"};
    assert_true(kc__http_is_header_name(KC_STR("X-Kc_1!#$%&'*+-.^`|~")));
    assert_false(kc__http_is_header_name(KC_STR("a\0")));
    for (size_t i = 0; i < KC_COUNT(bad); i++) {
        kc_scoped(kc__http_headers) h = {0};
        kc_scoped(kc_error) err = {0};
        assert_int_equal(kc__http_headers_add(&h, kc_cstr(bad[i]), KC_STR("v"), &err),
                         -KC_BAD_REQUEST);
        assert_error(&err, KC_BAD_REQUEST, "name of a header field");
        assert_int_equal(h.list.n, 0);
    }
}

static void values_with_control_characters_are_refused(void **state)
{
    (void)state;
    static const kc_str bad[] = {KC_STR_INIT("a\r\nb: c"), KC_STR_INIT("\n"),
                                 KC_STR_INIT("a\0b"),      KC_STR_INIT("a\rb"),
                                 KC_STR_INIT("\x7F"),      KC_STR_INIT("\x01")};
    assert_true(kc__http_is_header_value(KC_STR("a\tb \xC3\xA9\xFF")));
    assert_true(kc__http_is_header_value(KC_STR("")));
    for (size_t i = 0; i < KC_COUNT(bad); i++) {
        kc_scoped(kc__http_headers) h = {0};
        kc_scoped(kc_error) err = {0};
        assert_int_equal(kc__http_headers_add(&h, KC_STR("Warning"), bad[i], &err),
                         -KC_BAD_REQUEST);
        assert_error(&err, KC_BAD_REQUEST, "header field Warning has a control character");
    }
}

static void number_and_size_are_limited(void **state)
{
    (void)state;
    kc_scoped(kc__http_headers) few = {.max_count = 2};
    kc_scoped(kc__http_headers) small = {.max_bytes = 10};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc__http_headers_add(&few, KC_STR("a"), KC_STR(""), NULL), 0);
    assert_int_equal(kc__http_headers_add(&few, KC_STR("a"), KC_STR(""), NULL), 0);
    assert_int_equal(kc__http_headers_add(&few, KC_STR("a"), KC_STR(""), &err), -KC_TOO_LARGE);
    assert_error(&err, KC_TOO_LARGE, "more than 2 header fields");
    kc_error_done(&err);
    assert_int_equal(kc__http_headers_add(&small, KC_STR("abc"), KC_STR("de"), NULL), 0);
    assert_int_equal(kc__http_headers_add(&small, KC_STR("abc"), KC_STR("de"), NULL), 0);
    assert_int_equal(kc__http_headers_add(&small, KC_STR("a"), KC_STR(""), &err), -KC_TOO_LARGE);
    assert_error(&err, KC_TOO_LARGE, "more than 10 bytes");
    kc__http_headers_clear(&small);
    assert_int_equal(kc__http_headers_add(&small, KC_STR("a"), KC_STR(""), NULL), 0);
    assert_int_equal(kc__http_headers_add(&small, KC_STR("abcdefghijk"), KC_STR(""), NULL),
                     -KC_TOO_LARGE);
}

static void default_limit_is_128_headers(void **state)
{
    (void)state;
    kc_scoped(kc__http_headers) h = {0};
    for (int i = 0; i < 128; i++)
        assert_int_equal(kc__http_headers_add(&h, KC_STR("a"), KC_STR("b"), NULL), 0);
    assert_int_equal(kc__http_headers_add(&h, KC_STR("a"), KC_STR("b"), NULL), -KC_TOO_LARGE);
}

static void gzip_is_accepted_unless_q_is_zero(void **state)
{
    (void)state;
    static const char *const yes[] = {"gzip", "gzip, deflate, br", "deflate,gzip;q=0.5",
                                      "GZIP ; q=1 ", "br;q=0,gzip;q=0.001"};
    static const char *const no[] = {
        "",       "identity", "*",           "gzip;q=0",     "gzip; Q = 0.000",
        "x-gzip", "gzi",      "deflate, br", "gzip;x=1;q=0", "br;gzip"};
    for (size_t i = 0; i < KC_COUNT(yes); i++)
        assert_true(kc__http_accepts_gzip(kc_cstr(yes[i])));
    for (size_t i = 0; i < KC_COUNT(no); i++)
        assert_false(kc__http_accepts_gzip(kc_cstr(no[i])));
    assert_false(kc__http_accepts_gzip((kc_str){0}));
}

static void etag_is_found_in_a_list(void **state)
{
    (void)state;
    static const char *const yes[] = {"\"abc\"",
                                      "W/\"abc\"",
                                      "*",
                                      " * ",
                                      "\"x\", \"abc\"",
                                      ",, \"abc\"",
                                      "\"x,\\\",W/\"abc\"",
                                      "\"\" ,\"abc\" , \"y\""};
    static const char *const no[] = {"",
                                     "abc",
                                     "\"abc",
                                     "\"ABC\"",
                                     "w/\"abc\"",
                                     "\"x\\\"abc\"",
                                     "\"x\" \"abc\"",
                                     "\"ab\",\"c\"",
                                     "\"*\"",
                                     "\"x\" W/\"abc\"",
                                     "W/abc"};
    for (size_t i = 0; i < KC_COUNT(yes); i++) {
        assert_true(kc__http_etag_matches(kc_cstr(yes[i]), KC_STR("\"abc\"")));
        assert_true(kc__http_etag_matches(kc_cstr(yes[i]), KC_STR("W/\"abc\"")));
    }
    for (size_t i = 0; i < KC_COUNT(no); i++)
        assert_false(kc__http_etag_matches(kc_cstr(no[i]), KC_STR("\"abc\"")));
}

static void retry_after_is_parsed_in_seconds(void **state)
{
    (void)state;
    int seconds = 7;
    static const char *const bad[] = {"",           "-1",   "1.5",
                                      "2147483648", "soon", "Sun, 06 Nov 1994 08:49:37 GMT"};
    for (size_t i = 0; i < KC_COUNT(bad); i++)
        assert_false(kc__http_retry_after(kc_cstr(bad[i]), &seconds));
    assert_int_equal(seconds, 7);
    assert_true(kc__http_retry_after(KC_STR(" 30 "), &seconds));
    assert_int_equal(seconds, 30);
    assert_true(kc__http_retry_after(KC_STR("0"), &seconds));
    assert_int_equal(seconds, 0);
}

static void dates_have_the_http_format(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } table[] = {
        {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {INT64_C(784111777) * 1000000000, "Sun, 06 Nov 1994 08:49:37 GMT"},
        {INT64_C(784111777999999999), "Sun, 06 Nov 1994 08:49:37 GMT"},
        {INT64_C(1709210096000000000), "Thu, 29 Feb 2024 12:34:56 GMT"},
        {-1, "Wed, 31 Dec 1969 23:59:59 GMT"},
        {INT64_MAX, "Fri, 11 Apr 2262 23:47:16 GMT"},
        {INT64_MIN, "Tue, 21 Sep 1677 00:12:43 GMT"},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        char out[KC__HTTP_DATE];
        assert_str(kc__http_date(table[i].ns, out), table[i].text);
        assert_int_equal(strlen(out), KC__HTTP_DATE - 1);
    }
}

TESTS(names_are_case_insensitive_and_first_value_is_returned, names_must_be_tokens,
      values_with_control_characters_are_refused, number_and_size_are_limited,
      default_limit_is_128_headers, gzip_is_accepted_unless_q_is_zero, etag_is_found_in_a_list,
      retry_after_is_parsed_in_seconds, dates_have_the_http_format)
