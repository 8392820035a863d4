/* SPDX-License-Identifier: Apache-2.0 */
/* write.c: quotes and escapes at every position, so that each path through a string is taken. */
#include "testing.h"

#include "kc/json.h"
#include "object/json/json_plain.h"

/* What kc_json_quote writes, byte by byte. */
static void quote_slowly(kc_buf *out, const char *text, size_t n)
{
    kc_buf_putc(out, '"');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"' || text[i] == '\\')
            kc_buf_putc(out, '\\');
        if (text[i] == '\n')
            kc_buf_puts(out, "\\n");
        else if (text[i] == '\x01')
            kc_buf_puts(out, "\\u0001");
        else if (text[i] == '\xff')
            kc_buf_puts(out, "\xEF\xBF\xBD");
        else
            kc_buf_putc(out, text[i]);
    }
    kc_buf_putc(out, '"');
}

static void special_character_is_escaped_at_every_position(void **state)
{
    (void)state;
    static const char specials[] = {'"', '\\',   '\n', '\x01', '\xff', ' ',
                                    '~', '\x7f', '!',  '#',    '['};
    for (size_t n = 1; n <= 40; n++)
        for (size_t at = 0; at < n; at++)
            for (size_t i = 0; i < sizeof(specials); i++) {
                char text[40];
                memset(text, 'a', sizeof(text));
                text[at] = text[n - 1 - at] = specials[i];
                kc_scoped(kc_buf) fast = {0}, slow = {0};
                kc_json_quote(&fast, kc_str_of(text, n));
                quote_slowly(&slow, text, n);
                assert_true(kc_str_eq(kc_buf_str(&fast), kc_buf_str(&slow)));
            }
}

static void characters_beyond_ascii_are_written_as_they_are(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_json_quote(&out,
                  KC_STR("\xc3\xa4\xe2\x82\xac\"\xf0\x9f\x98\x80 plain and long enough \xc3"));
    assert_str(kc_buf_str(&out),
               "\"\xc3\xa4\xe2\x82\xac\\\"\xf0\x9f\x98\x80 plain and long enough \xEF\xBF\xBD\"");
}

static void plain_length_ends_at_first_special_byte(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        bool plain = c >= ' ' && c < 0x80 && c != '"' && c != '\\';
        for (size_t at = 0; at < 20; at++) {
            char text[20];
            memset(text, 'z', sizeof(text));
            text[at] = (char)c;
            assert_int_equal(kc__json_plain_length(kc_str_of(text, sizeof(text))), plain ? 20 : at);
        }
    }
    assert_int_equal(kc__json_plain_length((kc_str){0}), 0);
}

static void strings_become_an_array(void **state)
{
    (void)state;
    const kc_str texts[] = {KC_STR("a"), KC_STR("\""), KC_STR("")};
    kc_scoped(kc_buf) out = {0};
    kc_json_quote_all(&out, texts, 0);
    kc_json_quote_all(&out, texts, KC_COUNT(texts));
    assert_string_equal(kc_buf_cstr(&out), "[][\"a\",\"\\\"\",\"\"]");
}

TESTS(special_character_is_escaped_at_every_position,
      characters_beyond_ascii_are_written_as_they_are, plain_length_ends_at_first_special_byte,
      strings_become_an_array)
