/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_testing.h"

static kc_schema *pattern_schema(const char *pattern, kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_puts(&json, "{\"type\":\"string\",\"pattern\":");
    kc_json_quote(&json, kc_cstr(pattern));
    kc_buf_putc(&json, '}');
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    return kc_schema_compile(kc_view_root(view), NULL, err);
}

static bool matches(const char *pattern, const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) quoted = {0};
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_schema) *schema = pattern_schema(pattern, &err);
    if (!schema)
        fail_msg("%s: %s", pattern, kc_error_text(&err));
    kc_json_quote(&quoted, kc_cstr(text));
    kc_auto(kc_view) *value = kc_view_parse(kc_buf_str(&quoted), NULL, NULL);
    return kc_schema_validate(schema, kc_view_root(value), NULL, &errors);
}

#define assert_matches(pattern, text) assert_true(matches(pattern, text))
#define assert_differs(pattern, text) assert_false(matches(pattern, text))

static void assert_bad(const char *pattern, const char *why)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_schema) *schema = pattern_schema(pattern, &err);
    assert_null(schema);
    assert_error(&err, KC_INVALID, why);
}

static void pattern_may_match_anywhere(void **state)
{
    (void)state;
    assert_matches("b", "abc");
    assert_matches("", "");
    assert_differs("^b", "abc");
}

static void dollar_matches_only_end_of_text(void **state)
{
    (void)state;
    assert_differs("a$", "a\n");
    assert_matches("(?m)a$", "a\n");
    assert_differs("a\\z", "a\n");
    assert_differs("a.b", "a\nb");
    assert_matches("(?s)a.b", "a\nb");
}

static void classes_are_ascii_by_default(void **state)
{
    (void)state;
    assert_differs("^\\w$", "\u00e9");
    assert_matches("^\\pL$", "\u00e9");
    assert_matches("^\\p{Greek}$", "\u03b1");
    assert_differs("^\\P{Greek}$", "\u03b1");
    assert_matches("^[[:alpha:]]$", "a");
    assert_matches("^[^[:alpha:]]$", "1");
    assert_differs("\\s", "\v");
    assert_matches("^\\S$", "\v");
    assert_matches("^[\\S]$", "\v");
    assert_matches("^\\v$", "\v");
    assert_differs("^\\v$", "\n");
    assert_matches("(?i)^STRASSE$", "strasse");
}

static void characters_are_code_points(void **state)
{
    (void)state;
    assert_matches("^..$", "\u00e9\U0001F600");
    assert_matches("^[\u00e0-\u00ff]$", "\u00e9");
    assert_matches("^\\x{e9}\\101\\x41$", "\u00e9AA");
}

static void braces_and_brackets_may_be_literal(void **state)
{
    (void)state;
    assert_matches("^a{,3}$", "a{,3}");
    assert_matches("^{}$", "{}");
    assert_matches("^[]a]+$", "]a");
    assert_matches("^[a-]$", "-");
    assert_matches("^\\Qa.b*\\E$", "a.b*");
    assert_matches("^a{2,3}$", "aaa");
    assert_differs("^a{2}$", "aaa");
}

static void groups_may_have_names_and_flags(void **state)
{
    (void)state;
    assert_matches("^(?P<n>a)(?<m>b)(?:c)(?i:D)(?U)e+$", "abcdee");
    assert_matches("^(a|)*$", "");
    assert_matches("^*a", "a");
}

static void syntax_unsupported_by_re2_fails_with_its_message(void **state)
{
    (void)state;
    assert_bad("a(?=b)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`");
    assert_bad("(a)\\1", "error parsing regexp: invalid escape sequence: `\\1`");
    assert_bad("a++", "error parsing regexp: invalid nested repetition operator: `++`");
    assert_bad("*a", "error parsing regexp: missing argument to repetition operator: `*`");
    assert_bad("(a", "error parsing regexp: missing closing ): `(a`");
    assert_bad("a)", "error parsing regexp: unexpected ): `a)`");
    assert_bad("[a", "error parsing regexp: missing closing ]: `[a`");
    assert_bad("[b-a]", "error parsing regexp: invalid character class range: `b-a`");
    assert_bad("[[:no:]]", "error parsing regexp: invalid character class range: `[:no:]`");
    assert_bad("\\p{No_Such}", "error parsing regexp: invalid character class range");
    assert_bad("a{1001}", "error parsing regexp: invalid repeat count: `{1001}`");
    assert_bad("((a{100}){100})", "error parsing regexp: invalid repeat count: `{100}`");
    assert_bad("(?P<a b>x)", "error parsing regexp: invalid named capture: `(?P<a b>`");
    assert_bad("a\\", "error parsing regexp: trailing backslash at end of expression: ``");
    assert_bad("\\h", "error parsing regexp: invalid escape sequence: `\\h`");
    assert_bad("(?x)a b", "invalid or unsupported Perl syntax: `(?x`");
    assert_bad("a\\Kb", "invalid escape sequence: `\\K`");
}

static void deep_nesting_fails(void **state)
{
    (void)state;
    kc_scoped(kc_buf) pattern = {0};
    for (int i = 0; i < 1100; i++)
        kc_buf_putc(&pattern, '(');
    for (int i = 0; i < 1100; i++)
        kc_buf_putc(&pattern, ')');
    assert_bad(kc_buf_cstr(&pattern), "expression nests too deeply");
}

TESTS(pattern_may_match_anywhere, dollar_matches_only_end_of_text, classes_are_ascii_by_default,
      characters_are_code_points, braces_and_brackets_may_be_literal,
      groups_may_have_names_and_flags, syntax_unsupported_by_re2_fails_with_its_message,
      deep_nesting_fails)
