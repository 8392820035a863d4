/* SPDX-License-Identifier: Apache-2.0 */
/* go_json.c: what is wrong with a text, in the words of Go's decoder. */
#include "testing.h"

#include "apiserver/rest/go_json.h"
#include "kc/json.h"

static void says(const char *text, const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    assert_true(kc__go_json_complaint(kc_cstr(text), &out));
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static void is_fine(const char *text)
{
    kc_scoped(kc_buf) out = {0};
    assert_false(kc__go_json_complaint(kc_cstr(text), &out));
    assert_int_equal(out.n, 0);
}

static void json_is_nothing_to_complain_about(void **state)
{
    (void)state;
    is_fine("{}");
    is_fine(" [ ] ");
    is_fine("{\"a\":[1,-2.5e+3,true,false,null,\"\\u00e4\\n\"],\"b\":{\"c\":{}}}");
    is_fine("0");
}

static void a_text_that_ends_too_early_says_so(void **state)
{
    (void)state;
    static const char *const texts[] = {"",    " ", "{",  "[1,", "{\"a\"", "\"abc",  "{\"a\":",
                                        "tru", "-", "[1", "1.",  "1e",     "\"\\u1", "\"\\"};
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        says(texts[i], "unexpected end of JSON input");
}

static void a_wrong_character_is_named_with_its_place(void **state)
{
    (void)state;
    says("hello", "invalid character 'h' looking for beginning of value");
    says("{} x", "invalid character 'x' after top-level value");
    says("{}{}", "invalid character '{' after top-level value");
    says("{a:1}", "invalid character 'a' looking for beginning of object key string");
    says("{\"a\":1,}", "invalid character '}' looking for beginning of object key string");
    says("{\"a\" 1}", "invalid character '1' after object key");
    says("{\"a\":1 2}", "invalid character '2' after object key:value pair");
    says("[1 2]", "invalid character '2' after array element");
    says("[1,]", "invalid character ']' looking for beginning of value");
    says("\"a\nb\"", "invalid character '\\n' in string literal");
    says("\"\\x\"", "invalid character 'x' in string escape code");
    says("\"\\u00g0\"", "invalid character 'g' in \\u hexadecimal character escape");
    says("trie", "invalid character 'i' in literal true (expecting 'u')");
    says("nuxl", "invalid character 'x' in literal null (expecting 'l')");
    says("-x", "invalid character 'x' in numeric literal");
    says("1.x", "invalid character 'x' after decimal point in numeric literal");
    says("1ex", "invalid character 'x' in exponent of numeric literal");
    says("01", "invalid character '1' after top-level value");
    says("'", "invalid character '\\'' looking for beginning of value");
    says("\x01", "invalid character '\\x01' looking for beginning of value");
}

static void depth_costs_no_stack(void **state)
{
    (void)state;
    kc_scoped(kc_buf) deep = {0};
    for (int i = 0; i < 1000000; i++)
        kc_buf_putc(&deep, '[');
    says(kc_buf_cstr(&deep), "unexpected end of JSON input");
}

static void types_have_their_names_in_go(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"{}", "object"}, {"[]", "array"},   {"\"a\"", "string"},
                                           {"1", "number"},  {"1.5", "number"}, {"true", "bool"},
                                           {"null", ""}};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_auto(kc_view) *view = kc_view_parse(kc_cstr(names[i][0]), NULL, NULL);
        assert_string_equal(kc__go_json_type(kc_view_root(view)), names[i][1]);
    }
}

TESTS(json_is_nothing_to_complain_about, a_text_that_ends_too_early_says_so,
      a_wrong_character_is_named_with_its_place, depth_costs_no_stack, types_have_their_names_in_go)
