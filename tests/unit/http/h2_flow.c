/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of any size both ways, windows, the pool of large bodies, back-pressure and deadlines. */
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
static int32_t promise(plane *p, const char *length)
{
    nghttp2_nv fields[] = {nv(":method", "POST"), nv(":scheme", "http"), nv(":path", "/"),
                           nv(":authority", "localhost"), nv("content-length", length)};
    return nghttp2_submit_headers(p->client, NGHTTP2_FLAG_NONE, -1, NULL, fields, 5, NULL);
}

/* ---- bodies of requests ---- */

static void bodies_of_the_largest_size_pass_both_ways_through_small_windows(void **state)
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

static void a_body_that_is_announced_too_large_is_refused_at_once(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.limits.max_body = 1000});
    int32_t id = post_announced(&p, "/echo", kc_str_sub(whole_body(), 0, 1001));
    client_speaks(&p, 1);
    server_to_client(&p);
    assert_int_equal(reply_of(&p, id)->status, 413);
    assert_true(reply_of(&p, id)->ended && reply_of(&p, id)->closed);
    assert_int_equal(reply_of(&p, id)->code, NGHTTP2_NO_ERROR);
    int32_t fits = post_announced(&p, "/echo", kc_str_sub(whole_body(), 0, 1000));
    settle(&p);
    assert_int_equal(reply_of(&p, fits)->length, 1000);
    plane_close(&p);
}

static void a_body_that_turns_out_too_large_is_refused(void **state)
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

static void many_large_bodies_take_turns(void **state)
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

static void room_that_is_promised_and_not_used_comes_back(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t lazy[4];
    for (size_t i = 0; i < KC_COUNT(lazy); i++)
        lazy[i] = promise(&p, "3145728");
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

/* ---- answers ---- */

static void a_source_is_not_asked_while_the_window_is_shut(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.no_window = true});
    int32_t id = get(&p, "/endless");
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 200);
    assert_int_equal(p.feeds->asked, 0);
    nghttp2_submit_window_update(p.client, NGHTTP2_FLAG_NONE, id, 10);
    settle(&p);
    assert_int_equal(reply_of(&p, id)->length, 10);
    plane_close(&p);
}

static void a_client_that_does_not_read_gets_no_more_than_the_mark(void **state)
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
        kc__http2.fill(&p.conn);
    assert_true(p.conn.out.n >= KC__CONN_HIGH);
    assert_true(p.conn.out.n < KC__CONN_HIGH + (20 << 10));
    plane_close(&p);
}

static void streams_share_a_connection(void **state)
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

static void a_small_answer_does_not_wait_for_large_ones(void **state)
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

static void a_connection_without_a_preface_is_closed(void **state)
{
    plane p;
    (void)state;
    plane_start(&p, NULL);
    kc_clock_advance(p.loop.clock, 32 * KC_SECOND);
    assert_true(p.conn.deadline <= kc_clock_now(p.loop.clock));
    kc__http2.expired(&p.conn);
    assert_int_equal(p.conn.wish, KC__CONN_CLOSE);
    plane_close(&p);
}

static void an_idle_connection_is_closed(void **state)
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
    assert_int_equal(p.conn.wish, KC__CONN_OPEN);
    plane_advance(&p, KC_MINUTE);
    assert_int_equal(p.conn.wish, KC__CONN_CLOSE);
    assert_true(p.goaway);
    assert_int_equal(p.goaway_code, NGHTTP2_NO_ERROR);
    plane_close(&p);
}

static void an_open_watch_is_not_idle(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/watch");
    settle(&p);
    assert_int_equal(p.conn.deadline, KC_FOREVER);
    plane_advance(&p, 24 * KC_HOUR);
    feed_say(p.feeds, "event", KC__FILL_WAIT);
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, id)->body), "event");
    assert_int_equal(p.conn.deadline, KC_FOREVER);
    plane_close(&p);
}

static void a_head_must_come_in_time(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    get(&p, "/watch");
    settle(&p);
    /* HEADERS without END_HEADERS; a static field. */
    send_frame(&p, NGHTTP2_HEADERS, 0, 3, KC_STR("\x82"));
    plane_advance(&p, 31 * KC_SECOND);
    assert_int_equal(p.conn.wish, KC__CONN_OPEN);
    plane_advance(&p, KC_SECOND);
    assert_int_equal(p.conn.wish, KC__CONN_CLOSE);
    assert_int_equal(p.goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
    plane_close(&p);
}

static void a_body_must_come_in_time(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t late = promise(&p, "5");
    settle(&p);
    plane_advance(&p, 30 * KC_SECOND);
    int32_t later = promise(&p, "5");
    settle(&p);
    plane_advance(&p, 30 * KC_SECOND);
    assert_int_equal(reply_of(&p, late)->status, 408);
    assert_int_equal(reply_of(&p, later)->status, 0);
    plane_advance(&p, 30 * KC_SECOND);
    assert_int_equal(reply_of(&p, later)->status, 408);
    assert_int_equal(p.conn.wish, KC__CONN_OPEN);
    plane_close(&p);
}

static void an_answer_must_be_taken_in_time(void **state)
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

static void a_connection_window_that_stays_shut_ends_its_streams(void **state)
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

static void a_slow_transport_is_not_the_streams_fault(void **state)
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
static void an_idle_watch_takes_little_memory(void **state)
{
    static plane planes[100];
    static const char greeting[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    size_t before = 0;
    (void)state;
    for (size_t i = 0; i < KC_COUNT(planes); i++)
        plane_start(&planes[i], NULL);
    for (size_t i = 0; i < KC_COUNT(planes); i++)
        kc__http2.close(&planes[i].conn);
    before = mallinfo2().uordblks;
    for (size_t i = 0; i < KC_COUNT(planes); i++) {
        kc__http2.open(&planes[i].conn);
        send_raw(&planes[i], greeting, sizeof(greeting) - 1);
        send_frame(&planes[i], NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM,
                   1,
                   KC_STR("\x82\x86\x44\x06/watch\x41\x01x\x7A\x05"
                          "agent"));
        assert_int_equal(planes[i].sources, 1);
        kc_buf_done(&planes[i].conn.out);
        kc__http2.fill(&planes[i].conn);
    }
    size_t each = (mallinfo2().uordblks - before) / KC_COUNT(planes);
    print_message("%zu bytes\n", each);
    assert_true(each < 40 << 10);
    for (size_t i = 0; i < KC_COUNT(planes); i++)
        plane_close(&planes[i]);
}

TESTS(bodies_of_the_largest_size_pass_both_ways_through_small_windows,
      a_body_that_is_announced_too_large_is_refused_at_once,
      a_body_that_turns_out_too_large_is_refused, many_large_bodies_take_turns,
      room_that_is_promised_and_not_used_comes_back, a_source_is_not_asked_while_the_window_is_shut,
      a_client_that_does_not_read_gets_no_more_than_the_mark, streams_share_a_connection,
      a_small_answer_does_not_wait_for_large_ones, a_connection_without_a_preface_is_closed,
      an_idle_connection_is_closed, an_open_watch_is_not_idle, a_head_must_come_in_time,
      a_body_must_come_in_time, an_answer_must_be_taken_in_time,
      a_connection_window_that_stays_shut_ends_its_streams,
      a_slow_transport_is_not_the_streams_fault, an_idle_watch_takes_little_memory)
