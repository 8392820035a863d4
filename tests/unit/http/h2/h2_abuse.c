/* SPDX-License-Identifier: Apache-2.0 */
/* Abusive HTTP/2 clients: each is limited or disconnected, and none uses more than its share. */
#include "h2_testing.h"

/* ---- frames by hand ---- */

/* A block of header fields, as a client would compress it. */
static kc_str block_of(nghttp2_hd_deflater *deflater, kc_buf *to, const nghttp2_nv *fields,
                       size_t n)
{
    size_t bound = nghttp2_hd_deflate_bound(deflater, fields, n);
    kc_buf_clear(to);
    char *at = kc_buf_reserve(to, bound);
    ssize_t size = nghttp2_hd_deflate_hd(deflater, (uint8_t *)at, bound, fields, n);
    assert_true(size > 0);
    to->n = (size_t)size;
    return kc_buf_str(to);
}

/* :method GET, :scheme http, :path /, :authority x */
static const kc_str get_block = KC_STR_INIT("\x82\x86\x84\x01\x01x");
/* The same with :method POST. */
static const kc_str post_block = KC_STR_INIT("\x83\x86\x84\x01\x01x");

static void send_get(plane *p, uint32_t id)
{
    send_frame(p, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, id,
               get_block);
}

static void send_reset(plane *p, uint32_t id)
{
    send_frame(p, NGHTTP2_RST_STREAM, 0, id, KC_STR("\0\0\0\x08"));
}

static bool got_goaway(plane *p, uint32_t code)
{
    server_to_client(p);
    return p->conn.disposition == KC__CONN_CLOSE && p->goaway && p->goaway_code == code;
}

/* Sends one frame until the connection ends; how many that took. */
static size_t send_until_closed(plane *p, uint8_t type, uint8_t flags, uint32_t id, kc_str payload)
{
    size_t count = 0;
    while (p->conn.disposition == KC__CONN_OPEN && count < 100000) {
        send_frame(p, type, flags, id, payload);
        server_to_client(p);
        count++;
    }
    return count;
}

/* ---- resets ---- */

static void rapid_resets_end_the_connection(void **state)
{
    plane p;
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *ended = kc_metrics_counter(metrics, &(kc_metric_opts){.name = "ended_total"}, NULL);
    kc__http_endings endings = {0};
    endings.counters[KC__HTTP_ENDED_RESETS] = kc_metric_counter(ended);
    plane_open(&p, NULL);
    p.conn.endings = &endings;
    uint32_t id = 1;
    for (; p.conn.disposition == KC__CONN_OPEN && id < 20001; id += 2) {
        send_get(&p, id);
        send_reset(&p, id);
        server_to_client(&p);
    }
    assert_true(got_goaway(&p, NGHTTP2_ENHANCE_YOUR_CALM));
    assert_int_equal(id / 2, 1001);
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(metrics, &text);
    assert_contains(kc_buf_cstr(&text), "\nended_total 1\n");
    plane_close(&p);
}

static void occasional_resets_are_allowed(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    for (uint32_t id = 1; id < 10001; id += 2) {
        send_get(&p, id);
        send_reset(&p, id);
        server_to_client(&p);
        kc_clock_advance(p.loop.clock, 10 * KC_MILLISECOND);
    }
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    assert_int_equal(p.handled, 5000);
    plane_close(&p);
}

static void provoked_resets_count_as_resets(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    uint32_t id = 1;
    for (; p.conn.disposition == KC__CONN_OPEN && id < 20001; id += 2) {
        send_frame(&p, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, id, post_block);
        send_frame(&p, NGHTTP2_WINDOW_UPDATE, 0, id, KC_STR("\x7F\xFF\xFF\xFF"));
        server_to_client(&p);
    }
    assert_true(got_goaway(&p, NGHTTP2_ENHANCE_YOUR_CALM));
    assert_true(id / 2 < 1010);
    plane_close(&p);
}

static void resets_do_not_raise_the_number_of_handlers(void **state)
{
    nghttp2_nv fields[] = {nv(":method", "GET"), nv(":scheme", "http"), nv(":path", "/hold"),
                           nv(":authority", "x")};
    nghttp2_hd_deflater *deflater;
    kc_scoped(kc_buf) block = {0};
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.limits.max_streams = 20});
    assert_int_equal(nghttp2_hd_deflate_new(&deflater, 0), 0);
    for (uint32_t id = 1; id < 201; id += 2) {
        send_frame(&p, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, id,
                   block_of(deflater, &block, fields, 4));
        send_reset(&p, id);
        server_to_client(&p);
    }
    nghttp2_hd_deflate_del(deflater);
    assert_int_equal(p.n_held, 20);
    respond_held(&p);
    int32_t next = 201;
    send_get(&p, (uint32_t)next);
    assert_int_equal(p.handled, 21);
    plane_close(&p);
}

static void streams_beyond_the_limit_are_refused(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.limits.max_streams = 10});
    for (uint32_t id = 1; id < 41; id += 2)
        send_frame(&p, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, id, post_block);
    assert_int_equal(p.handled, 0);
    for (uint32_t id = 1; id < 41; id += 2)
        send_frame(&p, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, id, KC_STR("x"));
    assert_true(p.handled <= 10);
    plane_close(&p);
}

/* ---- heads ---- */

static void too_many_headers_return_431(void **state)
{
    nghttp2_nv fields[200];
    plane p;
    (void)state;
    plane_open(&p, NULL);
    for (size_t i = 0; i < KC_COUNT(fields); i++)
        fields[i] = nv("x-field", "value");
    int32_t many = request(&p, "GET", "/", fields, 200, (kc_str){0}, false);
    int32_t enough = request(&p, "GET", "/", fields, 127, (kc_str){0}, false);
    int32_t unread = request(&p, "POST", "/", fields, 200, (kc_str){0}, true);
    settle(&p);
    assert_int_equal(reply_of(&p, many)->status, 431);
    assert_contains(kc_buf_cstr(&reply_of(&p, many)->body), "more than 128 header fields");
    assert_int_equal(reply_of(&p, enough)->status, 200);
    assert_int_equal(reply_of(&p, unread)->status, 431);
    assert_int_equal(p.handled, 1);
    plane_close(&p);
}

static void head_beyond_limit_returns_431(void **state)
{
    static char large[30001];
    plane p;
    (void)state;
    memset(large, 'v', sizeof(large) - 1);
    plane_open(&p, &(plane_opts){.limits.max_head = 50000});
    nghttp2_nv fields[] = {nv("a", large), nv("b", large)};
    int32_t two = request(&p, "GET", "/", fields, 2, (kc_str){0}, false);
    int32_t one = request(&p, "GET", "/", fields, 1, (kc_str){0}, false);
    settle(&p);
    assert_int_equal(reply_of(&p, two)->status, 431);
    assert_int_equal(reply_of(&p, one)->status, 200);
    plane_close(&p);
}

/* An entry of 4,000 bytes in the table, and a head that names it again and again. */
static void send_bomb(plane *p, uint32_t id, int times)
{
    static char large[4000];
    kc_scoped(kc_buf) block = {0};
    memset(large, 'v', sizeof(large));
    kc_buf_append(&block, get_block);
    kc_buf_append(&block, KC_STR("\x40\x01x\x7F\xA1\x1E")); /* x: 4000 bytes, to be indexed. */
    kc_buf_append(&block, kc_str_of(large, sizeof(large)));
    for (int i = 0; i < times; i++)
        kc_buf_putc(&block, (char)0xBE);
    send_frame(p, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, id,
               kc_buf_str(&block));
}

static void compression_bomb_is_answered(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    send_bomb(&p, 1, 200);
    assert_int_equal(p.handled, 0);
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    send_get(&p, 3);
    assert_int_equal(p.handled, 1);
    plane_close(&p);
}

static void compression_bombs_beyond_limit_end_the_connection(void **state)
{
    plane one, many;
    (void)state;
    plane_open(&one, NULL);
    send_bomb(&one, 1, 10000);
    assert_int_equal(one.conn.disposition, KC__CONN_CLOSE);
    look_for_goaway(&one, kc_buf_str(&one.conn.out));
    assert_int_equal(one.goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
    plane_close(&one);
    plane_open(&many, NULL);
    for (uint32_t i = 0; i < 20 && many.conn.disposition == KC__CONN_OPEN; i++)
        send_bomb(&many, 2 * i + 1, 40);
    assert_int_equal(many.conn.disposition, KC__CONN_CLOSE);
    plane_close(&many);
}

static void endless_continuation_ends_the_connection(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    send_frame(&p, NGHTTP2_HEADERS, 0, 1, get_block);
    size_t count = send_until_closed(&p, NGHTTP2_CONTINUATION, 0, 1,
                                     KC_STR("\x00\x01"
                                            "a\x01"
                                            "b"));
    assert_true(count < 100);
    assert_true(got_goaway(&p, NGHTTP2_ENHANCE_YOUR_CALM));
    plane_close(&p);
}

static void upper_case_headers_are_refused(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    send_frame(&p, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1,
               KC_STR("\x82\x86\x84\x01\x01x\x00\x01"
                      "A\x01"
                      "b"));
    send_frame(&p, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 3,
               KC_STR("\x82\x86\x84\x01\x01x\x00\x01"
                      "a\x03"
                      "b\r\n"));
    assert_int_equal(p.handled, 0);
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    plane_close(&p);
}

/* ---- floods ---- */

typedef struct flood {
    uint8_t type, flags;
    uint32_t id;
    kc_str payload;
} flood;

static const flood floods[] = {
    {NGHTTP2_PING, 0, 0, KC_STR_INIT("12345678")},
    {NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, KC_STR_INIT("12345678")},
    {NGHTTP2_SETTINGS, 0, 0, KC_STR_INIT("")},
    {NGHTTP2_SETTINGS, 0, 0, KC_STR_INIT("\0\x03\0\0\0\x01")},
    {NGHTTP2_PRIORITY, 0, 5, KC_STR_INIT("\0\0\0\0\x10")},
    {NGHTTP2_WINDOW_UPDATE, 0, 0, KC_STR_INIT("\0\0\0\x01")},
    {NGHTTP2_DATA, 0, 1, KC_STR_INIT("")},
    {NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1,
     KC_STR_INIT("\x02"
                 "aa")},
};

static void floods_of_empty_frames_end_the_connection(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(floods); i++) {
        const flood *f = &floods[i];
        plane p;
        plane_open(&p, NULL);
        send_frame(&p, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, post_block);
        size_t count = send_until_closed(&p, f->type, f->flags, f->id, f->payload);
        assert_true(count > 5000 && count < 10010);
        assert_true(got_goaway(&p, NGHTTP2_ENHANCE_YOUR_CALM));
        plane_close(&p);
    }
}

static void unknown_frames_are_ignored(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    send_frame(&p, 0x42, 0xFF, 7, KC_STR("whatever"));
    send_frame(&p, NGHTTP2_PRIORITY_UPDATE, 0, 0, KC_STR("\0\0\0\x01u=1"));
    int32_t id = get(&p, "/");
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 200);
    plane_close(&p);
}

static void occasional_pings_are_allowed(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    for (int i = 0; i < 50000; i++) {
        send_frame(&p, NGHTTP2_PING, 0, 0, KC_STR("12345678"));
        server_to_client(&p);
        kc_clock_advance(p.loop.clock, KC_MILLISECOND);
    }
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    plane_close(&p);
}

static void window_updates_of_a_reading_client_are_allowed(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.window = 400});
    for (int i = 0; i < 20; i++) {
        int32_t id = get(&p, "/owned");
        settle(&p);
        assert_int_equal(reply_of(&p, id)->length, sizeof(large_text));
    }
    plane_close(&p);
}

static void control_frames_of_a_stalled_client_are_bounded(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        plane p;
        plane_open(&p, NULL);
        p.stalled = true;
        size_t count = send_until_closed(&p, floods[i].type, floods[i].flags, 0, floods[i].payload);
        assert_true(count < 10010);
        assert_true(p.conn.out.n < KC__CONN_HIGH + (20 << 10));
        plane_close(&p);
    }
}

static void requests_of_a_stalled_client_are_bounded(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    p.stalled = true;
    for (uint32_t id = 1; id < 100001 && p.conn.disposition == KC__CONN_OPEN; id += 2)
        send_get(&p, id);
    assert_true(p.conn.out.n < KC__CONN_HIGH + (20 << 10));
    assert_true(p.handled < 5000);
    p.stalled = false;
    while (server_to_client(&p))
        ;
    assert_true(got_goaway(&p, NGHTTP2_PROTOCOL_ERROR));
    plane_close(&p);
}

/* ---- other protocols ---- */

static void another_protocol_closes_the_connection(void **state)
{
    plane p;
    (void)state;
    plane_start(&p, NULL);
    send_raw(&p, "GET / HTTP/1.1\r\n\r\n", 18);
    assert_int_equal(p.conn.disposition, KC__CONN_CLOSE);
    plane_close(&p);
}

static void invalid_frames_end_the_connection(void **state)
{
    static const flood bad[] = {
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 2, KC_STR_INIT("\x82")},
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 0, KC_STR_INIT("\x82")},
        {NGHTTP2_DATA, 0, 0, KC_STR_INIT("x")},
        {NGHTTP2_DATA, 0, 77, KC_STR_INIT("x")},
        {NGHTTP2_CONTINUATION, 0, 1, KC_STR_INIT("x")},
        {NGHTTP2_PING, 0, 0, KC_STR_INIT("short")},
        {NGHTTP2_SETTINGS, 0, 0, KC_STR_INIT("odd")},
        {NGHTTP2_SETTINGS, 0, 0, KC_STR_INIT("\0\x04\xFF\xFF\xFF\xFF")},
        {NGHTTP2_WINDOW_UPDATE, 0, 0, KC_STR_INIT("\x7F\xFF\xFF\xFF")},
        {NGHTTP2_WINDOW_UPDATE, 0, 0, KC_STR_INIT("\0\0\0\0")},
        {NGHTTP2_PUSH_PROMISE, NGHTTP2_FLAG_END_HEADERS, 1, KC_STR_INIT("\0\0\0\x02\x82")},
        {NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, KC_STR_INIT("\xFF\xFF\xFF\xFF\xFF")},
    };
    (void)state;
    for (size_t i = 0; i < KC_COUNT(bad); i++) {
        plane p;
        plane_open(&p, NULL);
        send_frame(&p, bad[i].type, bad[i].flags, bad[i].id, bad[i].payload);
        server_to_client(&p);
        assert_int_equal(p.conn.disposition, KC__CONN_CLOSE);
        assert_true(p.goaway && p.goaway_code != NGHTTP2_NO_ERROR);
        plane_close(&p);
    }
}

static void bytes_may_arrive_one_by_one(void **state)
{
    plane p;
    (void)state;
    plane_start(&p, NULL);
    int32_t id = post(&p, "/echo", KC_STR("piece by piece"));
    const uint8_t *bytes;
    for (ssize_t n; (n = nghttp2_session_mem_send(p.client, &bytes)) > 0;)
        for (ssize_t i = 0; i < n; i++)
            send_raw(&p, bytes + i, 1);
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, id)->body), "piece by piece");
    plane_close(&p);
}

TESTS(rapid_resets_end_the_connection, occasional_resets_are_allowed,
      provoked_resets_count_as_resets, resets_do_not_raise_the_number_of_handlers,
      streams_beyond_the_limit_are_refused, too_many_headers_return_431,
      head_beyond_limit_returns_431, compression_bomb_is_answered,
      compression_bombs_beyond_limit_end_the_connection, endless_continuation_ends_the_connection,
      upper_case_headers_are_refused, floods_of_empty_frames_end_the_connection,
      unknown_frames_are_ignored, occasional_pings_are_allowed,
      window_updates_of_a_reading_client_are_allowed,
      control_frames_of_a_stalled_client_are_bounded, requests_of_a_stalled_client_are_bounded,
      another_protocol_closes_the_connection, invalid_frames_end_the_connection,
      bytes_may_arrive_one_by_one)
