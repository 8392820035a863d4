/* SPDX-License-Identifier: Apache-2.0 */
#include "object/json/json_cursor.h"
#include "testing.h"

static void members_come_in_order_with_their_raw_text(void **state)
{
    (void)state;
    kc__json_cursor c = kc__json_cursor_of(
        KC_STR("{\"app\":\"web\",\"\":-1.5,\"c\":{\"x\":[1,{\"}\":\"]\"}]},\"d\":true}"));
    kc_str key, value;
    assert_true(kc__json_cursor_member(&c, &key, &value));
    assert_str(key, "app");
    assert_str(value, "\"web\"");
    assert_true(kc__json_cursor_member(&c, &key, &value));
    assert_str(key, "");
    assert_str(value, "-1.5");
    assert_true(kc__json_cursor_member(&c, &key, &value));
    assert_str(key, "c");
    assert_str(value, "{\"x\":[1,{\"}\":\"]\"}]}");
    assert_true(kc__json_cursor_member(&c, &key, &value));
    assert_str(value, "true");
    assert_false(kc__json_cursor_member(&c, &key, &value));
    assert_str(key, "d");
    assert_false(kc__json_cursor_member(&c, &key, &value));
}

static void items_come_in_order(void **state)
{
    (void)state;
    kc__json_cursor c = kc__json_cursor_of(KC_STR("[\"a,]\\\"\",[],{},null,3]"));
    const char *wanted[] = {"\"a,]\\\"\"", "[]", "{}", "null", "3"};
    kc_str item;
    for (size_t i = 0; i < KC_COUNT(wanted); i++) {
        assert_true(kc__json_cursor_item(&c, &item));
        assert_str(item, wanted[i]);
    }
    assert_false(kc__json_cursor_item(&c, &item));
}

static void empty_container_and_slice_have_no_members(void **state)
{
    (void)state;
    static const char *const empty[] = {"{}", "[]", ""};
    for (size_t i = 0; i < KC_COUNT(empty); i++) {
        kc__json_cursor c = kc__json_cursor_of(kc_cstr(empty[i]));
        kc_str key, value;
        assert_false(kc__json_cursor_member(&c, &key, &value));
        assert_false(kc__json_cursor_item(&c, &value));
    }
    kc__json_cursor none = kc__json_cursor_of((kc_str){0});
    kc_str value;
    assert_false(kc__json_cursor_item(&none, &value));
}

static void long_strings_are_skipped(void **state)
{
    (void)state;
    kc_str json = KC_STR("{\"a-key-of-more-than-sixteen-bytes/that-goes-on\":"
                         "\"a value with a \\\" quote in the middle and a \\\\\",\"b\":\"x\"}");
    assert_str(kc__json_cursor_find(json, KC_STR("b")), "\"x\"");
}

static void find_returns_member_by_name(void **state)
{
    (void)state;
    kc_str json = KC_STR("{\"a\\\"b\":1,\"n\\n\":2,\"\\u0001\":3,\"ab\":4}");
    assert_str(kc__json_cursor_find(json, KC_STR("a\"b")), "1");
    assert_str(kc__json_cursor_find(json, KC_STR("n\n")), "2");
    assert_str(kc__json_cursor_find(json, KC_STR("\x01")), "3");
    assert_str(kc__json_cursor_find(json, KC_STR("ab")), "4");
    assert_str(kc__json_cursor_find(json, KC_STR("n\\n")), "");
    assert_str(kc__json_cursor_find(json, KC_STR("")), "");
}

static void text_resembling_a_key_is_not_found(void **state)
{
    (void)state;
    kc_str text = KC_STR("{\"x\\\"app\":\"1\",\"b\":\",\",\":c\":\"app\",\"d\":{\"inner\":\"2\"},"
                         "\"e\":\"{\\\"in\\\":1}\",\"inner\":\"3\",\"last\":\"4\"}");
    assert_str(kc__json_cursor_find(text, KC_STR("app")), "");
    assert_str(kc__json_cursor_find(text, KC_STR("x\"app")), "\"1\"");
    assert_str(kc__json_cursor_find(text, KC_STR(",")), "");
    assert_str(kc__json_cursor_find(text, KC_STR(":c")), "\"app\"");
    assert_str(kc__json_cursor_find(text, KC_STR("b\":\",\",\":c")), "");
    assert_str(kc__json_cursor_find(text, KC_STR("in")), "");
    assert_str(kc__json_cursor_find(text, KC_STR("inner")), "\"3\"");
    assert_str(kc__json_cursor_find(text, KC_STR("last")), "\"4\"");
    assert_str(kc__json_cursor_find(text, KC_STR("absent")), "");
}

static void raw_strings_compare_decoded(void **state)
{
    (void)state;
    assert_true(kc__json_raw_string_is(KC_STR("\"web\""), KC_STR("web")));
    assert_true(kc__json_raw_string_is(KC_STR("\"\""), KC_STR("")));
    assert_true(kc__json_raw_string_is(KC_STR("\"a\\\\\""), KC_STR("a\\")));
    assert_true(kc__json_raw_string_is(KC_STR("\"\\u001f\\t\""), KC_STR("\x1f\t")));
    assert_true(kc__json_raw_string_is(KC_STR("\"\\uD83D\\uDE00\""), KC_STR("\xF0\x9F\x98\x80")));
    assert_false(kc__json_raw_string_is(KC_STR("\"\\n\""), KC_STR("\\n")));
    assert_false(kc__json_raw_string_is(KC_STR("\"\\n\""), KC_STR("n")));
    assert_false(kc__json_raw_string_is(KC_STR("\"webs\""), KC_STR("web")));
    assert_false(kc__json_raw_string_is(KC_STR("12"), KC_STR("12")));
    assert_false(kc__json_raw_string_is((kc_str){0}, KC_STR("")));
}

static void unescape_without_escapes_borrows(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) out = {0};
    kc_str plain = KC_STR("plain");
    assert_ptr_equal(kc__json_unescape(&arena, plain).p, plain.p);
    assert_int_equal(arena.used, 0);
    kc_str raw = KC_STR("a\\\"\\/\\b\\f\\r\\u00e9\\u20ac\\\\");
    assert_str(kc__json_unescape(&arena, raw), "a\"/\b\f\r\xC3\xA9\xE2\x82\xAC\\");
    kc__json_unescape_to(&out, raw);
    assert_str(kc_buf_str(&out), "a\"/\b\f\r\xC3\xA9\xE2\x82\xAC\\");
}

static void invalid_text_is_not_read_beyond_end(void **state)
{
    (void)state;
    kc_str whole = KC_STR("{\"a\":{\"b\":[\"c\\\\\\\"\",1,\"\\u00e9\"]},\"d\":\"e\\n\"}");
    for (size_t n = 0; n <= whole.n; n++) {
        kc_autofree char *copy = kc_strndup(whole.p, n);
        kc_autofree char *exact = memcpy(kc_alloc(n), copy, n);
        kc__json_cursor members = kc__json_cursor_of(kc_str_of(exact, n));
        kc__json_cursor items = members;
        kc_scoped(kc_arena) arena = {0};
        kc_str key, value;
        while (kc__json_cursor_member(&members, &key, &value))
            kc__json_unescape(&arena, kc__json_raw_inside(value));
        while (kc__json_cursor_item(&items, &value))
            kc__json_unescape(&arena, value);
    }
}

TESTS(members_come_in_order_with_their_raw_text, items_come_in_order,
      empty_container_and_slice_have_no_members, long_strings_are_skipped,
      find_returns_member_by_name, text_resembling_a_key_is_not_found, raw_strings_compare_decoded,
      unescape_without_escapes_borrows, invalid_text_is_not_read_beyond_end)
