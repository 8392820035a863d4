/* SPDX-License-Identifier: Apache-2.0 */
#include "client/stream/watch_frames.h"

#include "testing.h"

/* "ADDED {…}" a line; NULL on error. */
static char *frames_of(const char *text, size_t piece, size_t max, kc_error *err)
{
    kc_scoped(kc__stream_frames) f = {.max_line = max};
    kc_scoped(kc_buf) out = {0};
    kc_str rest = kc_cstr(text);
    while (rest.n) {
        kc__stream_frames_feed(&f, kc_str_sub(rest, 0, piece));
        rest = kc_str_sub(rest, piece, rest.n);
        kc__stream_frame frame;
        int r;
        while ((r = kc__stream_frames_next(&f, &frame, err)) > 0)
            kc_buf_printf(&out, "%.*s %.*s\n", KC_ARG(frame.type), KC_ARG(frame.object));
        if (r < 0)
            return NULL;
    }
    if (kc__stream_frames_pending(&f))
        kc_buf_puts(&out, "pending");
    return kc_buf_take(&out);
}

static void assert_frames(const char *text, const char *expected)
{
    for (size_t piece = 1; piece <= strlen(text); piece++) {
        kc_scoped(kc_error) err = {0};
        kc_autofree char *out = frames_of(text, piece, 0, &err);
        if (!out)
            fail_msg("in pieces of %zu: %s", piece, kc_error_text(&err));
        assert_string_equal(out, expected);
    }
}

static void each_line_is_an_event(void **state)
{
    (void)state;
    assert_frames(
        "{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n{\"type\":\"DELETED\",\"object\":{}}\n",
        "ADDED {\"a\":1}\nDELETED {}\n");
}

static void members_may_have_any_order_and_space(void **state)
{
    (void)state;
    assert_frames(
        " { \"object\" : {\"a\":\"}\\\"\"} , \"more\" : [1,{}], \"n\":12, \"type\" : \"X\" } \r\n",
        "X {\"a\":\"}\\\"\"}\n");
}

static void empty_lines_are_skipped(void **state)
{
    (void)state;
    assert_frames("\n\r\n{\"type\":\"A\",\"object\":{}}\n\n", "A {}\n");
}

static void incomplete_line_is_pending(void **state)
{
    (void)state;
    assert_frames("{\"type\":\"A\",\"object\":{}}\n{\"type\"", "A {}\npending");
    assert_frames("{\"type\":\"A\",\"object\":{}}\n  ", "A {}\n");
}

static void line_that_is_no_event_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x\n",
        "[]\n",
        "{}\n",
        "{\"type\":\"A\"}\n",
        "{\"type\":\"\",\"object\":{}}\n",
        "{\"type\":1,\"object\":{}}\n",
        "{\"type\":\"A\",\"object\":1}\n",
        "{\"type\":\"A\",\"object\":{}\n",
        "{\"type\":\"A\",\"object\":{}}}\n",
        "{\"type\":\"A\",\"object\":{}} {}\n",
        "{\"type\":\"A\" \"object\":{}}\n",
        "{\"type\":\"A,\"object\":{}}\n",
        "{\"type\":}\n",
    };
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        for (size_t piece = 1; piece <= strlen(texts[i]); piece++) {
            kc_scoped(kc_error) err = {0};
            kc_autofree char *out = frames_of(texts[i], piece, 0, &err);
            if (out)
                fail_msg("%s was accepted: %s", texts[i], out);
            assert_error(&err, KC_INTERNAL, "not a watch event");
        }
}

static void line_beyond_limit_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    const char *two = "{\"type\":\"A\",\"object\":{}}\n{\"type\":\"A\",\"object\":{}}\n";
    for (size_t piece = 1; piece <= strlen(two); piece++) {
        kc_autofree char *out = frames_of(two, piece, 24, &err);
        assert_string_equal(out, "A {}\nA {}\n");
        assert_null(frames_of("{\"type\":\"A\",\"object\":{}} \n", piece, 24, &err));
        assert_error(&err, KC_TOO_LARGE, "exceeds 24 bytes");
    }
}

static void memory_of_a_long_event_is_freed(void **state)
{
    (void)state;
    kc_scoped(kc__stream_frames) f = {0};
    kc__stream_frame frame;
    char fill[64 << 10];
    memset(fill, 'x', sizeof(fill));
    kc__stream_frames_feed(&f, KC_STR("{\"type\":\"A\",\"object\":{\"a\":\""));
    for (int i = 0; i < 64; i++)
        kc__stream_frames_feed(&f, kc_str_of(fill, sizeof(fill)));
    kc__stream_frames_feed(&f, KC_STR("\"}}\n"));
    assert_int_equal(kc__stream_frames_next(&f, &frame, NULL), 1);
    assert_true(frame.object.n > sizeof(fill) * 64);
    kc__stream_frames_feed(&f, KC_STR(" \n"));
    assert_int_equal(kc__stream_frames_next(&f, &frame, NULL), 0);
    assert_true(f.buf.cap < (1 << 20));
}

TESTS(each_line_is_an_event, members_may_have_any_order_and_space, empty_lines_are_skipped,
      incomplete_line_is_pending, line_that_is_no_event_is_refused, line_beyond_limit_is_refused,
      memory_of_a_long_event_is_freed)
