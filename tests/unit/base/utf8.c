/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h: valid and invalid sequences. */
#include "testing.h"

#include "kc/utf8.h"

static void sequences_of_every_length_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        uint32_t code;
    } cases[] = {
        {"A", 1, 'A'},
        {"\x7f!", 1, 0x7F},
        {"\xC2\x80", 2, 0x80},
        {"\xDF\xBF", 2, 0x7FF},
        {"\xE0\xA0\x80", 3, 0x800},
        {"\xED\x9F\xBF", 3, 0xD7FF},
        {"\xEF\xBF\xBF", 3, 0xFFFF},
        {"\xF0\x90\x80\x80", 4, 0x10000},
        {"\xF4\x8F\xBF\xBF", 4, 0x10FFFF},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        uint32_t code = 1;
        assert_int_equal(kc_utf8_next(kc_cstr(cases[i].text), &code), cases[i].n);
        assert_int_equal(code, cases[i].code);
        assert_int_equal(kc_utf8_next(kc_cstr(cases[i].text), NULL), cases[i].n);
    }
}

static void malformed_bytes_return_zero(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "\x80",
        "\xC0\x80",
        "\xC1\xBF",
        "\xC2",
        "\xC2 ",
        "\xE0\x80\x80",
        "\xE0\x9F\xBF",
        "\xE2\x82",
        "\xED\xA0\x80",
        "\xED\xBF\xBF",
        "\xF0\x80\x80\x80",
        "\xF0\x8F\xBF\xBF",
        "\xF0\x90\x80",
        "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80",
        "\xFF",
        "\xFE",
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        uint32_t code = 77;
        assert_int_equal(kc_utf8_next(kc_cstr(cases[i]), &code), 0);
        assert_int_equal(code, 77);
    }
}

static void text_with_a_malformed_byte_is_not_valid(void **state)
{
    (void)state;
    assert_true(kc_utf8_is_valid(KC_STR("")));
    assert_true(kc_utf8_is_valid(KC_STR("a\xc3\xa9\xe2\x82\xac")));
    assert_false(kc_utf8_is_valid(KC_STR("a\xc3")));
    assert_false(kc_utf8_is_valid(KC_STR("\xff"
                                         "b")));
}

TESTS(sequences_of_every_length_are_decoded, malformed_bytes_return_zero,
      text_with_a_malformed_byte_is_not_valid)
