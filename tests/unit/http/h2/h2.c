/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests and responses over HTTP/2, and what happens when the client or the connection ends. Flow
 * control is in h2_flow.c, abuse in h2_abuse.c.
 */
#include "h2_testing.h"

/* ---- requests ---- */

static void request_is_answered(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/version?pretty=1");
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 200);
    assert_str(kc_buf_str(&reply_of(&p, id)->body), "ok");
    assert_str(kc_buf_str(&reply_of(&p, id)->head),
               "x-kind: test\ncontent-type: text/plain\ncontent-length: 2\n"
               "date: Thu, 01 Jan 1970 00:00:00 GMT\n");
    assert_true(reply_of(&p, id)->ended && reply_of(&p, id)->closed);
    assert_int_equal(reply_of(&p, id)->code, NGHTTP2_NO_ERROR);
    plane_close(&p);
}

static void handler_gets_method_path_headers_and_body(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    nghttp2_nv more[] = {nv("accept", "*/*"), nv("x-empty", "")};
    request(&p, "POST", "/a/../b%20c?x=1", more, 2, KC_STR("hello"), false);
    settle(&p);
    assert_str(kc_buf_str(&p.seen),
               "POST /b c\nhost: localhost:6080\naccept: */*\nx-empty: \n5 bytes\n");
    plane_close(&p);
}

static void request_has_peer_protocol_and_loop(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    get(&p, "/hold");
    settle(&p);
    const kc__http_request *request_held = &p.held[0]->request;
    assert_string_equal(request_held->protocol, "HTTP/2.0");
    assert_string_equal(request_held->peer->address, "127.0.0.1");
    assert_int_equal(request_held->received, kc_clock_now(p.loop.clock));
    assert_ptr_equal(p.held[0]->loop, &p.loop);
    plane_close(&p);
}

static void cookie_headers_are_joined(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    nghttp2_nv more[] = {nv("cookie", "a=1"), nv("x", "y"), nv("cookie", "b=2"), nv("cookie", "c")};
    request(&p, "GET", "/", more, 4, (kc_str){0}, false);
    settle(&p);
    assert_str(kc_buf_str(&p.seen),
               "GET /\nhost: localhost:6080\ncookie: a=1; b=2; c\nx: y\n0 bytes\n");
    plane_close(&p);
}

static void host_equal_to_authority_is_dropped_and_another_refused(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    nghttp2_nv same[] = {nv("host", "LOCALHOST:6080")}, other[] = {nv("host", "evil.example")};
    request(&p, "GET", "/", same, 1, (kc_str){0}, false);
    settle(&p);
    assert_str(kc_buf_str(&p.seen), "GET /\nhost: localhost:6080\n0 bytes\n");
    int32_t id = request(&p, "GET", "/", other, 1, (kc_str){0}, false);
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 400);
    assert_int_equal(p.handled, 1);
    plane_close(&p);
}

static void trailers_are_dropped(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    nghttp2_nv trailer[] = {nv("x-checksum", "1")};
    int32_t id = request(&p, "POST", "/", NULL, 0, (kc_str){0}, true);
    client_sends_frames(&p, 2);
    /* The client's library would send DATA for ever: what follows is written by hand. */
    nghttp2_hd_deflater *deflater;
    uint8_t block[64];
    assert_int_equal(nghttp2_hd_deflate_new(&deflater, 0), 0);
    ssize_t n = nghttp2_hd_deflate_hd(deflater, block, sizeof(block), trailer, 1);
    send_frame(&p, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM,
               (uint32_t)id, kc_str_of((char *)block, (size_t)n));
    nghttp2_hd_deflate_del(deflater);
    server_to_client(&p);
    assert_int_equal(p.handled, 1);
    assert_false(kc_str_contains(kc_buf_str(&p.seen), KC_STR("x-checksum")));
    assert_int_equal(reply_of(&p, id)->status, 200);
    plane_close(&p);
}

static void invalid_path_returns_400(void **state)
{
    static const char *const paths[] = {"/%zz", "/%00", "/a%7Fb"};
    plane p;
    (void)state;
    plane_open(&p, NULL);
    for (size_t i = 0; i < KC_COUNT(paths); i++) {
        int32_t id = get(&p, paths[i]);
        settle(&p);
        assert_int_equal(reply_of(&p, id)->status, 400);
    }
    assert_int_equal(p.handled, 0);
    plane_close(&p);
}

static void malformed_messages_are_reset(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    nghttp2_nv connection[] = {nv("connection", "close")}, length[] = {nv("content-length", "9")};
    int32_t first = request(&p, "GET", "/", connection, 1, (kc_str){0}, false);
    int32_t second = request(&p, "POST", "/", length, 1, KC_STR("abc"), false);
    settle(&p);
    assert_int_equal(reply_of(&p, first)->code, NGHTTP2_PROTOCOL_ERROR);
    assert_int_equal(reply_of(&p, second)->code, NGHTTP2_PROTOCOL_ERROR);
    int32_t third = get(&p, "/a b");
    settle(&p);
    assert_int_equal(reply_of(&p, third)->code, NGHTTP2_PROTOCOL_ERROR);
    assert_int_equal(p.handled, 0);
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    plane_close(&p);
}

static void expect_continue_gets_100_continue(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    nghttp2_nv expect[] = {nv("expect", "100-continue")};
    int32_t id = request(&p, "POST", "/echo", expect, 1, KC_STR("x"), false);
    client_sends_frames(&p, 1);
    server_to_client(&p);
    assert_int_equal(reply_of(&p, id)->status, 100);
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 200);
    plane_close(&p);
}

/* ---- responses ---- */

static void head_response_has_no_body(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t owned = request(&p, "HEAD", "/owned", NULL, 0, (kc_str){0}, false);
    int32_t endless = request(&p, "HEAD", "/endless", NULL, 0, (kc_str){0}, false);
    settle(&p);
    assert_true(reply_of(&p, owned)->ended && reply_of(&p, endless)->ended);
    assert_int_equal(reply_of(&p, owned)->length + reply_of(&p, endless)->length, 0);
    assert_contains(kc_buf_cstr(&reply_of(&p, owned)->head), "content-length: 1048576\n");
    assert_int_equal(p.done, 1);
    assert_int_equal(p.released, 1);
    assert_int_equal(p.feeds->polls, 0);
    plane_close(&p);
}

static void status_204_and_304_have_no_body(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t ids[] = {get(&p, "/204"), get(&p, "/304")};
    settle(&p);
    for (size_t i = 0; i < KC_COUNT(ids); i++) {
        reply *r = reply_of(&p, ids[i]);
        assert_true(r->ended && !r->length);
        assert_false(kc_str_contains(kc_buf_str(&r->head), KC_STR("content-length")));
    }
    assert_int_equal(reply_of(&p, ids[1])->status, 304);
    plane_close(&p);
}

static void invalid_headers_are_left_out(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/hold");
    settle(&p);
    kc__http_header fields[] = {{KC_STR("X-Good"), KC_STR("1")},
                                {KC_STR("X-Bad"), KC_STR("a\r\nb")},
                                {KC_STR("Connection"), KC_STR("close")},
                                {KC_STR("a b"), KC_STR("c")}};
    kc__exchange_respond(p.held[0],
                         &(kc__http_response){.status = 201, .headers = fields, .n_headers = 4});
    p.n_held = 0;
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, id)->head),
               "x-good: 1\ncontent-length: 0\ndate: Thu, 01 Jan 1970 00:00:00 GMT\n");
    plane_close(&p);
}

static void response_may_come_later(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/hold");
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 0);
    respond_held(&p);
    assert_int_equal(p.changes, 1);
    assert_int_equal(p.conn.out.n, 0);
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, id)->body), "late");
    plane_close(&p);
}

static void streams_are_answered_in_any_order(void **state)
{
    plane p;
    int32_t ids[200];
    (void)state;
    plane_open(&p, NULL);
    for (size_t i = 0; i < KC_COUNT(ids); i++)
        ids[i] = get(&p, "/hold");
    settle(&p);
    assert_int_equal(p.n_held, KC_COUNT(ids));
    for (size_t i = KC_COUNT(ids); i-- > 0;) {
        char text[24];
        snprintf(text, sizeof(text), "%zu", i);
        respond_text(p.held[i], 200, kc_cstr(text));
    }
    p.n_held = 0;
    settle(&p);
    for (size_t i = 0; i < KC_COUNT(ids); i++) {
        char text[24];
        snprintf(text, sizeof(text), "%zu", i);
        assert_str(kc_buf_str(&reply_of(&p, ids[i])->body), text);
    }
    plane_close(&p);
}

static void large_body_is_compressed_when_accepted(void **state)
{
    static char text[1 << 20];
    plane p;
    (void)state;
    plane_open(&p, NULL);
    nghttp2_nv accept[] = {nv("accept-encoding", "gzip")};
    int32_t small = request(&p, "GET", "/hold", accept, 1, (kc_str){0}, false);
    int32_t large = request(&p, "GET", "/hold", accept, 1, (kc_str){0}, false);
    int32_t plain = get(&p, "/hold");
    settle(&p);
    for (size_t i = 0; i < 3; i++)
        kc__exchange_respond(p.held[i],
                             &(kc__http_response){.status = 200,
                                                  .body = kc_str_of(text, i ? sizeof(text) : 100),
                                                  .gzip = true});
    p.n_held = 0;
    settle(&p);
    assert_int_equal(reply_of(&p, small)->length, 100);
    assert_int_equal(reply_of(&p, plain)->length, sizeof(text));
    assert_true(reply_of(&p, large)->ended);
    assert_in_range(reply_of(&p, large)->length, 20, 20000);
    assert_str(kc_buf_str(&reply_of(&p, large)->head),
               "content-encoding: gzip\nvary: Accept-Encoding\n"
               "date: Thu, 01 Jan 1970 00:00:00 GMT\n");
    plane_close(&p);
}

/* ---- sources ---- */

static void watch_sends_head_at_once_and_events_as_they_come(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/watch");
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 200);
    assert_int_equal(reply_of(&p, id)->length, 0);
    size_t polls = p.feeds->polls;
    settle(&p);
    assert_int_equal(p.feeds->polls, polls);
    feed_set(p.feeds, "one\n", KC__HTTP_FILL_WAIT);
    kc__exchange_wake(p.feeds->x);
    assert_int_equal(p.feeds->polls, polls);
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, id)->body), "one\n");
    assert_int_equal(p.feeds->polls, polls + 1);
    assert_false(reply_of(&p, id)->ended);
    feed_set(p.feeds, "two\n", KC__HTTP_FILL_END);
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, id)->body), "one\ntwo\n");
    assert_true(reply_of(&p, id)->ended);
    assert_int_equal(p.done, 1);
    plane_close(&p);
}

static void aborted_source_resets_its_stream(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/watch");
    settle(&p);
    feed_set(p.feeds, "half", KC__HTTP_FILL_ABORT);
    settle(&p);
    assert_true(reply_of(&p, id)->closed && !reply_of(&p, id)->ended);
    assert_int_equal(reply_of(&p, id)->code, NGHTTP2_INTERNAL_ERROR);
    assert_int_equal(p.done, 1);
    plane_close(&p);
}

static void source_may_wake_itself(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    get(&p, "/watch");
    settle(&p);
    p.feeds->wakes_itself = true;
    p.feeds->polls = 0;
    kc__exchange_wake(p.feeds->x);
    settle(&p);
    assert_int_equal(p.feeds->polls, 3);
    plane_close(&p);
}

static void source_with_no_bytes_is_polled_again_later(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    get(&p, "/watch");
    settle(&p);
    p.feeds->polls = 0;
    p.feeds->then = KC__HTTP_FILL_MORE;
    kc__exchange_wake(p.feeds->x);
    kc__h2_protocol.fill(&p.conn);
    assert_int_equal(p.feeds->polls, 1);
    assert_true(p.changes > 0);
    p.feeds->then = KC__HTTP_FILL_END;
    settle(&p);
    assert_int_equal(p.done, 1);
    plane_close(&p);
}

/* ---- disconnects ---- */

static void reset_marks_the_exchange_gone(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/hold");
    settle(&p);
    reset(&p, id);
    settle(&p);
    assert_true(p.held[0]->gone);
    respond_held(&p);
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 0);
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    plane_close(&p);
}

static void reset_ends_sources_and_releases_bodies(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.window = 1000});
    int32_t ids[] = {get(&p, "/watch"), get(&p, "/owned"), get(&p, "/endless")};
    client_sends_frames(&p, 3);
    server_to_client(&p);
    for (size_t i = 0; i < KC_COUNT(ids); i++)
        reset(&p, ids[i]);
    settle(&p);
    assert_int_equal(p.done, 2);
    assert_int_equal(p.released, 1);
    plane_close(&p);
}

static void reset_during_upload_drops_the_request(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = request(&p, "POST", "/", NULL, 0, (kc_str){0}, true);
    client_sends_frames(&p, 3);
    reset(&p, id);
    settle(&p);
    assert_int_equal(p.handled, 0);
    int32_t next = get(&p, "/");
    settle(&p);
    assert_int_equal(reply_of(&p, next)->status, 200);
    plane_close(&p);
}

static void connection_may_close_in_every_state(void **state)
{
    static kc_str names[] = {KC_STR_INIT("system:masters")};
    kc__conn_client_cert cert = {
        .common_name = KC_STR("admin"), .organizations = names, .n_organizations = 1};
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.window = 1000});
    p.conn.peer.cert = &cert;
    request(&p, "POST", "/", NULL, 0, (kc_str){0}, true);
    get(&p, "/hold");
    get(&p, "/watch");
    get(&p, "/owned");
    get(&p, "/endless");
    client_sends_frames(&p, 8);
    plane_cut(&p);
    assert_true(p.held[0]->gone);
    assert_string_equal(p.held[0]->request.peer->address, "127.0.0.1");
    assert_str(p.held[0]->request.peer->cert->common_name, "admin");
    assert_str(p.held[0]->request.peer->cert->organizations[0], "system:masters");
    assert_int_equal(p.done, 2);
    respond_owned(&p, p.held[0], KC_STR("too late"));
    p.n_held = 0;
    assert_int_equal(p.released, 2);
    plane_close(&p);
}

static void source_response_after_disconnect_is_ended(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    get(&p, "/hold");
    settle(&p);
    plane_cut(&p);
    respond_feed(&p, p.held[0]);
    p.n_held = 0;
    assert_int_equal(p.done, 1);
    assert_int_equal(p.feeds->polls, 0);
    plane_close(&p);
}

/* ---- drain ---- */

static void drain_closes_an_idle_connection(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    settle(&p);
    kc__h2_protocol.drain(&p.conn);
    settle(&p);
    assert_true(p.goaway);
    assert_int_equal(p.goaway_code, NGHTTP2_NO_ERROR);
    assert_int_equal(p.conn.disposition, KC__CONN_CLOSE);
    plane_close(&p);
}

static void drain_completes_open_streams(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t held = get(&p, "/hold"), watch = get(&p, "/watch");
    settle(&p);
    kc__h2_protocol.drain(&p.conn);
    settle(&p);
    assert_true(p.goaway);
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    respond_held(&p);
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, held)->body), "late");
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    feed_set(p.feeds, "end", KC__HTTP_FILL_END);
    settle(&p);
    assert_true(reply_of(&p, watch)->ended);
    assert_int_equal(p.conn.disposition, KC__CONN_CLOSE);
    plane_close(&p);
}

static void request_sent_before_the_client_knows_of_the_drain_is_served(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    settle(&p);
    p.conn.draining = true; /* As the transport does. */
    kc__h2_protocol.drain(&p.conn);
    const int32_t late = get(&p, "/");
    settle(&p);
    assert_true(p.goaway);
    assert_true(reply_of(&p, late)->ended);
    assert_int_equal(p.handled, 1);
    assert_int_equal(p.conn.disposition, KC__CONN_CLOSE);
    plane_close(&p);
}

static void retired_connection_is_served_until_it_is_drained(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    const int32_t held = get(&p, "/hold");
    settle(&p);
    kc__h2_protocol.retire(&p.conn);
    const int32_t late = get(&p, "/");
    settle(&p);
    assert_true(p.goaway);
    assert_true(reply_of(&p, late)->ended);
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    p.conn.draining = true;
    kc__h2_protocol.drain(&p.conn);
    respond_held(&p);
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, held)->body), "late");
    assert_int_equal(p.conn.disposition, KC__CONN_CLOSE);
    plane_close(&p);
}

static void hundred_thousand_requests_leave_nothing_open(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 100; i++)
            i % 3 ? get(&p, "/") : post(&p, "/echo", KC_STR("some text"));
        settle(&p);
    }
    assert_int_equal(p.handled, 100000);
    assert_int_equal(p.conn.disposition, KC__CONN_OPEN);
    kc_vec_each (&p.replies, r)
        assert_int_equal(r->status, 200);
    plane_close(&p);
}

TESTS(request_is_answered, handler_gets_method_path_headers_and_body,
      request_has_peer_protocol_and_loop, cookie_headers_are_joined,
      host_equal_to_authority_is_dropped_and_another_refused, trailers_are_dropped,
      invalid_path_returns_400, malformed_messages_are_reset, expect_continue_gets_100_continue,
      head_response_has_no_body, status_204_and_304_have_no_body, invalid_headers_are_left_out,
      response_may_come_later, streams_are_answered_in_any_order,
      large_body_is_compressed_when_accepted, watch_sends_head_at_once_and_events_as_they_come,
      aborted_source_resets_its_stream, source_may_wake_itself,
      source_with_no_bytes_is_polled_again_later, reset_marks_the_exchange_gone,
      reset_ends_sources_and_releases_bodies, reset_during_upload_drops_the_request,
      connection_may_close_in_every_state, source_response_after_disconnect_is_ended,
      drain_closes_an_idle_connection, drain_completes_open_streams,
      request_sent_before_the_client_knows_of_the_drain_is_served,
      retired_connection_is_served_until_it_is_drained,
      hundred_thousand_requests_leave_nothing_open)
