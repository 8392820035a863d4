/* SPDX-License-Identifier: Apache-2.0 */
#include "object/regex/regex.h"
#include "testing.h"

static kc__regex *compiled(const char *pattern)
{
    kc_scoped(kc_buf) why = {0};
    kc__regex *re = kc__regex_compile(kc_cstr(pattern), NULL, &why);
    if (!re)
        fail_msg("%s: %s", pattern, kc_buf_cstr(&why));
    return re;
}

static void patterns_match_as_in_go(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        {"", "", true},
        {"", "x", true},
        {"a", "cab", true},
        {"^a", "ba", false},
        {"a$", "ba", true},
        {"a$", "a\n", false},
        {"^[a-z]+$", "abc", true},
        {"^[a-z]+$", "abC", false},
        {"^[^a-z]+$", "ABC\n", true},
        {"a|b|c", "xxc", true},
        {"^(?:a|ab)$", "ab", true},
        {"^a{2,3}$", "aa", true},
        {"^a{2,3}$", "aaaa", false},
        {"^a{2,}$", "aaaaaaa", true},
        {"^a{0}$", "", true},
        {"a{,2}", "a{,2}", true},
        {"a{x}", "a{x}", true},
        {"^.$", "é", true},
        {"^.$", "\n", false},
        {"(?s)^.$", "\n", true},
        {"(?m)^b$", "a\nb\nc", true},
        {"^b$", "a\nb\nc", false},
        {"(?i)HELLO", "say hello", true},
        {"(?i)[a-c]+$", "ABC", true},
        {"\\bfoo\\b", "a foo b", true},
        {"\\bfoo\\b", "afoob", false},
        {"\\Boo", "foo", true},
        {"^\\d{3}-\\w+\\s\\S$", "123-ab_ x", true},
        {"^[[:alpha:]]+[[:^digit:]]$", "abc!", true},
        {"^\\x41\\x{42}\\103$", "ABC", true},
        {"^\\Qa.b\\E$", "a.b", true},
        {"^\\Qa.b\\E$", "axb", false},
        {"^[\\]a-]+$", "]-a", true},
        {"^[]a]+$", "]a", true},
        {"^(a*)*$", "aaaa", true},
        {"^(a|aa)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false},
        {"(?U)a+", "aaa", true},
        {"x*", "", true},
        {"^$", "", true},
        {"\\z", "abc", true},
        {"^(?P<name>x)(?<other>y)$", "xy", true},
        {"^[α-ω]+$", "λογος", true},
        {"[^\\D]", "x5", true},
        {"^\\p{Greek}+$", "λογος", true},
        {"^\\pL+$", "aéλж漢", true},
        {"^\\PL+$", "12 !", true},
        {"^[\\p{Lu}\\p{Nd}]+$", "AÉ9", true},
        {"^\\p{^Lu}$", "a", true},
        {"^\\p{Any}$", "\n", true},
        {"(?i)^k$", "\u212a", true},
        {"(?i)^ſ$", "S", true},
        {"(?i)^ΣΑΣ$", "σας", true},
        {"(?i)^\\p{Lu}+$", "abc", true},
        {"\\p{Han}", "漢", true},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc__regex *re = compiled(rows[i].pattern);
        /* The second match runs on cached states. */
        for (int again = 0; again < 2; again++)
            if (kc__regex_match(re, kc_cstr(rows[i].text), NULL) != rows[i].matches)
                fail_msg("%s on %s", rows[i].pattern, rows[i].text);
        kc__regex_free(re);
    }
}

static void invalid_patterns_fail_with_messages_of_go(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"a(?=b)", "invalid or unsupported Perl syntax: `(?=`"},
        {"(a)\\1", "invalid escape sequence: `\\1`"},
        {"a++", "invalid nested repetition operator: `++`"},
        {"a**", "invalid nested repetition operator: `**`"},
        {"*a", "missing argument to repetition operator: `*`"},
        {"(*)", "missing argument to repetition operator: `*`"},
        {"(a", "missing closing ): `(a`"},
        {"a)", "unexpected ): `a)`"},
        {"[a", "missing closing ]: `[a`"},
        {"[b-a]", "invalid character class range: `b-a`"},
        {"[[:no:]]", "invalid character class range: `[:no:]`"},
        {"\\p{No_Such}", "invalid character class range: `\\p{No_Such}`"},
        {"a{1001}", "invalid repeat count: `{1001}`"},
        {"a{2,1}", "invalid repeat count: `{2,1}`"},
        {"((a{100}){100})", "invalid repeat count: `{100}`"},
        {"(?P<a b>x)", "invalid named capture: `(?P<a b>`"},
        {"a\\", "trailing backslash at end of expression: ``"},
        {"\\h", "invalid escape sequence: `\\h`"},
        {"\\xZ", "invalid escape sequence: `\\xZ`"},
        {"\\C", "invalid escape sequence: `\\C`"},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_scoped(kc_buf) why = {0}, want = {0};
        assert_null(kc__regex_compile(kc_cstr(rows[i][0]), NULL, &why));
        kc_buf_printf(&want, "error parsing regexp: %s", rows[i][1]);
        assert_string_equal(kc_buf_cstr(&why), kc_buf_cstr(&want));
    }
}

static void assert_finds(const char *pattern, const char *text, ptrdiff_t from, ptrdiff_t to,
                         ptrdiff_t group_from, ptrdiff_t group_to)
{
    kc__regex *re = compiled(pattern);
    kc_scoped(kc_arena) arena = {0};
    kc__regex_span spans[2];
    if (!kc__regex_find(re, kc_cstr(text), 0, &arena, spans, 2, NULL))
        fail_msg("%s: no match in %s", pattern, text);
    assert_int_equal(spans[0].from, from);
    assert_int_equal(spans[0].to, to);
    assert_int_equal(spans[1].from, group_from);
    assert_int_equal(spans[1].to, group_to);
    kc__regex_free(re);
}

static void find_returns_leftmost_match_by_preference(void **state)
{
    (void)state;
    assert_finds("a|ab", "xab", 1, 2, -1, -1);
    assert_finds("ab|a", "xab", 1, 3, -1, -1);
    assert_finds("a+", "xaaay", 1, 4, -1, -1);
    assert_finds("a+?", "xaaay", 1, 2, -1, -1);
    assert_finds("x(a*)y", "xaay", 0, 4, 1, 3);
    assert_finds("(a)|b", "b", 0, 1, -1, -1);
    assert_finds("(a|b)*", "abc", 0, 2, 1, 2);
    assert_finds("^b|c", "abc", 2, 3, -1, -1);
    assert_finds("\\b(\\w+)$", "foo bar", 4, 7, 4, 7);
    assert_finds("", "abc", 0, 0, -1, -1);
    assert_finds("é(.)", "aéü", 1, 5, 3, 5);
}

static void hostile_patterns_match_in_linear_time(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    for (int i = 0; i < 100000; i++)
        kc_buf_putc(&text, 'a');
    static const char *const patterns[] = {"(a*)*b", "(a|a)*b", "(a|aa)+$b", "a{0,500}b",
                                           "(?:a?){500}a{500}b"};
    for (size_t i = 0; i < KC_COUNT(patterns); i++) {
        kc__regex *re = compiled(patterns[i]);
        size_t n = i < 3 ? text.n : 2000;
        assert_false(kc__regex_match(re, kc_str_sub(kc_buf_str(&text), 0, n), NULL));
        assert_true(kc__regex_memory(re) < 400000);
        kc__regex_free(re);
    }
}

static void program_beyond_limit_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_buf) why = {0};
    assert_null(kc__regex_compile(KC_STR("(abcdefghij){1000}(abcdefghij){1000}(abcdefghij){1000}"),
                                  NULL, &why));
    assert_string_equal(kc_buf_cstr(&why), "error parsing regexp: expression too large");
}

static void full_cache_falls_back_to_simulation(void **state)
{
    (void)state;
    kc_scoped(kc_buf) why = {0};
    kc__regex_opts opts = {.max_cache = 1};
    kc__regex *re = kc__regex_compile(KC_STR("^[ab]*a[ab]{8}$"), &opts, &why);
    assert_non_null(re);
    assert_true(kc__regex_match(re, KC_STR("bbabbbbbbbb"), NULL));
    assert_false(kc__regex_match(re, KC_STR("bbbbbbbbbbb"), NULL));
    kc__regex_free(re);
}

static void match_beyond_steps_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_buf) why = {0};
    kc_scoped(kc_arena) arena = {0};
    kc__regex_opts opts = {.max_cache = 1};
    kc__regex *re = kc__regex_compile(KC_STR("(a?){100}b"), &opts, &why);
    kc__regex_span span;
    kc_str text = KC_STR("aaaaaaaaaaaaaaaaaaaab");
    uint64_t steps = 10000;
    assert_true(kc__regex_match(re, text, &steps));
    assert_in_range(steps, 1, 9999);
    steps = 1000;
    assert_false(kc__regex_match(re, text, &steps));
    assert_int_equal(steps, 0);
    steps = 1000;
    assert_false(kc__regex_find(re, text, 0, &arena, &span, 1, &steps));
    assert_int_equal(steps, 0);
    kc__regex_free(re);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_in_go),
        cmocka_unit_test(invalid_patterns_fail_with_messages_of_go),
        cmocka_unit_test(find_returns_leftmost_match_by_preference),
        cmocka_unit_test(hostile_patterns_match_in_linear_time),
        cmocka_unit_test(program_beyond_limit_is_refused),
        cmocka_unit_test(full_cache_falls_back_to_simulation),
        cmocka_unit_test(match_beyond_steps_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
