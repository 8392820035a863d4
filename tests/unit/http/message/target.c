/* SPDX-License-Identifier: Apache-2.0 */
#include "http/message/target.h"
#include "testing.h"

static kc__target parsed(kc_arena *arena, const char *raw)
{
    kc__target target = {0};
    kc_scoped(kc_error) err = {0};
    if (kc__target_parse(kc_cstr(raw), NULL, arena, &target, &err) < 0)
        fail_msg("%s: %s", raw, kc_error_text(&err));
    return target;
}

static void assert_refused(kc_str raw, kc_reason reason, const char *part)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc__target target = {.n_segments = 7};
    assert_int_equal(kc__target_parse(raw, NULL, &arena, &target, &err), -(int)reason);
    assert_error(&err, reason, part);
    assert_int_equal(target.n_segments, 7);
}

static void path_is_split_into_segments(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__target t = parsed(&arena, "/api/v1/namespaces/default/pods?watch=1&limit=5");
    assert_str(t.raw, "/api/v1/namespaces/default/pods?watch=1&limit=5");
    assert_str(t.raw_path, "/api/v1/namespaces/default/pods");
    assert_str(t.path, "/api/v1/namespaces/default/pods");
    assert_str(t.query, "watch=1&limit=5");
    assert_str(t.authority, "");
    assert_int_equal(t.n_segments, 5);
    assert_str(kc__target_segment(&t, 0), "api");
    assert_str(kc__target_segment(&t, 4), "pods");
    assert_str(kc__target_segment(&t, 5), "");
    assert_false(t.trailing_slash);
}

static void root_has_no_segments(void **state)
{
    (void)state;
    static const char *const table[] = {"/", "//", "/.", "/..", "/a/..", "/?x", "/%2F"};
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        kc_scoped(kc_arena) arena = {0};
        kc__target t = parsed(&arena, table[i]);
        assert_str(t.path, "/");
        assert_int_equal(t.n_segments, 0);
        assert_false(t.trailing_slash);
    }
}

static void result_does_not_depend_on_the_input_text(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    char raw[] = "/api?x=1";
    kc__target t = parsed(&arena, raw);
    memset(raw, '!', sizeof(raw) - 1);
    assert_str(t.raw, "/api?x=1");
    assert_str(t.path, "/api");
    assert_str(t.query, "x=1");
}

static void path_is_decoded_and_resolved_once(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"/a/./b", "/a/b"},
        {"/a/../b", "/b"},
        {"/a/b/../../../c", "/c"},
        {"/../../etc/passwd", "/etc/passwd"},
        {"//a///b", "/a/b"},
        {"/a/b/.", "/a/b"},
        {"/a/b/..", "/a"},
        {"/a/b/../", "/a/"},
        {"/a/", "/a/"},
        {"/a//", "/a/"},
        {"/a/...", "/a/..."},
        {"/a/..b/.c", "/a/..b/.c"},
        {"/%61pi", "/api"},
        {"/a%2Fb", "/a/b"},
        {"/a%2f...%2Fb%2e", "/a/.../b."},
        {"/a%2F", "/a/"},
        {"/a%252Fb", "/a%2Fb"},
        {"/%252e%252e/b", "/%2e%2e/b"},
        {"/a+b", "/a+b"},
        {"/a%2Bb%20c", "/a+b c"},
        {"/a%23b%3Fc", "/a#b?c"},
        {"/\xC3\xA9/%C3%A9/%FF", "/\xC3\xA9/\xC3\xA9/\xFF"},
        {"/a;b=c/d", "/a;b=c/d"},
        {"/a\\..\\b", "/a\\..\\b"},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        kc_scoped(kc_arena) arena = {0};
        kc__target t = parsed(&arena, table[i][0]);
        assert_str(t.path, table[i][1]);
        assert_str(t.raw, table[i][0]);
    }
}

static void encoded_slash_separates_segments(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__target t = parsed(&arena, "/api/v1/namespaces%2Fdefault/");
    assert_int_equal(t.n_segments, 4);
    assert_str(kc__target_segment(&t, 2), "namespaces");
    assert_str(kc__target_segment(&t, 3), "default");
    assert_true(t.trailing_slash);
}

static void query_starts_at_the_first_question_mark(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    assert_str(parsed(&arena, "/a?b=%zz?/../c").query, "b=%zz?/../c");
    assert_str(parsed(&arena, "/a?b=%zz?/../c").path, "/a");
    assert_str(parsed(&arena, "/a?").query, "");
    assert_str(parsed(&arena, "/a").query, "");
}

static void absolute_url_has_an_authority(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__target t = parsed(&arena, "HTTPS://[::1]:6443/api/../apis?x=http://y");
    assert_str(t.authority, "[::1]:6443");
    assert_str(t.path, "/apis");
    assert_str(t.raw_path, "/api/../apis");
    assert_str(t.query, "x=http://y");
    assert_str(parsed(&arena, "http://127.0.0.1:6080/").authority, "127.0.0.1:6080");
    assert_str(parsed(&arena, "http://[::1]").authority, "[::1]");
    t = parsed(&arena, "http://example.com");
    assert_str(t.authority, "example.com");
    assert_str(t.path, "/");
    assert_str(t.raw_path, "");
    t = parsed(&arena, "http://example.com?a=/b");
    assert_str(t.authority, "example.com");
    assert_str(t.path, "/");
    assert_str(t.query, "a=/b");
}

static void leading_double_slash_is_no_authority(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__target t = parsed(&arena, "//evil/api");
    assert_str(t.authority, "");
    assert_str(t.path, "/evil/api");
}

static void other_forms_are_refused(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"", "is empty"},
        {"*", "is not supported"},
        {"*?a", "must be a path"},
        {"example.com:443", "must be a path"},
        {"api/v1", "must be a path"},
        {"?watch=1", "must be a path"},
        {"%2Fapi", "must be a path"},
        {"ftp://host/", "must be a path"},
        {"http:/api", "must be a path"},
        {"http:api", "must be a path"},
        {"http:///api", "host"},
        {"http://:80/api", "host"},
        {"http://user@host/", "host"},
        {"http://ho%73t/", "host"},
        {"http://[::1/", "host"},
        {"http://[::1]x/", "host"},
        {"http://[]/", "host"},
        {"http://::1/", "host"},
        {"http://host:8x/", "host"},
        {"http://a[b]/", "host"},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++)
        assert_refused(kc_cstr(table[i][0]), KC_BAD_REQUEST, table[i][1]);
}

static void invalid_escapes_are_refused(void **state)
{
    (void)state;
    assert_refused(KC_STR("/a%zzb"), KC_BAD_REQUEST, "invalid URL escape \"%zz\"");
    assert_refused(KC_STR("/a%2"), KC_BAD_REQUEST, "invalid URL escape \"%2\"");
    assert_refused(KC_STR("/a%"), KC_BAD_REQUEST, "invalid URL escape \"%\"");
    assert_refused(KC_STR("/a%%32F"), KC_BAD_REQUEST, "invalid URL escape \"%%3\"");
    assert_refused(KC_STR("/a%+1"), KC_BAD_REQUEST, "invalid URL escape \"%+1\"");
    assert_refused(KC_STR("/%\"\xFF"), KC_BAD_REQUEST, "invalid URL escape \"%\\\"\\xff\"");
}

static void escaped_dot_segments_are_refused(void **state)
{
    (void)state;
    static const char *const table[] = {
        "/a/%2e%2e/b", "/a/.%2E/b", "/a/%2e/b",    "/a%2f..%2Fb",   "/a/..%2fb",
        "/a%2f../b",   "/a%2F..",   "/a/b%2f.",    "/%2e%2e%2fb",   "/a/..%2f..%2fb",
        "/a/b/..%2f",  "/a/%2e%2e", "/a/./..%2Fb", "/a/%2E%2e?x=y", "http://h/a/..%2fb",
    };
    for (size_t i = 0; i < KC_COUNT(table); i++)
        assert_refused(kc_cstr(table[i]), KC_BAD_REQUEST, "escaped dot segment");
    kc_scoped(kc_arena) arena = {0};
    assert_str(parsed(&arena, "/a?x=..%2f").path, "/a");
    assert_str(parsed(&arena, "/a/%2e%2eb").path, "/a/..b");
    assert_str(parsed(&arena, "/a/../b%2fc").path, "/b/c");
}

static void control_characters_are_refused_plain_and_escaped(void **state)
{
    (void)state;
    assert_refused(KC_STR("/a\0b"), KC_BAD_REQUEST, "control character at byte 2");
    assert_refused(KC_STR("/a\r\nb"), KC_BAD_REQUEST, "control character");
    assert_refused(KC_STR("/a\x7F"), KC_BAD_REQUEST, "control character");
    assert_refused(KC_STR("/a?b=\n"), KC_BAD_REQUEST, "control character at byte 5");
    assert_refused(KC_STR("/a%00b"), KC_BAD_REQUEST, "control character");
    assert_refused(KC_STR("/a%0ab"), KC_BAD_REQUEST, "control character");
    assert_refused(KC_STR("/a%7F"), KC_BAD_REQUEST, "control character");
    assert_refused(KC_STR("/a b"), KC_BAD_REQUEST, "' ' at byte 2");
    assert_refused(KC_STR("/a?b#c"), KC_BAD_REQUEST, "'#' at byte 4");
}

static void target_beyond_limit_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_buf) raw = {0};
    kc_buf_puts(&raw, "/?");
    while (raw.n < 64 * 1024)
        kc_buf_putc(&raw, 'x');
    kc_scoped(kc_arena) arena = {0};
    assert_int_equal(parsed(&arena, kc_buf_cstr(&raw)).query.n, 64 * 1024 - 2);
    kc_buf_putc(&raw, 'x');
    assert_refused(kc_buf_str(&raw), KC_TOO_LARGE, "65537 bytes: the limit is 65536");

    kc__target t;
    const kc__target_opts opts = {.max_bytes = 4};
    assert_int_equal(kc__target_parse(KC_STR("/abc"), &opts, &arena, &t, NULL), 0);
    assert_int_equal(kc__target_parse(KC_STR("/abcd"), &opts, &arena, &t, NULL), -KC_TOO_LARGE);
}

static void number_of_segments_is_limited(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc__target t;
    const kc__target_opts opts = {.max_segments = 3};
    assert_int_equal(kc__target_parse(KC_STR("/a/b/c/"), &opts, &arena, &t, NULL), 0);
    assert_int_equal(kc__target_parse(KC_STR("/a/../b//./c/d"), &opts, &arena, &t, NULL), 0);
    assert_str(t.path, "/b/c/d");
    assert_int_equal(kc__target_parse(KC_STR("/a/b/c/d"), &opts, &arena, &t, &err),
                     -KC_BAD_REQUEST);
    assert_error(&err, KC_BAD_REQUEST, "more than 3 segments");
}

static void small_arena_is_an_error(void **state)
{
    (void)state;
    for (size_t limit = 1; limit < 64; limit += 16) {
        kc_scoped(kc_arena) arena = {.limit = limit};
        kc__target t;
        assert_int_equal(kc__target_parse(KC_STR("/api/v1/pods"), NULL, &arena, &t, NULL),
                         -KC_TOO_LARGE);
    }
}

TESTS(path_is_split_into_segments, root_has_no_segments, result_does_not_depend_on_the_input_text,
      path_is_decoded_and_resolved_once, encoded_slash_separates_segments,
      query_starts_at_the_first_question_mark, absolute_url_has_an_authority,
      leading_double_slash_is_no_authority, other_forms_are_refused, invalid_escapes_are_refused,
      escaped_dot_segments_are_refused, control_characters_are_refused_plain_and_escaped,
      target_beyond_limit_is_refused, number_of_segments_is_limited, small_arena_is_an_error)
