/* SPDX-License-Identifier: Apache-2.0 */
/* conn_output.c: a connection's own bytes with shared slices in between, sent in parts. */
#include "testing.h"

#include "http/server/conn.h"

static kc__http_shared_bytes *bytes_of(const char *text)
{
    return kc__http_shared_bytes_new(kc_cstr(text));
}

static void append(kc__conn *conn, const char *text)
{
    kc_buf_puts(&conn->out, text);
}

static bool share(kc__conn *conn, const char *text)
{
    kc_auto(kc__http_shared_bytes) *bytes = bytes_of(text);
    return kc__conn_share(conn, bytes, 0, bytes->n);
}

/* Everything that waits, in order. */
static void assert_waiting(const kc__conn *conn, const char *expected)
{
    kc_str parts[KC__CONN_PARTS];
    kc_scoped(kc_buf) all = {0};
    const size_t n = kc__conn_parts(conn, parts);
    for (size_t i = 0; i < n; i++)
        kc_buf_append(&all, parts[i]);
    assert_string_equal(kc_buf_cstr(&all), expected);
    assert_int_equal(kc__conn_pending(conn), strlen(expected));
}

static void shared_slices_are_sent_between_own_bytes(void **state)
{
    (void)state;
    kc__conn conn = {.shares = true};
    append(&conn, "head ");
    assert_true(share(&conn, "ONE"));
    append(&conn, " middle ");
    assert_true(share(&conn, "TWO"));
    assert_true(share(&conn, "THREE"));
    append(&conn, " tail");
    assert_waiting(&conn, "head ONE middle TWOTHREE tail");
    kc__conn_output_done(&conn);
    assert_waiting(&conn, "");
}

static void partial_sends_leave_the_rest(void **state)
{
    (void)state;
    static const char all[] = "head ONE middle TWOTHREE tail";
    for (size_t first = 0; first < sizeof(all); first++) {
        for (size_t second = 0; first + second < sizeof(all); second++) {
            kc__conn conn = {.shares = true};
            append(&conn, "head ");
            share(&conn, "ONE");
            append(&conn, " middle ");
            share(&conn, "TWO");
            share(&conn, "THREE");
            append(&conn, " tail");
            kc__conn_sent(&conn, first);
            assert_waiting(&conn, all + first);
            kc__conn_sent(&conn, second);
            assert_waiting(&conn, all + first + second);
            kc__conn_output_done(&conn);
        }
    }
}

static void part_of_shared_bytes_can_be_sent(void **state)
{
    (void)state;
    kc__conn conn = {.shares = true};
    kc_auto(kc__http_shared_bytes) *bytes = bytes_of("0123456789");
    assert_true(kc__conn_share(&conn, bytes, 2, 3));
    append(&conn, "|");
    assert_true(kc__conn_share(&conn, bytes, 5, 5));
    assert_waiting(&conn, "234|56789");
    assert_int_equal(kc_ref_count(&bytes->refs), 3);
    kc__conn_sent(&conn, 4);
    assert_int_equal(kc_ref_count(&bytes->refs), 2);
    kc__conn_output_done(&conn);
    assert_int_equal(kc_ref_count(&bytes->refs), 1);
}

static void connection_without_room_refuses_a_slice(void **state)
{
    (void)state;
    kc__conn plain = {0}, full = {.shares = true};
    assert_false(share(&plain, "x"));
    for (int i = 0; i < KC__CONN_SLICES; i++)
        assert_true(share(&full, "x"));
    assert_false(share(&full, "x"));
    kc__conn_sent(&full, 1);
    assert_true(share(&full, "y"));
    assert_waiting(&full, "xxxy");
    kc__conn_output_done(&full);
}

/* ---- the spare buffer ---- */

static void connections_that_send_in_turn_use_one_buffer(void **state)
{
    (void)state;
    kc_scoped(kc_buf) spare = {0};
    kc__conn a = {.spare = &spare}, b = {.spare = &spare};
    kc__conn_output_begin(&a);
    append(&a, "first");
    const char *buffer = a.out.p;
    kc__conn_sent(&a, 5);
    assert_null(a.out.p);
    assert_ptr_equal(spare.p, buffer);
    kc__conn_output_begin(&b);
    assert_ptr_equal(b.out.p, buffer);
    assert_waiting(&b, "");
    append(&b, "2nd");
    assert_ptr_equal(b.out.p, buffer);
    kc__conn_sent(&b, 3);
    assert_ptr_equal(spare.p, buffer);
}

static void connection_that_appends_nothing_returns_the_buffer(void **state)
{
    (void)state;
    kc_scoped(kc_buf) spare = {0};
    kc__conn conn = {.spare = &spare};
    kc_buf_puts(&spare, "old");
    kc_buf_clear(&spare);
    kc__conn_output_begin(&conn);
    assert_null(spare.p);
    kc__conn_output_end(&conn);
    assert_non_null(spare.p);
    assert_null(conn.out.p);
}

static void connection_with_unsent_output_keeps_its_buffer(void **state)
{
    (void)state;
    kc_scoped(kc_buf) spare = {0};
    kc__conn slow = {.spare = &spare}, quick = {.spare = &spare};
    kc__conn_output_begin(&slow);
    append(&slow, "slow client");
    kc__conn_sent(&slow, 5);
    kc__conn_output_end(&slow);
    assert_waiting(&slow, "client");
    kc__conn_output_begin(&quick);
    append(&quick, "quick");
    kc__conn_sent(&quick, 5);
    assert_non_null(spare.p);
    kc__conn_sent(&slow, 6); /* There is a spare buffer already: this one is freed. */
    assert_null(slow.out.p);
    kc__conn_output_done(&slow);
}

TESTS(connections_that_send_in_turn_use_one_buffer,
      connection_that_appends_nothing_returns_the_buffer,
      connection_with_unsent_output_keeps_its_buffer, shared_slices_are_sent_between_own_bytes,
      partial_sends_leave_the_rest, part_of_shared_bytes_can_be_sent,
      connection_without_room_refuses_a_slice)
