/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

static void text_is_built_from_pieces(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {0};
    kc_buf_puts(&buf, "a");
    kc_buf_putc(&buf, '=');
    kc_buf_printf(&buf, "%d,%s", 7, "x");
    kc_buf_append(&buf, kc_str_of("\0!", 2));
    kc_buf_append(&buf, (kc_str){0});
    assert_int_equal(buf.n, 7);
    assert_memory_equal(buf.p, "a=7,x\0!", 7);
    assert_false(buf.failed);
}

static void an_untouched_buffer_is_the_empty_text(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {0};
    assert_string_equal(kc_buf_cstr(&buf), "");
    assert_str(kc_buf_str(&buf), "");
    kc_autofree char *text = kc_buf_take(&buf);
    assert_string_equal(text, "");
}

static void growing_keeps_what_is_there(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {0};
    for (int i = 0; i < 10000; i++)
        kc_buf_putc(&buf, (char)('a' + i % 26));
    assert_int_equal(strlen(kc_buf_cstr(&buf)), 10000);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(buf.p[i], 'a' + i % 26);
}

static void reserved_room_is_the_callers_to_fill(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {0};
    char *room = kc_buf_reserve(&buf, 5);
    memcpy(room, "hello", 5);
    assert_int_equal(buf.n, 0);
    buf.n += 5;
    assert_string_equal(kc_buf_cstr(&buf), "hello");
}

static void cleared_keeps_memory_and_taken_starts_anew(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {.limit = 100};
    kc_buf_puts(&buf, "first");
    const char *memory = buf.p;
    kc_buf_clear(&buf);
    kc_buf_puts(&buf, "second");
    assert_ptr_equal(buf.p, memory);
    kc_autofree char *text = kc_buf_take(&buf);
    assert_string_equal(text, "second");
    assert_int_equal(buf.n, 0);
    assert_int_equal(buf.limit, 100);
}

static void beyond_the_limit_the_buffer_fails_and_keeps_what_it_has(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {.limit = 5};
    kc_buf_puts(&buf, "12345");
    assert_false(buf.failed);
    kc_buf_puts(&buf, "");
    assert_false(buf.failed);
    kc_buf_putc(&buf, '6');
    assert_true(buf.failed);
    assert_string_equal(kc_buf_cstr(&buf), "12345");
}

static void a_failed_buffer_ignores_even_what_would_fit(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {.limit = 5};
    kc_buf_puts(&buf, "1234");
    kc_buf_printf(&buf, "%s", "56");
    assert_true(buf.failed);
    kc_buf_putc(&buf, '5');
    assert_null(kc_buf_reserve(&buf, 0));
    assert_string_equal(kc_buf_cstr(&buf), "1234");
    kc_buf_clear(&buf);
    kc_buf_puts(&buf, "12345");
    assert_false(buf.failed);
}

static void what_is_taken_leaves_no_failure_behind(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {.limit = 1};
    kc_buf_puts(&buf, "12");
    assert_true(buf.failed);
    kc_autofree char *text = kc_buf_take(&buf);
    assert_string_equal(text, "");
    assert_false(buf.failed);
}

static void the_largest_limit_is_no_limit(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {.limit = SIZE_MAX};
    for (int i = 0; i < 1000; i++)
        kc_buf_putc(&buf, 'x');
    assert_int_equal(strlen(kc_buf_cstr(&buf)), 1000);
}

static void a_size_that_wraps_around_fails(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {0};
    kc_buf_puts(&buf, "x");
    assert_null(kc_buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.failed);
}

TESTS(text_is_built_from_pieces, an_untouched_buffer_is_the_empty_text, growing_keeps_what_is_there,
      reserved_room_is_the_callers_to_fill, cleared_keeps_memory_and_taken_starts_anew,
      beyond_the_limit_the_buffer_fails_and_keeps_what_it_has,
      a_failed_buffer_ignores_even_what_would_fit, what_is_taken_leaves_no_failure_behind,
      the_largest_limit_is_no_limit, a_size_that_wraps_around_fails)
