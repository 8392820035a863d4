/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of any size in both directions, windows, the pool of large bodies, back-pressure and
 * deadlines.
 */
#include "h2_testing.h"

#include <malloc.h>

static char body[3 << 20];

static kc_str whole_body(void)
{
    memset(body, 'b', sizeof(body));
    return kc_str_of(body, sizeof(body));
}

static int32_t post_announced(plane *p, const char *path, kc_str text)
{
    char length[24];
    snprintf(length, sizeof(length), "%zu", text.n);
    return request(p, "POST", path, (nghttp2_nv[]){nv("content-length", length)}, 1, text, false);
}

/* Says that a body will come, and sends none of it. */
static int32_t announce_body(plane *p, const char *length)
{
    nghttp2_nv fields[] = {nv(":method", "POST"), nv(":scheme", "http"), nv(":path", "/"),
                           nv(":authority", "localhost"), nv("content-length", length)};
    return nghttp2_submit_headers(p->client, NGHTTP2_FLAG_NONE, -1, NULL, fields, 5, NULL);
}

/* ---- request bodies ---- */

static void largest_bodies_pass_both_ways_through_small_windows(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.window = 1000});
    int32_t ids[] = {post(&p, "/echo", whole_body()), post_announced(&p, "/echo", whole_body())};
    settle(&p);
    for (size_t i = 0; i < KC_COUNT(ids); i++) {
        assert_int_equal(reply_of(&p, ids[i])->status, 200);
        assert_int_equal(reply_of(&p, ids[i])->length, sizeof(body));
        assert_true(reply_of(&p, ids[i])->ended);
    }
    plane_close(&p);
}

static void announced_body_beyond_limit_returns_413_at_once(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.limits.max_body = 1000});
    int32_t id = post_announced(&p, "/echo", kc_str_sub(whole_body(), 0, 1001));
    client_sends_frames(&p, 1);
    server_to_client(&p);
    assert_int_equal(reply_of(&p, id)->status, 413);
    assert_true(reply_of(&p, id)->ended && reply_of(&p, id)->closed);
    assert_int_equal(reply_of(&p, id)->code, NGHTTP2_NO_ERROR);
    int32_t fits = post_announced(&p, "/echo", kc_str_sub(whole_body(), 0, 1000));
    settle(&p);
    assert_int_equal(reply_of(&p, fits)->length, 1000);
    plane_close(&p);
}

static void streamed_body_beyond_limit_returns_413(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.limits.max_body = 200000});
    int32_t ids[] = {request(&p, "POST", "/echo", NULL, 0, (kc_str){0}, true),
                     post(&p, "/echo", kc_str_sub(whole_body(), 0, 200001)),
                     post(&p, "/echo", kc_str_sub(whole_body(), 0, 200000))};
    settle(&p);
    assert_int_equal(reply_of(&p, ids[0])->status, 413);
    assert_int_equal(reply_of(&p, ids[1])->status, 413);
    assert_int_equal(reply_of(&p, ids[0])->code, NGHTTP2_NO_ERROR);
    assert_int_equal(reply_of(&p, ids[2])->length, 200000);
    assert_int_equal(p.handled, 1);
    plane_close(&p);
}

static void concurrent_uploads_share_the_window(void **state)
{
    plane p;
    int32_t ids[40];
    (void)state;
    plane_open(&p, NULL);
    for (size_t i = 0; i < KC_COUNT(ids); i++)
        ids[i] = i % 2 ? post(&p, "/", whole_body()) : post_announced(&p, "/", whole_body());
    settle(&p);
    for (size_t i = 0; i < KC_COUNT(ids); i++)
        assert_int_equal(reply_of(&p, ids[i])->status, 200);
    plane_close(&p);
}

static void unused_upload_window_is_reclaimed_at_timeout(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t lazy[4];
    for (size_t i = 0; i < KC_COUNT(lazy); i++)
        lazy[i] = announce_body(&p, "3145728");
    settle(&p);
    int32_t large = post_announced(&p, "/", whole_body()), small = post(&p, "/", KC_STR("x"));
    settle(&p);
    assert_int_equal(reply_of(&p, small)->status, 200);
    assert_int_equal(reply_of(&p, large)->status, 0);
    assert_true(reply_of(&p, large)->upload.n > sizeof(body) - (66 << 10));
    plane_advance(&p, 60 * KC_SECOND);
    for (size_t i = 0; i < KC_COUNT(lazy); i++)
        assert_int_equal(reply_of(&p, lazy[i])->status, 408);
    assert_int_equal(reply_of(&p, large)->status, 200);
    plane_close(&p);
}

/* ---- responses ---- */

static void source_is_not_polled_while_the_window_is_closed(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.no_window = true});
    int32_t id = get(&p, "/endless");
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 200);
    assert_int_equal(p.feeds->polls, 0);
    nghttp2_submit_window_update(p.client, NGHTTP2_FLAG_NONE, id, 10);
    settle(&p);
    assert_int_equal(reply_of(&p, id)->length, 10);
    plane_close(&p);
}

static void output_of_a_stalled_client_is_bounded(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.window = 1 << 30});
    nghttp2_submit_window_update(p.client, NGHTTP2_FLAG_NONE, 0, 1 << 30);
    p.stalled = true;
    for (int i = 0; i < 100; i++)
        get(&p, i % 2 ? "/endless" : "/owned");
    settle(&p);
    for (int i = 0; i < 100; i++)
        kc__h2_protocol.fill(&p.conn);
    assert_true(p.conn.out.n >= KC__CONN_HIGH);
    assert_true(p.conn.out.n < KC__CONN_HIGH + (20 << 10));
    plane_close(&p);
}

static void shared_bytes_are_sent_in_order_and_within_the_window(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.no_window = true});
    p.conn.shares = true;
    int32_t id = get(&p, "/watch");
    settle(&p);
    char event[3001];
    for (size_t i = 0; i < sizeof(event) - 1; i++)
        event[i] = (char)('a' + i % 26);
    event[sizeof(event) - 1] = '\0';
    feed_set(p.feeds, event, KC__HTTP_FILL_WAIT);
    for (size_t sent = 0; sent < sizeof(event) - 1; sent += 1000) {
        settle(&p);
        assert_int_equal(reply_of(&p, id)->length, sent);
        nghttp2_submit_window_update(p.client, NGHTTP2_FLAG_NONE, id, 1000);
    }
    settle(&p);
    assert_int_equal(reply_of(&p, id)->length, sizeof(event) - 1);
    nghttp2_submit_window_update(p.client, NGHTTP2_FLAG_NONE, id, 1000);
    feed_set(p.feeds, "one,", KC__HTTP_FILL_WAIT);
    settle(&p);
    feed_set(p.feeds, "two", KC__HTTP_FILL_END);
    settle(&p);
    const char *got = kc_buf_cstr(&reply_of(&p, id)->body);
    assert_memory_equal(got, event, sizeof(event) - 1);
    assert_string_equal(got + sizeof(event) - 1, "one,two");
    plane_close(&p);
}

static void reset_stream_drops_its_shared_bytes(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.no_window = true});
    p.conn.shares = true;
    int32_t id = get(&p, "/watch");
    settle(&p);
    char event[3001];
    memset(event, 'e', sizeof(event) - 1);
    event[sizeof(event) - 1] = '\0';
    feed_set(p.feeds, event, KC__HTTP_FILL_WAIT);
    nghttp2_submit_window_update(p.client, NGHTTP2_FLAG_NONE, id, 2);
    settle(&p);
    assert_int_equal(reply_of(&p, id)->length, 2);
    nghttp2_submit_rst_stream(p.client, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    settle(&p);
    assert_int_equal(p.done, 1);
    plane_close(&p);
}

static void streams_share_a_connection_fairly(void **state)
{
    plane p;
    int32_t ids[8];
    (void)state;
    plane_open(&p, &(plane_opts){.window = 1 << 30});
    nghttp2_submit_window_update(p.client, NGHTTP2_FLAG_NONE, 0, 1 << 30);
    for (size_t i = 0; i < KC_COUNT(ids); i++)
        ids[i] = get(&p, "/endless");
    for (int i = 0; i < 400; i++) {
        client_to_server(&p);
        server_to_client(&p);
    }
    size_t least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < KC_COUNT(ids); i++) {
        least = KC_MIN(least, reply_of(&p, ids[i])->length);
        most = KC_MAX(most, reply_of(&p, ids[i])->length);
    }
    assert_true(least > 1 << 20);
    assert_true(most < least + least / 4);
    plane_close(&p);
}

static void small_response_does_not_wait_for_large_ones(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.window = 1 << 30});
    nghttp2_submit_window_update(p.client, NGHTTP2_FLAG_NONE, 0, 1 << 30);
    get(&p, "/endless");
    for (int i = 0; i < 20; i++) {
        client_to_server(&p);
        server_to_client(&p);
    }
    int32_t id = get(&p, "/version");
    for (int i = 0; i < 3; i++) {
        client_to_server(&p);
        server_to_client(&p);
    }
    assert_true(reply_of(&p, id)->ended);
    plane_close(&p);
}

/* ---- deadlines ---- */

static void connection_without_preface_is_closed(void **state)
{
    plane p;
    (void)state;
    plane_start(&p, NULL);
    kc_clock_advance(p.loop.clock, 32 * KC_SECOND);
    assert_true(p.conn.deadline <= kc_clock_now(p.loop.clock));
    kc__h2_protocol.expired(&p.conn);
    assert_int_equal(p.conn.disposition, KC__CONN_CLOSE);
    plane_close(&p);
}

static void idle_connection_is_closed(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    plane_advance(&p, 2 * KC_MINUTE);
    get(&p, "/");
    settle(&p);
    plane_advance(&p, 2 * KC_MINUTE);
    nghttp2_submit_ping(p.client, NGHTTP2_FLAG_NONE, NULL);
    settle(&p);
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    plane_advance(&p, KC_MINUTE);
    assert_int_equal(p.conn.disposition, KC__CONN_CLOSE);
    assert_true(p.goaway);
    assert_int_equal(p.goaway_code, NGHTTP2_NO_ERROR);
    plane_close(&p);
}

static void open_watch_is_not_idle(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/watch");
    settle(&p);
    assert_int_equal(p.conn.deadline, KC_FOREVER);
    plane_advance(&p, 24 * KC_HOUR);
    feed_set(p.feeds, "event", KC__HTTP_FILL_WAIT);
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, id)->body), "event");
    assert_int_equal(p.conn.deadline, KC_FOREVER);
    plane_close(&p);
}

static void slow_head_ends_the_connection(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    get(&p, "/watch");
    settle(&p);
    /* HEADERS without END_HEADERS; a static field. */
    send_frame(&p, NGHTTP2_HEADERS, 0, 3, KC_STR("\x82"));
    plane_advance(&p, 31 * KC_SECOND);
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    plane_advance(&p, KC_SECOND);
    assert_int_equal(p.conn.disposition, KC__CONN_CLOSE);
    assert_int_equal(p.goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
    plane_close(&p);
}

static void slow_body_returns_408(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t late = announce_body(&p, "5");
    settle(&p);
    plane_advance(&p, 30 * KC_SECOND);
    int32_t later = announce_body(&p, "5");
    settle(&p);
    plane_advance(&p, 30 * KC_SECOND);
    assert_int_equal(reply_of(&p, late)->status, 408);
    assert_int_equal(reply_of(&p, later)->status, 0);
    plane_advance(&p, 30 * KC_SECOND);
    assert_int_equal(reply_of(&p, later)->status, 408);
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    plane_close(&p);
}

static void unread_response_is_reset_at_timeout(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.no_window = true});
    int32_t owned = get(&p, "/owned"), endless = get(&p, "/endless");
    settle(&p);
    plane_advance(&p, 29 * KC_SECOND);
    assert_false(reply_of(&p, owned)->closed);
    nghttp2_submit_window_update(p.client, NGHTTP2_FLAG_NONE, endless, 1);
    settle(&p);
    plane_advance(&p, KC_SECOND);
    assert_true(reply_of(&p, owned)->closed);
    assert_int_equal(reply_of(&p, owned)->code, NGHTTP2_CANCEL);
    assert_int_equal(p.released, 1);
    assert_false(reply_of(&p, endless)->closed);
    plane_advance(&p, 29 * KC_SECOND);
    assert_true(reply_of(&p, endless)->closed);
    plane_close(&p);
}

static void closed_connection_window_resets_its_streams(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.window = 1 << 30, .hoards = true});
    int32_t ids[] = {get(&p, "/endless"), get(&p, "/owned")};
    settle(&p);
    assert_int_equal(reply_of(&p, ids[0])->length + reply_of(&p, ids[1])->length, 65535);
    plane_advance(&p, 30 * KC_SECOND);
    assert_true(reply_of(&p, ids[0])->closed && reply_of(&p, ids[1])->closed);
    plane_close(&p);
}

static void slow_transport_does_not_reset_streams(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.window = 1 << 30});
    nghttp2_submit_window_update(p.client, NGHTTP2_FLAG_NONE, 0, 1 << 30);
    settle(&p);
    p.stalled = true;
    int32_t id = get(&p, "/owned");
    settle(&p);
    plane_advance(&p, 40 * KC_SECOND);
    assert_true(p.conn.deadline > kc_clock_now(p.loop.clock));
    p.stalled = false;
    settle(&p);
    assert_int_equal(reply_of(&p, id)->length, sizeof(large_text));
    plane_close(&p);
}

/* ---- memory ---- */

/* What the server alone allocates for a connection with one open watch. Counted only where the
 * allocator counts: not under a sanitizer. */
static void idle_watch_uses_less_than_40_kib(void **state)
{
    static plane planes[100];
    static const char greeting[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    size_t before = 0;
    (void)state;
    for (size_t i = 0; i < KC_COUNT(planes); i++)
        plane_start(&planes[i], NULL);
    for (size_t i = 0; i < KC_COUNT(planes); i++)
        kc__h2_protocol.close(&planes[i].conn);
    before = mallinfo2().uordblks;
    for (size_t i = 0; i < KC_COUNT(planes); i++) {
        kc__h2_protocol.open(&planes[i].conn);
        send_raw(&planes[i], greeting, sizeof(greeting) - 1);
        send_frame(&planes[i], NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM,
                   1,
                   KC_STR("\x82\x86\x44\x06/watch\x41\x01x\x7A\x05"
                          "agent"));
        assert_int_equal(planes[i].sources, 1);
        kc_buf_done(&planes[i].conn.out);
        kc__h2_protocol.fill(&planes[i].conn);
    }
    size_t each = (mallinfo2().uordblks - before) / KC_COUNT(planes);
    print_message("%zu bytes\n", each);
    assert_true(each < 40 << 10);
    for (size_t i = 0; i < KC_COUNT(planes); i++)
        plane_close(&planes[i]);
}

TESTS(largest_bodies_pass_both_ways_through_small_windows,
      announced_body_beyond_limit_returns_413_at_once, streamed_body_beyond_limit_returns_413,
      concurrent_uploads_share_the_window, unused_upload_window_is_reclaimed_at_timeout,
      source_is_not_polled_while_the_window_is_closed, output_of_a_stalled_client_is_bounded,
      shared_bytes_are_sent_in_order_and_within_the_window, reset_stream_drops_its_shared_bytes,
      streams_share_a_connection_fairly, small_response_does_not_wait_for_large_ones,
      connection_without_preface_is_closed, idle_connection_is_closed, open_watch_is_not_idle,
      slow_head_ends_the_connection, slow_body_returns_408, unread_response_is_reset_at_timeout,
      closed_connection_window_resets_its_streams, slow_transport_does_not_reset_streams,
      idle_watch_uses_less_than_40_kib)
