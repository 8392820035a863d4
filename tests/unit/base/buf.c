/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

static void appended_pieces_form_the_text(void **state)
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

static void zeroed_buffer_is_empty_text(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {0};
    assert_string_equal(kc_buf_cstr(&buf), "");
    assert_str(kc_buf_str(&buf), "");
    kc_autofree char *text = kc_buf_take(&buf);
    assert_string_equal(text, "");
}

static void growth_keeps_content(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {0};
    for (int i = 0; i < 10000; i++)
        kc_buf_putc(&buf, (char)('a' + i % 26));
    assert_int_equal(strlen(kc_buf_cstr(&buf)), 10000);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(buf.p[i], 'a' + i % 26);
}

static void reserved_bytes_can_be_filled_by_caller(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {0};
    char *room = kc_buf_reserve(&buf, 5);
    memcpy(room, "hello", 5);
    assert_int_equal(buf.n, 0);
    buf.n += 5;
    assert_string_equal(kc_buf_cstr(&buf), "hello");
}

static void clear_keeps_memory_and_take_resets_buffer(void **state)
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

static void append_beyond_limit_fails_and_keeps_content(void **state)
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

static void failed_buffer_ignores_all_appends(void **state)
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

static void take_resets_failure(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {.limit = 1};
    kc_buf_puts(&buf, "12");
    assert_true(buf.failed);
    kc_autofree char *text = kc_buf_take(&buf);
    assert_string_equal(text, "");
    assert_false(buf.failed);
}

static void wiped_buffer_is_empty(void **state)
{
    (void)state;
    kc_buf buf = {0};
    kc_buf_wipe(NULL);
    kc_buf_wipe(&buf);
    kc_buf_puts(&buf, "secret");
    kc_buf_wipe(&buf);
    assert_null(buf.p);
    assert_int_equal(buf.n, 0);
}

static void maximum_limit_means_no_limit(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {.limit = SIZE_MAX};
    for (int i = 0; i < 1000; i++)
        kc_buf_putc(&buf, 'x');
    assert_int_equal(strlen(kc_buf_cstr(&buf)), 1000);
}

static void overflowing_size_fails(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {0};
    kc_buf_puts(&buf, "x");
    assert_null(kc_buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.failed);
}

TESTS(appended_pieces_form_the_text, zeroed_buffer_is_empty_text, growth_keeps_content,
      reserved_bytes_can_be_filled_by_caller, clear_keeps_memory_and_take_resets_buffer,
      append_beyond_limit_fails_and_keeps_content, failed_buffer_ignores_all_appends,
      take_resets_failure, wiped_buffer_is_empty, maximum_limit_means_no_limit,
      overflowing_size_fails)
