/* SPDX-License-Identifier: Apache-2.0 */
/* Responses that upgrade an HTTP/1.1 connection: raw bytes in both directions. */
#include "testing.h"

#include <stdio.h>

#include "kc/clock.h"
#include "memory_conn.h"

/* ---- a handler that echoes ---- */

typedef struct stage {
    kc__loop *loop;
    kc_clock *clock;
    memory_conn m;
    kc__exchange *x;
    bool keeps;           /* The exchange is answered later. */
    bool upgradable;      /* As the request said. */
    kc_buf out, received; /* To be sent; what came. */
    size_t takes;         /* Bytes of one call at most; 0: all. */
    bool refuses;         /* Takes nothing. */
    kc__http_fill at_end; /* What fill says when `out` is empty. */
    int ended, calls;
} stage;

static kc__http_fill fill(kc_buf *out, size_t room, void *user)
{
    stage *s = user;
    size_t n = KC_MIN(room, s->out.n);
    kc_buf_append(out, kc_str_sub(kc_buf_str(&s->out), 0, n));
    if (n)
        memmove(s->out.p, s->out.p + n, s->out.n - n);
    s->out.n -= n;
    return s->out.n ? KC__HTTP_FILL_MORE : s->at_end;
}

static void done(void *user)
{
    ((stage *)user)->ended++;
}

static size_t receive(kc_str bytes, void *user)
{
    stage *s = user;
    assert_int_equal(s->ended, 0);
    s->calls++;
    if (s->refuses)
        return 0;
    size_t n = s->takes ? KC_MIN(s->takes, bytes.n) : bytes.n;
    kc_buf_append(&s->received, kc_str_sub(bytes, 0, n));
    return n;
}

static void upgrade(stage *s)
{
    static const kc__http_body_source source = {fill, done};
    static const kc__http_upgrade echo = {.protocol = "echo", .receive = receive};
    static const kc__http_header fields[] = {
        {KC_STR_INIT("X-Field"), KC_STR_INIT("kept")},
        {KC_STR_INIT("Upgrade"), KC_STR_INIT("ours to say")},
    };
    kc__exchange_respond(s->x, &(kc__http_response){.status = 101,
                                                    .headers = fields,
                                                    .n_headers = 2,
                                                    .source = &source,
                                                    .user = s,
                                                    .upgrade = &echo});
}

static void handle(kc__exchange *x, void *user)
{
    stage *s = user;
    s->x = x;
    s->upgradable = x->request.upgradable;
    if (kc_str_is(x->request.target.path, "/plain"))
        kc__exchange_respond(x, &(kc__http_response){.status = 200, .body = KC_STR("ok")});
    else if (!s->keeps)
        upgrade(s);
}

static stage *stage_open(void)
{
    stage *s = kc_new(stage);
    s->clock = kc_clock_virtual_new(784111777 * KC_SECOND);
    s->loop = kc__loop_start("test", s->clock, NULL);
    s->at_end = KC__HTTP_FILL_WAIT;
    memory_conn_open(&s->m, s->loop, &kc__h1_protocol, handle, s);
    return s;
}

static void stage_free(stage *s)
{
    if (!s)
        return;
    memory_conn_close(&s->m);
    kc__loop_stop(s->loop);
    kc_clock_free(s->clock);
    kc_buf_done(&s->out);
    kc_buf_done(&s->received);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static void feed(stage *s, const char *text)
{
    memory_conn_receive(&s->m, kc_cstr(text));
    memory_conn_fill(&s->m);
}

/* What was sent since the last time. */
static char *take_output(stage *s)
{
    static char text[1000];
    memory_conn_fill(&s->m);
    snprintf(text, sizeof(text), "%s", kc_buf_cstr(&s->m.conn.out));
    kc_buf_clear(&s->m.conn.out);
    return text;
}

static void emit(stage *s, const char *text)
{
    kc_buf_puts(&s->out, text);
    kc__exchange_wake(s->x);
}

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
#define HEAD_101                                                                           \
    "HTTP/1.1 101 Switching Protocols\r\nX-Field: kept\r\nDate: Sun, 06 Nov 1994 08:49:37" \
    " GMT\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n"

/* ---- tests ---- */

static void upgraded_bytes_pass_both_ways_unchanged(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    feed(s, REQUEST);
    assert_string_equal(take_output(s), HEAD_101);
    feed(s, "GET /plain HTTP/1.1\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->received), "GET /plain HTTP/1.1\r\n\r\n");
    assert_string_equal(take_output(s), "");
    emit(s, "as it is");
    assert_string_equal(take_output(s), "as it is");
    assert_int_equal(s->m.conn.disposition, KC__CONN_OPEN);
}

static void bytes_after_the_request_belong_to_the_upgrade(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    feed(s, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n" REQUEST "early");
    assert_string_equal(kc_buf_cstr(&s->received), "early");
    feed(s, " and late");
    assert_string_equal(kc_buf_cstr(&s->received), "early and late");
}

static void bytes_before_the_response_belong_to_the_upgrade(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    s->keeps = true;
    feed(s, REQUEST "ear");
    feed(s, "ly");
    assert_int_equal(s->calls, 0);
    upgrade(s);
    memory_conn_fill(&s->m);
    assert_string_equal(kc_buf_cstr(&s->received), "early");
}

static void only_http_1_1_can_be_upgraded(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    feed(s, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(s->upgradable);
    feed(s, "GET /plain HTTP/1.0\r\nHost: x\r\n\r\n");
    assert_false(s->upgradable);
}

static void end_of_source_closes_the_connection(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    feed(s, REQUEST);
    take_output(s);
    s->at_end = KC__HTTP_FILL_END;
    emit(s, "bye");
    assert_string_equal(take_output(s), "bye");
    assert_int_equal(s->ended, 1);
    assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
    feed(s, "too late");
    assert_int_equal(s->calls, 0);
}

static void aborted_source_resets_the_connection(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    feed(s, REQUEST);
    s->at_end = KC__HTTP_FILL_ABORT;
    emit(s, "half");
    take_output(s);
    assert_int_equal(s->m.conn.disposition, KC__CONN_ABORT);
    assert_int_equal(s->ended, 1);
}

static void disconnect_ends_the_source_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    feed(s, REQUEST);
    memory_conn_close(&s->m);
    assert_int_equal(s->ended, 1);
}

static void disconnect_before_the_response_ends_the_upgrade(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    s->keeps = true;
    feed(s, REQUEST "bytes");
    memory_conn_close(&s->m);
    assert_true(s->x->gone);
    upgrade(s);
    assert_int_equal(s->ended, 1);
    assert_int_equal(s->calls, 0);
    assert_int_equal(s->m.conn.holds, 0);
}

static void unaccepted_bytes_are_redelivered_and_bounded(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    char junk[1001];
    memset(junk, 'x', 1000);
    junk[1000] = '\0';
    s->refuses = true;
    feed(s, REQUEST);
    for (int i = 0; i < 17; i++) {
        assert_false(s->m.conn.full);
        feed(s, junk);
    }
    assert_true(s->m.conn.full);
    s->refuses = false;
    s->takes = 5000;
    for (int i = 0; i < 4; i++) {
        kc__exchange_wake(s->x);
        memory_conn_fill(&s->m);
        assert_false(s->m.conn.full);
    }
    assert_int_equal(s->received.n, 17000);
}

static void sending_waits_for_the_client(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    feed(s, REQUEST);
    take_output(s);
    for (int i = 0; i < 3 * (int)KC__CONN_HIGH; i++)
        kc_buf_putc(&s->out, 'x');
    kc__exchange_wake(s->x);
    memory_conn_fill(&s->m);
    assert_int_equal(s->m.conn.out.n, KC__CONN_HIGH);
    feed(s, "heard all the same");
    assert_string_equal(kc_buf_cstr(&s->received), "heard all the same");
    take_output(s);
    assert_int_equal(s->out.n, 2 * KC__CONN_HIGH);
}

static void upgraded_connection_has_no_deadline_and_outlives_drain(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    feed(s, REQUEST);
    take_output(s);
    assert_int_equal(s->m.conn.deadline, KC_FOREVER);
    s->m.conn.draining = true;
    s->m.conn.protocol->drain(&s->m.conn);
    assert_int_equal(s->m.conn.disposition, KC__CONN_OPEN);
    feed(s, "x");
    assert_int_equal(s->m.conn.deadline, KC_FOREVER);
    s->at_end = KC__HTTP_FILL_END;
    emit(s, "last");
    assert_string_equal(take_output(s), "last");
    assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
}

TESTS(upgraded_bytes_pass_both_ways_unchanged, bytes_after_the_request_belong_to_the_upgrade,
      bytes_before_the_response_belong_to_the_upgrade, only_http_1_1_can_be_upgraded,
      end_of_source_closes_the_connection, aborted_source_resets_the_connection,
      disconnect_ends_the_source_once, disconnect_before_the_response_ends_the_upgrade,
      unaccepted_bytes_are_redelivered_and_bounded, sending_waits_for_the_client,
      upgraded_connection_has_no_deadline_and_outlives_drain)
