/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1 over a connection in memory: what is a request, what is refused, how answers look. */
#include "testing.h"

#include <stdio.h>

#include "kc/clock.h"
#include "memory_conn.h"

/* ---- a handler that writes down what it got ---- */

typedef struct stage {
    kc__loop *loop;
    kc_clock *clock;
    memory_conn m;
    kc_buf seen; /* "GET /a HTTP/1.1 [body]; " for each request. */
    kc__exchange *late;
    bool keeps; /* Exchanges are answered later. */
    kc__answer answer;
    int released, ended, fills;
    kc__exchange *waker; /* Woken from within fill. */
    const char *const *pieces;
} stage;

static void release(void *owner)
{
    ((stage *)owner)->released++;
}

static void handle(kc__exchange *x, void *user)
{
    stage *s = user;
    kc_buf_printf(&s->seen, "%.*s %.*s %s [%.*s]; ", KC_ARG(x->request.method),
                  KC_ARG(x->request.target.path), x->request.protocol, KC_ARG(x->request.body));
    s->late = x;
    if (!s->keeps)
        kc__exchange_answer(x, &s->answer);
}

static stage *stage_new(void)
{
    stage *s = kc_new(stage);
    s->clock = kc_clock_virtual_new(784111777 * KC_SECOND);
    s->loop = kc__loop_start("test", s->clock, NULL);
    s->answer = (kc__answer){.status = 200, .body = KC_STR("ok")};
    return s;
}

static void stage_open(stage *s)
{
    memory_conn_open(&s->m, s->loop, &kc__http1, handle, s);
}

static void stage_free(stage *s)
{
    if (!s)
        return;
    if (s->m.conn.protocol)
        memory_conn_close(&s->m);
    kc__loop_stop(s->loop);
    kc_clock_free(s->clock);
    kc_buf_done(&s->seen);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static stage *open_stage(void)
{
    stage *s = stage_new();
    stage_open(s);
    return s;
}

static void say(stage *s, const char *text)
{
    memory_conn_receive(&s->m, kc_cstr(text));
    memory_conn_fill(&s->m);
}

static const char *heard(stage *s)
{
    return kc_buf_cstr(&s->m.conn.out);
}

static void hear(stage *s)
{
    kc_buf_clear(&s->m.conn.out);
    memory_conn_fill(&s->m);
}

#define HEAD_200 "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

/* ---- requests ---- */

static void a_request_is_answered(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    say(s, "GET /a/b?c=d HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->seen), "GET /a/b HTTP/1.1 []; ");
    assert_string_equal(heard(s), HEAD_200 "Content-Length: 2\r\n\r\nok");
    assert_int_equal(s->m.conn.wish, KC__CONN_OPEN);
}

static void it_may_come_byte_by_byte(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->keeps = true;
    const char *request = "POST /a HTTP/1.1\r\nHost: x\r\nEmpty:\r\nContent-Length: 5\r\n\r\nhello";
    for (const char *p = request; *p; p++)
        say(s, (char[]){*p, 0});
    assert_string_equal(kc_buf_cstr(&s->seen), "POST /a HTTP/1.1 [hello]; ");
    assert_str(kc__headers_get(&s->late->request.headers, KC_STR("host")), "x");
    kc__exchange_answer(s->late, &s->answer);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    say(s, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPUT /2 HTTP/1.1\r\nHost: x\r\n"
           "Content-Length: 1\r\n\r\nzGET /3 HTTP/1.1\r\nHost: x\r\n\r\nGET /4");
    assert_string_equal(kc_buf_cstr(&s->seen),
                        "GET /1 HTTP/1.1 []; PUT /2 HTTP/1.1 [z]; GET /3 HTTP/1.1 []; ");
    say(s, " HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(kc_buf_cstr(&s->seen), "GET /4 ");
}

static void the_next_request_waits_for_the_answer(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->keeps = true;
    say(s, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    say(s, "GET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->seen), "GET /1 HTTP/1.1 []; ");
    for (int i = 0; i < 3; i++) {
        kc__exchange_answer(s->late, &s->answer);
        memory_conn_fill(&s->m);
    }
    assert_string_equal(kc_buf_cstr(&s->seen),
                        "GET /1 HTTP/1.1 []; GET /2 HTTP/1.1 []; GET /3 HTTP/1.1 []; ");
}

static void what_waits_is_bounded(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    char junk[1000];
    memset(junk, 'x', sizeof(junk));
    s->keeps = true;
    say(s, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int i = 0; i < 17; i++) {
        assert_false(s->m.conn.full);
        memory_conn_receive(&s->m, kc_str_of(junk, sizeof(junk)));
    }
    assert_true(s->m.conn.full);
    kc__exchange_answer(s->late, &s->answer);
    memory_conn_fill(&s->m);
    assert_false(s->m.conn.full);
}

/* A client that pipelines and does not read. */
static void requests_wait_while_nobody_reads_the_answers(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    kc_scoped(kc_buf) many = {0};
    for (int i = 0; i < 2000; i++)
        kc_buf_puts(&many, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    say(s, kc_buf_cstr(&many));
    assert_in_range(s->m.conn.out.n, KC__CONN_HIGH, KC__CONN_HIGH + 200);
    assert_true(s->m.conn.full);
    for (int i = 0; i < 100 && s->m.conn.out.n; i++)
        hear(s);
    assert_false(s->m.conn.full);
    assert_int_equal(s->seen.n, 2000 * strlen("GET / HTTP/1.1 []; "));
}

static void chunks_are_joined_and_trailers_dropped(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->keeps = true;
    say(s, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
           "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nHost: other\r\nX: y\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->seen), "POST / HTTP/1.1 [abcde]; ");
    assert_str(kc__headers_get(&s->late->request.headers, KC_STR("x")), "");
    kc__exchange_answer(s->late, &s->answer);
    memory_conn_fill(&s->m);
    s->keeps = false;
    say(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(kc_buf_cstr(&s->seen), "GET /");
}

static void a_body_is_asked_for_when_the_client_waits(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    say(s, "PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_string_equal(heard(s), "HTTP/1.1 100 Continue\r\n\r\n");
    say(s, "hi");
    assert_contains(heard(s), "Continue\r\n\r\nHTTP/1.1 200 OK");
}

static void an_absolute_target_overrules_the_host(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->keeps = true;
    say(s, "GET http://real:1/p HTTP/1.1\r\nHost: fake\r\n\r\n");
    assert_str(kc__headers_get(&s->late->request.headers, KC_STR("host")), "real:1");
    assert_string_equal(kc_buf_cstr(&s->seen), "GET /p HTTP/1.1 []; ");
    kc__exchange_answer(s->late, &s->answer);
}

static void an_offer_to_upgrade_is_passed_over(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    say(s, "GET /1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\n"
           "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->seen), "GET /1 HTTP/1.1 []; GET /2 HTTP/1.1 []; ");
}

/* ---- the end of a connection ---- */

static void a_client_may_ask_to_close(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    say(s,
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(heard(s), "Connection: close\r\n\r\nok");
    assert_int_equal(s->m.conn.wish, KC__CONN_CLOSE);
    assert_string_equal(kc_buf_cstr(&s->seen), "GET / HTTP/1.1 []; ");
}

static void old_clients_close_unless_they_say_otherwise(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    say(s, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_contains(heard(s), "Connection: keep-alive\r\n\r\nok");
    assert_int_equal(s->m.conn.wish, KC__CONN_OPEN);
    say(s, "GET / HTTP/1.0\r\n\r\n");
    assert_contains(heard(s), "Connection: close\r\n\r\nok");
    assert_int_equal(s->m.conn.wish, KC__CONN_CLOSE);
}

static void draining_closes_an_idle_connection(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->m.conn.draining = true;
    kc__http1.drain(&s->m.conn);
    assert_int_equal(s->m.conn.wish, KC__CONN_CLOSE);
}

static void draining_lets_an_open_request_end(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    say(s, "GET / HT");
    s->m.conn.draining = true;
    kc__http1.drain(&s->m.conn);
    assert_int_equal(s->m.conn.wish, KC__CONN_OPEN);
    say(s, "TP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(heard(s), "Connection: close\r\n");
    assert_int_equal(s->m.conn.wish, KC__CONN_CLOSE);
}

/* ---- refusals ---- */

typedef struct refusal {
    const char *request;
    int status;
} refusal;

static void what_is_no_request_is_refused(void **state)
{
    (void)state;
    static const refusal refusals[] = {
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
        {"GET / HTTP/1.1\nHost: a\n\n", 400},
        {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: a\x01"
         "b\r\n\r\n",
         400},
        {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /\x80 \r\n\r\n", 400},
        {"\x16\x03\x01\x02", 400},
        {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
         400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
        {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n", 413},
        {"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4000000\r\n\r\n",
         413},
        {"POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 4\r\n\r\n", 417},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
        {"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
        {"PLAY / RTSP/1.0\r\nHost: a\r\n\r\n", 501},
        {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
        {"GET / HTTP/1.7\r\nHost: a\r\n\r\n", 505},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
    };
    for (size_t i = 0; i < KC_COUNT(refusals); i++) {
        kc_auto(stage) *s = open_stage();
        char expected[32];
        say(s, refusals[i].request);
        snprintf(expected, sizeof(expected), "HTTP/1.1 %d ", refusals[i].status);
        if (strncmp(heard(s), expected, strlen(expected)) != 0)
            fail_msg("%s\nis answered with %s", refusals[i].request, heard(s));
        assert_contains(heard(s), "Connection: close\r\n");
        assert_int_equal(s->m.conn.wish, KC__CONN_CLOSE);
        assert_int_equal(s->seen.n, 0);
    }
}

static void a_head_has_an_end(void **state)
{
    (void)state;
    static const char *const endless[] = {"x", " ", "a: b\r\n", "\r\n"};
    static const char *const starts[] = {
        "GET /", "GET / HTTP/1.1\r\nA: ", "GET / HTTP/1.1\r\nHost: a\r\n", ""};
    for (size_t i = 0; i < KC_COUNT(endless); i++) {
        kc_auto(stage) *s = open_stage();
        kc_scoped(kc_buf) more = {0};
        for (size_t k = 0; k < 1000; k++)
            kc_buf_puts(&more, endless[i]);
        say(s, starts[i]);
        for (size_t n = 0; n < 400 && s->m.conn.wish == KC__CONN_OPEN; n++)
            say(s, kc_buf_cstr(&more));
        assert_contains(heard(s), "HTTP/1.1 431 Request Header Fields Too Large\r\n");
    }
}

static void a_body_has_an_end(void **state)
{
    (void)state;
    static const int statuses[] = {413, 400};
    for (size_t i = 0; i < KC_COUNT(statuses); i++) {
        kc_auto(stage) *s = open_stage();
        char chunk[1100], expected[32];
        snprintf(chunk, sizeof(chunk), i ? "1;%01000d\r\na\r\n" : "3e8\r\n%01000d\r\n", 0);
        say(s, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (size_t n = 0; n < 4000 && s->m.conn.wish == KC__CONN_OPEN; n++)
            say(s, chunk);
        snprintf(expected, sizeof(expected), "HTTP/1.1 %d ", statuses[i]);
        assert_contains(heard(s), expected);
    }
}

/* ---- deadlines ---- */

static void a_slow_head_times_out(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    assert_int_equal(s->m.conn.deadline, kc_clock_now(s->clock) + 3 * KC_MINUTE);
    say(s, "GET /");
    int64_t deadline = kc_clock_now(s->clock) + 32 * KC_SECOND;
    assert_int_equal(s->m.conn.deadline, deadline);
    kc_clock_advance(s->clock, 31 * KC_SECOND);
    say(s, "abc"); /* Goes on, but not fast enough. */
    assert_int_equal(s->m.conn.deadline, deadline);
    kc__http1.expired(&s->m.conn);
    assert_contains(heard(s), "HTTP/1.1 408 Request Timeout\r\n");
    assert_int_equal(s->m.conn.wish, KC__CONN_CLOSE);
}

static void a_slow_body_times_out(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    say(s, "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n");
    int64_t deadline = kc_clock_now(s->clock) + 60 * KC_SECOND;
    kc_clock_advance(s->clock, 50 * KC_SECOND);
    say(s, "ab");
    assert_int_equal(s->m.conn.deadline, deadline);
    kc__http1.expired(&s->m.conn);
    assert_contains(heard(s), "HTTP/1.1 408 ");
}

static void an_open_request_has_no_deadline(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->keeps = true;
    say(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(s->m.conn.deadline, KC_FOREVER);
    kc__exchange_answer(s->late, &s->answer);
    memory_conn_fill(&s->m);
    assert_int_equal(s->m.conn.deadline, kc_clock_now(s->clock) + 3 * KC_MINUTE);
    kc__http1.expired(&s->m.conn);
    assert_int_equal(s->m.conn.wish, KC__CONN_CLOSE);
}

/* ---- answers ---- */

static void fields_that_would_break_the_answer_are_left_out(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    const kc__header headers[] = {
        {KC_STR_INIT("A"), KC_STR_INIT("b")},
        {KC_STR_INIT("Bad"), KC_STR_INIT("a\r\nSet-Cookie: x")},
        {KC_STR_INIT("Ba d"), KC_STR_INIT("a")},
        {KC_STR_INIT("content-length"), KC_STR_INIT("7")},
    };
    s->answer.headers = headers;
    s->answer.n_headers = KC_COUNT(headers);
    s->answer.type = KC_STR("text/plain");
    s->answer.status = 404;
    say(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(heard(s),
                        "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nA: b\r\n"
                        "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 2\r\n\r\nok");
}

static void some_answers_have_no_body(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    say(s, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(heard(s), HEAD_200 "Content-Length: 2\r\n\r\n");
    hear(s);
    s->answer.status = 204;
    say(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(heard(s), "HTTP/1.1 204 No Content\r\n"
                                  "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n");
    hear(s);
    s->answer.status = 304;
    say(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(heard(s), "HTTP/1.1 304 Not Modified\r\n");
    assert_null(strstr(heard(s), "ok"));
}

static void a_large_body_is_pulled_and_released(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    kc_autofree char *big = kc_calloc(1, 300000);
    memset(big, 'x', 300000);
    s->answer.body = kc_str_of(big, 300000);
    s->answer.owner = s;
    s->answer.release = release;
    say(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    size_t total = 0;
    while (s->m.conn.out.n) {
        assert_in_range(s->m.conn.out.n, 1, KC__CONN_HIGH + 200);
        total += s->m.conn.out.n;
        hear(s);
    }
    assert_int_equal(total, 300000 + strlen(HEAD_200 "Content-Length: 300000\r\n\r\n"));
    assert_int_equal(s->released, 1);
}

static void text_without_an_owner_is_copied(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    char *big = kc_calloc(1, 100000);
    memset(big, 'x', 100000);
    s->keeps = true;
    say(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    kc__exchange_answer(s->late, &(kc__answer){.status = 200, .body = kc_str_of(big, 100000)});
    free(big);
    memory_conn_fill(&s->m);
    hear(s);
    assert_int_equal(s->m.conn.out.p[0], 'x');
}

/* ---- sources ---- */

static kc__fill fill_pieces(kc_buf *out, size_t room, void *user)
{
    stage *s = user;
    (void)room;
    s->fills++;
    const char *piece = *s->pieces++;
    if (!piece)
        return KC__FILL_END;
    if (strcmp(piece, "wait") == 0)
        return KC__FILL_WAIT;
    if (strcmp(piece, "abort") == 0)
        return KC__FILL_ABORT;
    if (strcmp(piece, "wake") == 0) {
        kc__exchange_wake(s->late);
        return KC__FILL_WAIT;
    }
    kc_buf_puts(out, piece);
    return KC__FILL_MORE;
}

static void end_pieces(void *user)
{
    ((stage *)user)->ended++;
}

static const kc__body_source pieces_source = {fill_pieces, end_pieces};

#define PIECES(...) ((const char *const[]){__VA_ARGS__, NULL})

static stage *stage_of_pieces(const char *const *pieces)
{
    stage *s = open_stage();
    s->pieces = pieces;
    s->answer = (kc__answer){.status = 200, .source = &pieces_source, .user = s};
    return s;
}

static void a_source_is_sent_in_chunks(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_of_pieces(PIECES("hello ", "world, how are you"));
    say(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(heard(s), HEAD_200 "Transfer-Encoding: chunked\r\n\r\n"
                                           "00000006\r\nhello \r\n"
                                           "00000012\r\nworld, how are you\r\n0\r\n\r\n");
    assert_int_equal(s->ended, 1);
    assert_int_equal(s->m.conn.wish, KC__CONN_OPEN);
}

static void a_source_may_wait(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_of_pieces(PIECES("a", "wait", "b", "wake", "c", "wait"));
    say(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(heard(s), "00000001\r\na\r\n");
    hear(s);
    assert_int_equal(s->m.conn.out.n, 0);
    assert_int_equal(s->fills, 2);
    kc__exchange_wake(s->late);
    kc__exchange_wake(s->late);
    assert_int_equal(s->fills, 2);
    memory_conn_fill(&s->m);
    assert_string_equal(heard(s), "00000001\r\nb\r\n00000001\r\nc\r\n");
    assert_int_equal(s->ended, 0);
    memory_conn_close(&s->m); /* The client leaves. */
    assert_int_equal(s->ended, 1);
}

static void an_old_client_reads_a_source_to_the_end(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_of_pieces(PIECES("a", "b"));
    say(s, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_string_equal(heard(s), HEAD_200 "Connection: close\r\n\r\nab");
    assert_int_equal(s->m.conn.wish, KC__CONN_CLOSE);
}

static void a_source_that_knows_its_length_says_so(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_of_pieces(PIECES("a", "b"));
    s->answer.length = 2;
    say(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(heard(s), HEAD_200 "Content-Length: 2\r\n\r\nab");
}

static void a_source_that_breaks_its_promise_is_cut(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 3};
    for (size_t i = 0; i < KC_COUNT(lengths); i++) {
        kc_auto(stage) *s = stage_of_pieces(PIECES("a", "b"));
        s->answer.length = lengths[i];
        say(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_int_equal(s->m.conn.wish, KC__CONN_CLOSE);
        assert_int_equal(s->ended, 1);
    }
}

static void a_client_notices_an_abort(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_of_pieces(PIECES("a", "abort"));
    say(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(heard(s), HEAD_200 "Transfer-Encoding: chunked\r\n\r\n00000001\r\na\r\n");
    assert_int_equal(s->m.conn.wish, KC__CONN_CLOSE);
    kc_auto(stage) *old = stage_of_pieces(PIECES("a", "abort"));
    say(old, "GET / HTTP/1.0\r\n\r\n");
    assert_int_equal(old->m.conn.wish, KC__CONN_ABORT);
}

static void head_ends_a_source_at_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_of_pieces(PIECES("a"));
    say(s, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(heard(s), HEAD_200 "\r\n");
    assert_int_equal(s->ended, 1);
    assert_int_equal(s->fills, 0);
}

/* ---- clients that leave ---- */

static void an_answer_that_comes_too_late_is_dropped(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->keeps = true;
    say(s, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    memory_conn_close(&s->m);
    assert_true(s->late->gone);
    assert_int_equal(s->m.conn.holds, 1);
    assert_str(s->late->request.target.path, "/late");
    s->answer.owner = s;
    s->answer.release = release;
    kc__exchange_answer(s->late, &s->answer);
    assert_int_equal(s->released, 1);
    assert_int_equal(s->m.conn.holds, 0);
}

TESTS(a_request_is_answered, it_may_come_byte_by_byte, pipelined_requests_are_answered_in_order,
      the_next_request_waits_for_the_answer, what_waits_is_bounded,
      requests_wait_while_nobody_reads_the_answers, chunks_are_joined_and_trailers_dropped,
      a_body_is_asked_for_when_the_client_waits, an_absolute_target_overrules_the_host,
      an_offer_to_upgrade_is_passed_over, a_client_may_ask_to_close,
      old_clients_close_unless_they_say_otherwise, draining_closes_an_idle_connection,
      draining_lets_an_open_request_end, what_is_no_request_is_refused, a_head_has_an_end,
      a_body_has_an_end, a_slow_head_times_out, a_slow_body_times_out,
      an_open_request_has_no_deadline, fields_that_would_break_the_answer_are_left_out,
      some_answers_have_no_body, a_large_body_is_pulled_and_released,
      text_without_an_owner_is_copied, a_source_is_sent_in_chunks, a_source_may_wait,
      an_old_client_reads_a_source_to_the_end, a_source_that_knows_its_length_says_so,
      a_source_that_breaks_its_promise_is_cut, a_client_notices_an_abort,
      head_ends_a_source_at_once, an_answer_that_comes_too_late_is_dropped)
