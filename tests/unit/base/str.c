/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

static const kc_str nothing = {NULL, 0};

static void slices_compare_by_bytes(void **state)
{
    (void)state;
    assert_true(kc_str_eq(KC_STR("a\0b"), kc_str_of("a\0b", 3)));
    assert_false(kc_str_eq(KC_STR("a\0b"), KC_STR("a\0c")));
    assert_false(kc_str_eq(KC_STR("a"), KC_STR("ab")));
    assert_true(kc_str_eq(nothing, KC_STR("")));
    assert_true(kc_str_is(nothing, NULL));
    assert_true(kc_str_is(kc_cstr("web"), "web"));
    assert_true(kc_str_empty(kc_cstr(NULL)));
}

static void order_is_by_byte_and_a_prefix_comes_first(void **state)
{
    (void)state;
    assert_true(kc_str_cmp(KC_STR("a"), KC_STR("b")) < 0);
    assert_true(kc_str_cmp(KC_STR("ab"), KC_STR("a")) > 0);
    assert_true(kc_str_cmp(KC_STR("\x7f"), KC_STR("\x80")) < 0);
    assert_true(kc_str_cmp(nothing, KC_STR("a")) < 0);
    assert_int_equal(kc_str_cmp(nothing, KC_STR("")), 0);
}

static void sub_is_clipped_to_slice(void **state)
{
    (void)state;
    kc_str s = KC_STR("website");
    assert_str(kc_str_sub(s, 3, 7), "site");
    assert_str(kc_str_sub(s, 3, 99), "site");
    assert_str(kc_str_sub(s, 5, 3), "");
    assert_str(kc_str_sub(s, 99, 100), "");
    assert_null(kc_str_sub(nothing, 1, 2).p);
}

static void prefixes_suffixes_and_parts_are_found(void **state)
{
    (void)state;
    kc_str s = KC_STR("kube-system");
    assert_true(kc_str_starts(s, KC_STR("kube-")));
    assert_true(kc_str_starts(s, nothing));
    assert_false(kc_str_starts(KC_STR("ku"), KC_STR("kube")));
    assert_true(kc_str_ends(s, KC_STR("system")));
    assert_true(kc_str_ends(nothing, nothing));
    assert_false(kc_str_ends(KC_STR("tem"), s));
    assert_true(kc_str_contains(s, KC_STR("e-s")));
    assert_true(kc_str_contains(nothing, nothing));
    assert_false(kc_str_contains(nothing, KC_STR("x")));
    assert_false(kc_str_contains(KC_STR("x"), s));
}

static void case_is_ignored_in_ascii_only(void **state)
{
    (void)state;
    assert_true(kc_str_eq_nocase(KC_STR("Content-TYPE"), KC_STR("content-type")));
    assert_false(kc_str_eq_nocase(KC_STR("\xc3\x84"), KC_STR("\xc3\xa4")));
    assert_false(kc_str_eq_nocase(KC_STR("@"), KC_STR("`")));
    assert_false(kc_str_eq_nocase(KC_STR("a"), KC_STR("ab")));
}

static void byte_is_found_from_either_end(void **state)
{
    (void)state;
    assert_int_equal(kc_str_find(KC_STR("a/b/c"), '/'), 1);
    assert_int_equal(kc_str_rfind(KC_STR("a/b/c"), '/'), 3);
    assert_int_equal(kc_str_find(KC_STR("abc"), '/'), -1);
    assert_int_equal(kc_str_find(nothing, '/'), -1);
    assert_int_equal(kc_str_rfind(nothing, '/'), -1);
}

static void white_space_is_trimmed_at_both_ends(void **state)
{
    (void)state;
    assert_str(kc_str_trim(KC_STR(" \t\r\n a b\v\f ")), "a b");
    assert_str(kc_str_trim(KC_STR("  ")), "");
    assert_str(kc_str_trim(nothing), "");
}

static void cut_returns_every_part_and_ends(void **state)
{
    (void)state;
    const char *expected[] = {"a", "", "b", ""};
    kc_str rest = KC_STR("a,,b,");
    size_t n = 0;
    while (rest.p) {
        kc_str part = kc_str_cut(&rest, ',');
        assert_true(n < KC_COUNT(expected));
        assert_str(part, expected[n++]);
    }
    assert_int_equal(n, KC_COUNT(expected));
    rest = KC_STR("");
    assert_str(kc_str_cut(&rest, ','), "");
    assert_null(rest.p);
}

static void copy_is_terminated(void **state)
{
    (void)state;
    kc_autofree char *copy = kc_str_dup(kc_str_of("website", 3));
    kc_autofree char *empty = kc_str_dup(nothing);
    assert_string_equal(copy, "web");
    assert_string_equal(empty, "");
}

static void integers_are_parsed(void **state)
{
    (void)state;
    uint64_t u = 0;
    int64_t i = 0;
    assert_true(kc_str_to_u64(KC_STR("18446744073709551615"), &u));
    assert_true(u == UINT64_MAX);
    assert_true(kc_str_to_u64(KC_STR("007"), &u));
    assert_int_equal(u, 7);
    assert_true(kc_str_to_i64(KC_STR("-9223372036854775808"), &i));
    assert_true(i == INT64_MIN);
    assert_true(kc_str_to_i64(KC_STR("9223372036854775807"), &i));
    assert_true(i == INT64_MAX);
    assert_true(kc_str_to_i64(KC_STR("-0"), &i));
    assert_int_equal(i, 0);
}

static void invalid_integer_fails_and_leaves_output_unchanged(void **state)
{
    (void)state;
    static const kc_str bad[] = {KC_STR_INIT(""),
                                 KC_STR_INIT("-"),
                                 KC_STR_INIT("+1"),
                                 KC_STR_INIT(" 1"),
                                 KC_STR_INIT("1 "),
                                 KC_STR_INIT("1.0"),
                                 KC_STR_INIT("0x1"),
                                 KC_STR_INIT("--1"),
                                 KC_STR_INIT("1\0"),
                                 KC_STR_INIT("1e3"),
                                 KC_STR_INIT("18446744073709551616"),
                                 KC_STR_INIT("99999999999999999999")};
    uint64_t u = 42;
    int64_t i = 42;
    for (size_t at = 0; at < KC_COUNT(bad); at++) {
        assert_false(kc_str_to_u64(bad[at], &u));
        assert_false(kc_str_to_i64(bad[at], &i));
    }
    assert_false(kc_str_to_u64(KC_STR("-1"), &u));
    assert_false(kc_str_to_i64(KC_STR("9223372036854775808"), &i));
    assert_false(kc_str_to_i64(KC_STR("-9223372036854775809"), &i));
    assert_int_equal(u, 42);
    assert_int_equal(i, 42);
}

static void hash_depends_on_every_byte_on_length_and_on_seed(void **state)
{
    (void)state;
    char text[40] = {0};
    uint64_t seen[KC_COUNT(text) * 2];
    for (size_t n = 0; n < KC_COUNT(text); n++)
        seen[n] = kc_str_hash(kc_str_of(text, n), 1);
    for (size_t i = 0; i < KC_COUNT(text); i++) {
        text[i] = 1;
        seen[KC_COUNT(text) + i] = kc_str_hash(kc_str_of(text, sizeof(text)), 1);
        text[i] = 0;
    }
    for (size_t i = 0; i < KC_COUNT(seen); i++)
        for (size_t j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
    assert_true(kc_str_hash(KC_STR("web"), 1) != kc_str_hash(KC_STR("web"), 2));
    assert_true(kc_str_hash(nothing, 1) == kc_str_hash(KC_STR(""), 1));
}

static void nearest_name_is_suggested(void **state)
{
    (void)state;
    static const char *const names[] = {"get", "describe", "delete", "apply"};
    assert_string_equal(kc_str_nearest(KC_STR("decribe"), names, 4), "describe");
    assert_string_equal(kc_str_nearest(KC_STR("GET"), names, 4), "get");
    assert_string_equal(kc_str_nearest(KC_STR("ge"), names, 4), "get");
    assert_null(kc_str_nearest(KC_STR("frobnicate"), names, 4));
    assert_null(kc_str_nearest(KC_STR("decribe"), names, 0));
}

static void unrelated_word_has_no_nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"y", "a"};
    char longest[100];
    memset(longest, 'y', sizeof(longest));
    assert_null(kc_str_nearest(KC_STR("x"), names, 2));
    assert_null(kc_str_nearest(nothing, names, 2));
    assert_null(kc_str_nearest(kc_str_of(longest, sizeof(longest)), names, 2));
}

static void is_any_finds_member_of_list(void **state)
{
    (void)state;
    static const char *const list[] = {"a", "bc", NULL}, *const none[] = {NULL};
    assert_true(kc_str_is_any(KC_STR("bc"), list));
    assert_false(kc_str_is_any(KC_STR("b"), list));
    assert_false(kc_str_is_any(KC_STR("a"), none));
}

TESTS(is_any_finds_member_of_list, slices_compare_by_bytes,
      order_is_by_byte_and_a_prefix_comes_first, sub_is_clipped_to_slice,
      prefixes_suffixes_and_parts_are_found, case_is_ignored_in_ascii_only,
      byte_is_found_from_either_end, white_space_is_trimmed_at_both_ends,
      cut_returns_every_part_and_ends, copy_is_terminated, integers_are_parsed,
      invalid_integer_fails_and_leaves_output_unchanged,
      hash_depends_on_every_byte_on_length_and_on_seed, nearest_name_is_suggested,
      unrelated_word_has_no_nearest)
