/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and answers over HTTP/2, and what becomes of them when the client or the connection goes
 * away. Flow control is in h2_flow.c, abuse in h2_abuse.c. */
#include "h2_testing.h"

/* ---- requests ---- */

static void a_request_is_answered(void **state)
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

static void the_handler_sees_the_request(void **state)
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

static void a_request_knows_where_it_came_from(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    get(&p, "/hold");
    settle(&p);
    const kc__request *request_held = &p.held[0]->request;
    assert_string_equal(request_held->protocol, "HTTP/2.0");
    assert_string_equal(request_held->peer->address, "127.0.0.1");
    assert_int_equal(request_held->received, kc_clock_now(p.loop.clock));
    assert_ptr_equal(p.held[0]->loop, &p.loop);
    plane_close(&p);
}

static void crumbs_of_cookies_are_joined(void **state)
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

static void a_host_that_says_the_same_is_no_second_one(void **state)
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
    client_speaks(&p, 2);
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

static void a_bad_path_is_refused(void **state)
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

static void what_breaks_the_rules_of_messages_is_reset(void **state)
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
    assert_int_equal(p.conn.wish, KC__CONN_OPEN);
    plane_close(&p);
}

static void a_client_that_asks_may_go_on(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    nghttp2_nv expect[] = {nv("expect", "100-continue")};
    int32_t id = request(&p, "POST", "/echo", expect, 1, KC_STR("x"), false);
    client_speaks(&p, 1);
    server_to_client(&p);
    assert_int_equal(reply_of(&p, id)->status, 100);
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 200);
    plane_close(&p);
}

/* ---- answers ---- */

static void head_has_no_body(void **state)
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
    assert_int_equal(p.feeds->asked, 0);
    plane_close(&p);
}

static void no_content_and_not_modified_have_no_body(void **state)
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

static void fields_that_are_not_valid_are_left_out(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/hold");
    settle(&p);
    kc__header fields[] = {{KC_STR("X-Good"), KC_STR("1")},
                           {KC_STR("X-Bad"), KC_STR("a\r\nb")},
                           {KC_STR("Connection"), KC_STR("close")},
                           {KC_STR("a b"), KC_STR("c")}};
    kc__exchange_answer(p.held[0], &(kc__answer){.status = 201, .headers = fields, .n_headers = 4});
    p.n_held = 0;
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, id)->head),
               "x-good: 1\ncontent-length: 0\ndate: Thu, 01 Jan 1970 00:00:00 GMT\n");
    plane_close(&p);
}

static void an_answer_may_come_later(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/hold");
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 0);
    answer_held(&p);
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
        answer_text(p.held[i], 200, kc_cstr(text));
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

static void a_large_body_is_compressed_for_who_accepts_it(void **state)
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
        kc__exchange_answer(p.held[i],
                            &(kc__answer){.status = 200,
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

static void a_watch_sends_its_head_at_once_and_events_as_they_come(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/watch");
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 200);
    assert_int_equal(reply_of(&p, id)->length, 0);
    size_t asked = p.feeds->asked;
    settle(&p);
    assert_int_equal(p.feeds->asked, asked);
    feed_say(p.feeds, "one\n", KC__FILL_WAIT);
    kc__exchange_wake(p.feeds->x);
    assert_int_equal(p.feeds->asked, asked);
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, id)->body), "one\n");
    assert_int_equal(p.feeds->asked, asked + 1);
    assert_false(reply_of(&p, id)->ended);
    feed_say(p.feeds, "two\n", KC__FILL_END);
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, id)->body), "one\ntwo\n");
    assert_true(reply_of(&p, id)->ended);
    assert_int_equal(p.done, 1);
    plane_close(&p);
}

static void a_source_that_fails_resets_its_stream(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/watch");
    settle(&p);
    feed_say(p.feeds, "half", KC__FILL_ABORT);
    settle(&p);
    assert_true(reply_of(&p, id)->closed && !reply_of(&p, id)->ended);
    assert_int_equal(reply_of(&p, id)->code, NGHTTP2_INTERNAL_ERROR);
    assert_int_equal(p.done, 1);
    plane_close(&p);
}

static void a_source_may_wake_itself(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    get(&p, "/watch");
    settle(&p);
    p.feeds->wakes_itself = true;
    p.feeds->asked = 0;
    kc__exchange_wake(p.feeds->x);
    settle(&p);
    assert_int_equal(p.feeds->asked, 3);
    plane_close(&p);
}

static void a_source_that_says_more_and_gives_nothing_is_asked_again_later(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    get(&p, "/watch");
    settle(&p);
    p.feeds->asked = 0;
    p.feeds->then = KC__FILL_MORE;
    kc__exchange_wake(p.feeds->x);
    kc__http2.fill(&p.conn);
    assert_int_equal(p.feeds->asked, 1);
    assert_true(p.changes > 0);
    p.feeds->then = KC__FILL_END;
    settle(&p);
    assert_int_equal(p.done, 1);
    plane_close(&p);
}

/* ---- going away ---- */

static void a_reset_tells_the_handler_that_nobody_waits(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/hold");
    settle(&p);
    reset(&p, id);
    settle(&p);
    assert_true(p.held[0]->gone);
    answer_held(&p);
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 0);
    assert_int_equal(p.conn.wish, KC__CONN_OPEN);
    plane_close(&p);
}

static void a_reset_ends_sources_and_releases_bodies(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.window = 1000});
    int32_t ids[] = {get(&p, "/watch"), get(&p, "/owned"), get(&p, "/endless")};
    client_speaks(&p, 3);
    server_to_client(&p);
    for (size_t i = 0; i < KC_COUNT(ids); i++)
        reset(&p, ids[i]);
    settle(&p);
    assert_int_equal(p.done, 2);
    assert_int_equal(p.released, 1);
    plane_close(&p);
}

static void a_reset_in_the_middle_of_a_body_forgets_it(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = request(&p, "POST", "/", NULL, 0, (kc_str){0}, true);
    client_speaks(&p, 3);
    reset(&p, id);
    settle(&p);
    assert_int_equal(p.handled, 0);
    int32_t next = get(&p, "/");
    settle(&p);
    assert_int_equal(reply_of(&p, next)->status, 200);
    plane_close(&p);
}

static void a_connection_may_go_in_every_state(void **state)
{
    static kc_str names[] = {KC_STR_INIT("system:masters")};
    kc__client_cert cert = {KC_STR("admin"), names, 1, ""};
    plane p;
    (void)state;
    plane_open(&p, &(plane_opts){.window = 1000});
    p.conn.peer.cert = &cert;
    request(&p, "POST", "/", NULL, 0, (kc_str){0}, true);
    get(&p, "/hold");
    get(&p, "/watch");
    get(&p, "/owned");
    get(&p, "/endless");
    client_speaks(&p, 8);
    plane_cut(&p);
    assert_true(p.held[0]->gone);
    assert_string_equal(p.held[0]->request.peer->address, "127.0.0.1");
    assert_str(p.held[0]->request.peer->cert->common_name, "admin");
    assert_str(p.held[0]->request.peer->cert->organizations[0], "system:masters");
    assert_int_equal(p.done, 2);
    answer_owned(&p, p.held[0], KC_STR("too late"));
    p.n_held = 0;
    assert_int_equal(p.released, 2);
    plane_close(&p);
}

static void an_answer_with_a_source_comes_too_late(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    get(&p, "/hold");
    settle(&p);
    plane_cut(&p);
    answer_feed(&p, p.held[0]);
    p.n_held = 0;
    assert_int_equal(p.done, 1);
    assert_int_equal(p.feeds->asked, 0);
    plane_close(&p);
}

/* ---- drain ---- */

static void draining_an_idle_connection_closes_it(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    settle(&p);
    kc__http2.drain(&p.conn);
    settle(&p);
    assert_true(p.goaway);
    assert_int_equal(p.goaway_code, NGHTTP2_NO_ERROR);
    assert_int_equal(p.conn.wish, KC__CONN_CLOSE);
    plane_close(&p);
}

static void draining_finishes_what_is_open(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t held = get(&p, "/hold"), watch = get(&p, "/watch");
    settle(&p);
    kc__http2.drain(&p.conn);
    settle(&p);
    assert_true(p.goaway);
    assert_int_equal(p.conn.wish, KC__CONN_OPEN);
    answer_held(&p);
    settle(&p);
    assert_str(kc_buf_str(&reply_of(&p, held)->body), "late");
    assert_int_equal(p.conn.wish, KC__CONN_OPEN);
    feed_say(p.feeds, "end", KC__FILL_END);
    settle(&p);
    assert_true(reply_of(&p, watch)->ended);
    assert_int_equal(p.conn.wish, KC__CONN_CLOSE);
    plane_close(&p);
}

static void a_hundred_thousand_requests_leave_nothing(void **state)
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
    assert_int_equal(p.conn.wish, KC__CONN_OPEN);
    kc_vec_each (&p.replies, r)
        assert_int_equal(r->status, 200);
    plane_close(&p);
}

TESTS(a_request_is_answered, the_handler_sees_the_request, a_request_knows_where_it_came_from,
      crumbs_of_cookies_are_joined, a_host_that_says_the_same_is_no_second_one,
      trailers_are_dropped, a_bad_path_is_refused, what_breaks_the_rules_of_messages_is_reset,
      a_client_that_asks_may_go_on, head_has_no_body, no_content_and_not_modified_have_no_body,
      fields_that_are_not_valid_are_left_out, an_answer_may_come_later,
      streams_are_answered_in_any_order, a_large_body_is_compressed_for_who_accepts_it,
      a_watch_sends_its_head_at_once_and_events_as_they_come, a_source_that_fails_resets_its_stream,
      a_source_may_wake_itself, a_source_that_says_more_and_gives_nothing_is_asked_again_later,
      a_reset_tells_the_handler_that_nobody_waits, a_reset_ends_sources_and_releases_bodies,
      a_reset_in_the_middle_of_a_body_forgets_it, a_connection_may_go_in_every_state,
      an_answer_with_a_source_comes_too_late, draining_an_idle_connection_closes_it,
      draining_finishes_what_is_open, a_hundred_thousand_requests_leave_nothing)
