/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1: responses, streamed bodies, and disconnects. */
#include "h1_testing.h"

/* ---- responses ---- */

static void invalid_headers_are_left_out(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    const kc__http_header headers[] = {
        {KC_STR_INIT("A"), KC_STR_INIT("b")},
        {KC_STR_INIT("Bad"), KC_STR_INIT("a\r\nSet-Cookie: x")},
        {KC_STR_INIT("Ba d"), KC_STR_INIT("a")},
        {KC_STR_INIT("content-length"), KC_STR_INIT("7")},
    };
    s->answer.headers = headers;
    s->answer.n_headers = KC_COUNT(headers);
    s->answer.type = KC_STR("text/plain");
    s->answer.status = 404;
    feed(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(output(s),
                        "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nA: b\r\n"
                        "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 2\r\n\r\nok");
}

static void head_204_and_304_have_no_body(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    feed(s, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(output(s), HEAD_200 "Content-Length: 2\r\n\r\n");
    take_output(s);
    s->answer.status = 204;
    feed(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(output(s), "HTTP/1.1 204 No Content\r\n"
                                   "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n");
    take_output(s);
    s->answer.status = 304;
    feed(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(output(s), "HTTP/1.1 304 Not Modified\r\n");
    assert_null(strstr(output(s), "ok"));
}

static void large_body_is_sent_in_parts_and_released(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    kc_autofree char *big = kc_calloc(1, 300000);
    memset(big, 'x', 300000);
    s->answer.body = kc_str_of(big, 300000);
    s->answer.owner = s;
    s->answer.release = release;
    feed(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    size_t total = 0;
    while (s->m.conn.out.n) {
        assert_in_range(s->m.conn.out.n, 1, KC__CONN_HIGH + 200);
        total += s->m.conn.out.n;
        take_output(s);
    }
    assert_int_equal(total, 300000 + strlen(HEAD_200 "Content-Length: 300000\r\n\r\n"));
    assert_int_equal(s->released, 1);
}

static void body_without_owner_is_copied(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    char *big = kc_calloc(1, 100000);
    memset(big, 'x', 100000);
    s->keeps = true;
    feed(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    kc__exchange_respond(s->late,
                         &(kc__http_response){.status = 200, .body = kc_str_of(big, 100000)});
    free(big);
    memory_conn_fill(&s->m);
    take_output(s);
    assert_int_equal(s->m.conn.out.p[0], 'x');
}

/* ---- sources ---- */

static kc__http_fill fill_pieces(kc_buf *out, size_t room, void *user)
{
    stage *s = user;
    (void)room;
    s->fills++;
    const char *piece = *s->pieces++;
    if (!piece)
        return KC__HTTP_FILL_END;
    if (strcmp(piece, "wait") == 0)
        return KC__HTTP_FILL_WAIT;
    if (strcmp(piece, "abort") == 0)
        return KC__HTTP_FILL_ABORT;
    if (strcmp(piece, "wake") == 0) {
        kc__exchange_wake(s->late);
        return KC__HTTP_FILL_WAIT;
    }
    kc_buf_puts(out, piece);
    return KC__HTTP_FILL_MORE;
}

static void end_pieces(void *user)
{
    ((stage *)user)->ended++;
}

static const kc__http_body_source pieces_source = {fill_pieces, end_pieces};

#define PIECES(...) ((const char *const[]){__VA_ARGS__, NULL})

static stage *stage_of_pieces(const char *const *pieces)
{
    stage *s = open_stage();
    s->pieces = pieces;
    s->answer = (kc__http_response){.status = 200, .source = &pieces_source, .user = s};
    return s;
}

static void source_is_sent_in_chunks(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_of_pieces(PIECES("hello ", "world, how are you"));
    feed(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(output(s), HEAD_200 "Transfer-Encoding: chunked\r\n\r\n"
                                            "00000006\r\nhello \r\n"
                                            "00000012\r\nworld, how are you\r\n0\r\n\r\n");
    assert_int_equal(s->ended, 1);
    assert_int_equal(s->m.conn.disposition, KC__CONN_OPEN);
}

static void source_may_wait(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_of_pieces(PIECES("a", "wait", "b", "wake", "c", "wait"));
    feed(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(output(s), "00000001\r\na\r\n");
    take_output(s);
    assert_int_equal(s->m.conn.out.n, 0);
    assert_int_equal(s->fills, 2);
    kc__exchange_wake(s->late);
    kc__exchange_wake(s->late);
    assert_int_equal(s->fills, 2);
    memory_conn_fill(&s->m);
    assert_string_equal(output(s), "00000001\r\nb\r\n00000001\r\nc\r\n");
    assert_int_equal(s->ended, 0);
    memory_conn_close(&s->m); /* The client leaves. */
    assert_int_equal(s->ended, 1);
}

static void http_1_0_source_ends_with_the_connection(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_of_pieces(PIECES("a", "b"));
    feed(s, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_string_equal(output(s), HEAD_200 "Connection: close\r\n\r\nab");
    assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
}

static void source_with_length_has_content_length(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_of_pieces(PIECES("a", "b"));
    s->answer.length = 2;
    feed(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(output(s), HEAD_200 "Content-Length: 2\r\n\r\nab");
}

static void source_with_wrong_length_closes_the_connection(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 3};
    for (size_t i = 0; i < KC_COUNT(lengths); i++) {
        kc_auto(stage) *s = stage_of_pieces(PIECES("a", "b"));
        s->answer.length = lengths[i];
        feed(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
        assert_int_equal(s->ended, 1);
    }
}

static void aborted_source_is_visible_to_the_client(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_of_pieces(PIECES("a", "abort"));
    feed(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(output(s), HEAD_200 "Transfer-Encoding: chunked\r\n\r\n00000001\r\na\r\n");
    assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
    kc_auto(stage) *old = stage_of_pieces(PIECES("a", "abort"));
    feed(old, "GET / HTTP/1.0\r\n\r\n");
    assert_int_equal(old->m.conn.disposition, KC__CONN_ABORT);
}

static void head_request_ends_the_source_at_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_of_pieces(PIECES("a"));
    feed(s, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(output(s), HEAD_200 "\r\n");
    assert_int_equal(s->ended, 1);
    assert_int_equal(s->fills, 0);
}

/* ---- disconnects ---- */

static void response_after_disconnect_is_dropped(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->keeps = true;
    feed(s, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    memory_conn_close(&s->m);
    assert_true(s->late->gone);
    assert_int_equal(s->m.conn.holds, 1);
    assert_str(s->late->request.target.path, "/late");
    s->answer.owner = s;
    s->answer.release = release;
    kc__exchange_respond(s->late, &s->answer);
    assert_int_equal(s->released, 1);
    assert_int_equal(s->m.conn.holds, 0);
}

TESTS(invalid_headers_are_left_out, head_204_and_304_have_no_body,
      large_body_is_sent_in_parts_and_released, body_without_owner_is_copied,
      source_is_sent_in_chunks, source_may_wait, http_1_0_source_ends_with_the_connection,
      source_with_length_has_content_length, source_with_wrong_length_closes_the_connection,
      aborted_source_is_visible_to_the_client, head_request_ends_the_source_at_once,
      response_after_disconnect_is_dropped)
