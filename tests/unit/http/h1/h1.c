/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1: valid requests, refused ones, and timeouts. */
#include "h1_testing.h"

/* ---- requests ---- */

static void request_is_answered(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    feed(s, "GET /a/b?c=d HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->seen), "GET /a/b HTTP/1.1 []; ");
    assert_string_equal(output(s), HEAD_200 "Content-Length: 2\r\n\r\nok");
    assert_int_equal(s->m.conn.disposition, KC__CONN_OPEN);
}

static void request_may_arrive_byte_by_byte(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->keeps = true;
    const char *request = "POST /a HTTP/1.1\r\nHost: x\r\nEmpty:\r\nContent-Length: 5\r\n\r\nhello";
    for (const char *p = request; *p; p++)
        feed(s, (char[]){*p, 0});
    assert_string_equal(kc_buf_cstr(&s->seen), "POST /a HTTP/1.1 [hello]; ");
    assert_str(kc__http_headers_get(&s->late->request.headers, KC_STR("host")), "x");
    kc__exchange_respond(s->late, &s->answer);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    feed(s, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPUT /2 HTTP/1.1\r\nHost: x\r\n"
            "Content-Length: 1\r\n\r\nzGET /3 HTTP/1.1\r\nHost: x\r\n\r\nGET /4");
    assert_string_equal(kc_buf_cstr(&s->seen),
                        "GET /1 HTTP/1.1 []; PUT /2 HTTP/1.1 [z]; GET /3 HTTP/1.1 []; ");
    feed(s, " HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(kc_buf_cstr(&s->seen), "GET /4 ");
}

static void next_request_waits_for_the_response(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->keeps = true;
    feed(s, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    feed(s, "GET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->seen), "GET /1 HTTP/1.1 []; ");
    for (int i = 0; i < 3; i++) {
        kc__exchange_respond(s->late, &s->answer);
        memory_conn_fill(&s->m);
    }
    assert_string_equal(kc_buf_cstr(&s->seen),
                        "GET /1 HTTP/1.1 []; GET /2 HTTP/1.1 []; GET /3 HTTP/1.1 []; ");
}

static void buffered_requests_are_bounded(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    char junk[1000];
    memset(junk, 'x', sizeof(junk));
    s->keeps = true;
    feed(s, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int i = 0; i < 17; i++) {
        assert_false(s->m.conn.full);
        memory_conn_receive(&s->m, kc_str_of(junk, sizeof(junk)));
    }
    assert_true(s->m.conn.full);
    kc__exchange_respond(s->late, &s->answer);
    memory_conn_fill(&s->m);
    assert_false(s->m.conn.full);
}

/* A client that pipelines and does not read. */
static void requests_wait_while_responses_are_not_read(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    kc_scoped(kc_buf) many = {0};
    for (int i = 0; i < 2000; i++)
        kc_buf_puts(&many, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    feed(s, kc_buf_cstr(&many));
    assert_in_range(s->m.conn.out.n, KC__CONN_HIGH, KC__CONN_HIGH + 200);
    assert_true(s->m.conn.full);
    for (int i = 0; i < 100 && s->m.conn.out.n; i++)
        take_output(s);
    assert_false(s->m.conn.full);
    assert_int_equal(s->seen.n, 2000 * strlen("GET / HTTP/1.1 []; "));
}

static void chunks_are_joined_and_trailers_dropped(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->keeps = true;
    feed(s, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
            "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nHost: other\r\nX: y\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->seen), "POST / HTTP/1.1 [abcde]; ");
    assert_str(kc__http_headers_get(&s->late->request.headers, KC_STR("x")), "");
    kc__exchange_respond(s->late, &s->answer);
    memory_conn_fill(&s->m);
    s->keeps = false;
    feed(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(kc_buf_cstr(&s->seen), "GET /");
}

static void expect_continue_gets_100_continue(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    feed(s, "PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_string_equal(output(s), "HTTP/1.1 100 Continue\r\n\r\n");
    feed(s, "hi");
    assert_contains(output(s), "Continue\r\n\r\nHTTP/1.1 200 OK");
}

static void absolute_target_overrides_host(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->keeps = true;
    feed(s, "GET http://real:1/p HTTP/1.1\r\nHost: fake\r\n\r\n");
    assert_str(kc__http_headers_get(&s->late->request.headers, KC_STR("host")), "real:1");
    assert_string_equal(kc_buf_cstr(&s->seen), "GET /p HTTP/1.1 []; ");
    kc__exchange_respond(s->late, &s->answer);
}

static void h2c_upgrade_is_ignored(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    feed(s, "GET /1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\n"
            "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->seen), "GET /1 HTTP/1.1 []; GET /2 HTTP/1.1 []; ");
}

/* ---- the end of a connection ---- */

static void connection_close_closes_after_the_response(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    feed(
        s,
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(output(s), "Connection: close\r\n\r\nok");
    assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
    assert_string_equal(kc_buf_cstr(&s->seen), "GET / HTTP/1.1 []; ");
}

static void http_1_0_closes_unless_keep_alive(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    feed(s, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_contains(output(s), "Connection: keep-alive\r\n\r\nok");
    assert_int_equal(s->m.conn.disposition, KC__CONN_OPEN);
    feed(s, "GET / HTTP/1.0\r\n\r\n");
    assert_contains(output(s), "Connection: close\r\n\r\nok");
    assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
}

static void drain_closes_an_idle_connection(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->m.conn.draining = true;
    kc__h1_protocol.drain(&s->m.conn);
    assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
}

static void drain_completes_an_open_request(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    feed(s, "GET / HT");
    s->m.conn.draining = true;
    kc__h1_protocol.drain(&s->m.conn);
    assert_int_equal(s->m.conn.disposition, KC__CONN_OPEN);
    feed(s, "TP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(output(s), "Connection: close\r\n");
    assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
}

/* ---- refusals ---- */

typedef struct refusal {
    const char *request;
    int status;
} refusal;

static void invalid_requests_are_refused(void **state)
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
        feed(s, refusals[i].request);
        snprintf(expected, sizeof(expected), "HTTP/1.1 %d ", refusals[i].status);
        if (strncmp(output(s), expected, strlen(expected)) != 0)
            fail_msg("%s\nthe response is %s", refusals[i].request, output(s));
        assert_contains(output(s), "Connection: close\r\n");
        assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
        assert_int_equal(s->seen.n, 0);
    }
}

static void head_beyond_limit_returns_431(void **state)
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
        feed(s, starts[i]);
        for (size_t n = 0; n < 400 && s->m.conn.disposition == KC__CONN_OPEN; n++)
            feed(s, kc_buf_cstr(&more));
        assert_contains(output(s), "HTTP/1.1 431 Request Header Fields Too Large\r\n");
    }
}

static void body_beyond_limit_is_refused(void **state)
{
    (void)state;
    static const int statuses[] = {413, 400};
    for (size_t i = 0; i < KC_COUNT(statuses); i++) {
        kc_auto(stage) *s = open_stage();
        char chunk[1100], expected[32];
        snprintf(chunk, sizeof(chunk), i ? "1;%01000d\r\na\r\n" : "3e8\r\n%01000d\r\n", 0);
        feed(s, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (size_t n = 0; n < 4000 && s->m.conn.disposition == KC__CONN_OPEN; n++)
            feed(s, chunk);
        snprintf(expected, sizeof(expected), "HTTP/1.1 %d ", statuses[i]);
        assert_contains(output(s), expected);
    }
}

/* ---- deadlines ---- */

static void slow_head_returns_408(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    assert_int_equal(s->m.conn.deadline, kc_clock_now(s->clock) + 3 * KC_MINUTE);
    feed(s, "GET /");
    int64_t deadline = kc_clock_now(s->clock) + 32 * KC_SECOND;
    assert_int_equal(s->m.conn.deadline, deadline);
    kc_clock_advance(s->clock, 31 * KC_SECOND);
    feed(s, "abc"); /* Goes on, but not fast enough. */
    assert_int_equal(s->m.conn.deadline, deadline);
    kc__h1_protocol.expired(&s->m.conn);
    assert_contains(output(s), "HTTP/1.1 408 Request Timeout\r\n");
    assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
}

static void slow_body_returns_408(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    feed(s, "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n");
    int64_t deadline = kc_clock_now(s->clock) + 60 * KC_SECOND;
    kc_clock_advance(s->clock, 50 * KC_SECOND);
    feed(s, "ab");
    assert_int_equal(s->m.conn.deadline, deadline);
    kc__h1_protocol.expired(&s->m.conn);
    assert_contains(output(s), "HTTP/1.1 408 ");
}

static void open_request_has_no_deadline(void **state)
{
    (void)state;
    kc_auto(stage) *s = open_stage();
    s->keeps = true;
    feed(s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(s->m.conn.deadline, KC_FOREVER);
    kc__exchange_respond(s->late, &s->answer);
    memory_conn_fill(&s->m);
    assert_int_equal(s->m.conn.deadline, kc_clock_now(s->clock) + 3 * KC_MINUTE);
    kc__h1_protocol.expired(&s->m.conn);
    assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
}

TESTS(request_is_answered, request_may_arrive_byte_by_byte,
      pipelined_requests_are_answered_in_order, next_request_waits_for_the_response,
      buffered_requests_are_bounded, requests_wait_while_responses_are_not_read,
      chunks_are_joined_and_trailers_dropped, expect_continue_gets_100_continue,
      absolute_target_overrides_host, h2c_upgrade_is_ignored,
      connection_close_closes_after_the_response, http_1_0_closes_unless_keep_alive,
      drain_closes_an_idle_connection, drain_completes_an_open_request,
      invalid_requests_are_refused, head_beyond_limit_returns_431, body_beyond_limit_is_refused,
      slow_head_returns_408, slow_body_returns_408, open_request_has_no_deadline)
