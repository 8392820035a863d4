/* SPDX-License-Identifier: Apache-2.0 */
/* go_json.c: errors of invalid JSON with the messages of Go's decoder. */
#include "testing.h"

#include "apiserver/call/go_json.h"
#include "kc/json.h"

static void assert_json_error(const char *text, const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    assert_true(kc__rest_go_json_error(kc_cstr(text), &out));
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static void assert_json_valid(const char *text)
{
    kc_scoped(kc_buf) out = {0};
    assert_false(kc__rest_go_json_error(kc_cstr(text), &out));
    assert_int_equal(out.n, 0);
}

static void valid_json_has_no_error(void **state)
{
    (void)state;
    assert_json_valid("{}");
    assert_json_valid(" [ ] ");
    assert_json_valid("{\"a\":[1,-2.5e+3,true,false,null,\"\\u00e4\\n\"],\"b\":{\"c\":{}}}");
    assert_json_valid("0");
}

static void truncated_json_is_unexpected_end(void **state)
{
    (void)state;
    static const char *const texts[] = {"",    " ", "{",  "[1,", "{\"a\"", "\"abc",  "{\"a\":",
                                        "tru", "-", "[1", "1.",  "1e",     "\"\\u1", "\"\\"};
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        assert_json_error(texts[i], "unexpected end of JSON input");
}

static void invalid_character_is_named_with_its_context(void **state)
{
    (void)state;
    assert_json_error("hello", "invalid character 'h' looking for beginning of value");
    assert_json_error("{} x", "invalid character 'x' after top-level value");
    assert_json_error("{}{}", "invalid character '{' after top-level value");
    assert_json_error("{a:1}", "invalid character 'a' looking for beginning of object key string");
    assert_json_error("{\"a\":1,}",
                      "invalid character '}' looking for beginning of object key string");
    assert_json_error("{\"a\" 1}", "invalid character '1' after object key");
    assert_json_error("{\"a\":1 2}", "invalid character '2' after object key:value pair");
    assert_json_error("[1 2]", "invalid character '2' after array element");
    assert_json_error("[1,]", "invalid character ']' looking for beginning of value");
    assert_json_error("\"a\nb\"", "invalid character '\\n' in string literal");
    assert_json_error("\"\\x\"", "invalid character 'x' in string escape code");
    assert_json_error("\"\\u00g0\"", "invalid character 'g' in \\u hexadecimal character escape");
    assert_json_error("trie", "invalid character 'i' in literal true (expecting 'u')");
    assert_json_error("nuxl", "invalid character 'x' in literal null (expecting 'l')");
    assert_json_error("-x", "invalid character 'x' in numeric literal");
    assert_json_error("1.x", "invalid character 'x' after decimal point in numeric literal");
    assert_json_error("1ex", "invalid character 'x' in exponent of numeric literal");
    assert_json_error("01", "invalid character '1' after top-level value");
    assert_json_error("'", "invalid character '\\'' looking for beginning of value");
    assert_json_error("\x01", "invalid character '\\x01' looking for beginning of value");
}

static void deep_nesting_uses_no_stack(void **state)
{
    (void)state;
    kc_scoped(kc_buf) deep = {0};
    for (int i = 0; i < 1000000; i++)
        kc_buf_putc(&deep, '[');
    assert_json_error(kc_buf_cstr(&deep), "unexpected end of JSON input");
}

static void json_types_have_go_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"{}", "object"}, {"[]", "array"},   {"\"a\"", "string"},
                                           {"1", "number"},  {"1.5", "number"}, {"true", "bool"},
                                           {"null", ""}};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_auto(kc_view) *view = kc_view_parse(kc_cstr(names[i][0]), NULL, NULL);
        assert_string_equal(kc__rest_go_json_type(kc_view_root(view)), names[i][1]);
    }
}

TESTS(valid_json_has_no_error, truncated_json_is_unexpected_end,
      invalid_character_is_named_with_its_context, deep_nesting_uses_no_stack,
      json_types_have_go_names)
