/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that take over a connection of HTTP/1.1: bytes as they are, in both directions. */
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
    kc__fill at_end;      /* What fill says when `out` is empty. */
    int ended, calls;
} stage;

static kc__fill fill(kc_buf *out, size_t room, void *user)
{
    stage *s = user;
    size_t n = KC_MIN(room, s->out.n);
    kc_buf_append(out, kc_str_sub(kc_buf_str(&s->out), 0, n));
    if (n)
        memmove(s->out.p, s->out.p + n, s->out.n - n);
    s->out.n -= n;
    return s->out.n ? KC__FILL_MORE : s->at_end;
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
    static const kc__body_source source = {fill, done};
    static const kc__upgrade echo = {.protocol = "echo", .receive = receive};
    static const kc__header fields[] = {
        {KC_STR_INIT("X-Field"), KC_STR_INIT("kept")},
        {KC_STR_INIT("Upgrade"), KC_STR_INIT("ours to say")},
    };
    kc__exchange_answer(s->x, &(kc__answer){.status = 101,
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
        kc__exchange_answer(x, &(kc__answer){.status = 200, .body = KC_STR("ok")});
    else if (!s->keeps)
        upgrade(s);
}

static stage *stage_open(void)
{
    stage *s = kc_new(stage);
    s->clock = kc_clock_virtual_new(784111777 * KC_SECOND);
    s->loop = kc__loop_start("test", s->clock, NULL);
    s->at_end = KC__FILL_WAIT;
    memory_conn_open(&s->m, s->loop, &kc__http1, handle, s);
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

static void say(stage *s, const char *text)
{
    memory_conn_receive(&s->m, kc_cstr(text));
    memory_conn_fill(&s->m);
}

/* What was sent since the last time. */
static char *hear(stage *s)
{
    static char text[1000];
    memory_conn_fill(&s->m);
    snprintf(text, sizeof(text), "%s", kc_buf_cstr(&s->m.conn.out));
    kc_buf_clear(&s->m.conn.out);
    return text;
}

static void speak(stage *s, const char *text)
{
    kc_buf_puts(&s->out, text);
    kc__exchange_wake(s->x);
}

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
#define HEAD_101                                                                           \
    "HTTP/1.1 101 Switching Protocols\r\nX-Field: kept\r\nDate: Sun, 06 Nov 1994 08:49:37" \
    " GMT\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n"

/* ---- tests ---- */

static void bytes_go_both_ways_as_they_are(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    say(s, REQUEST);
    assert_string_equal(hear(s), HEAD_101);
    say(s, "GET /plain HTTP/1.1\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->received), "GET /plain HTTP/1.1\r\n\r\n");
    assert_string_equal(hear(s), "");
    speak(s, "as it is");
    assert_string_equal(hear(s), "as it is");
    assert_int_equal(s->m.conn.wish, KC__CONN_OPEN);
}

static void what_came_behind_the_request_is_the_upgrades(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    say(s, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n" REQUEST "early");
    assert_string_equal(kc_buf_cstr(&s->received), "early");
    say(s, " and late");
    assert_string_equal(kc_buf_cstr(&s->received), "early and late");
}

static void what_came_before_the_answer_is_too(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    s->keeps = true;
    say(s, REQUEST "ear");
    say(s, "ly");
    assert_int_equal(s->calls, 0);
    upgrade(s);
    memory_conn_fill(&s->m);
    assert_string_equal(kc_buf_cstr(&s->received), "early");
}

static void only_http_1_1_can_be_upgraded(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    say(s, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(s->upgradable);
    say(s, "GET /plain HTTP/1.0\r\nHost: x\r\n\r\n");
    assert_false(s->upgradable);
}

static void the_end_of_the_source_closes_the_connection(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    say(s, REQUEST);
    hear(s);
    s->at_end = KC__FILL_END;
    speak(s, "bye");
    assert_string_equal(hear(s), "bye");
    assert_int_equal(s->ended, 1);
    assert_int_equal(s->m.conn.wish, KC__CONN_CLOSE);
    say(s, "too late");
    assert_int_equal(s->calls, 0);
}

static void an_aborted_source_resets_it(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    say(s, REQUEST);
    s->at_end = KC__FILL_ABORT;
    speak(s, "half");
    hear(s);
    assert_int_equal(s->m.conn.wish, KC__CONN_ABORT);
    assert_int_equal(s->ended, 1);
}

static void a_client_that_leaves_ends_the_source_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    say(s, REQUEST);
    memory_conn_close(&s->m);
    assert_int_equal(s->ended, 1);
}

static void one_that_left_before_the_answer_gets_no_upgrade(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    s->keeps = true;
    say(s, REQUEST "bytes");
    memory_conn_close(&s->m);
    assert_true(s->x->gone);
    upgrade(s);
    assert_int_equal(s->ended, 1);
    assert_int_equal(s->calls, 0);
    assert_int_equal(s->m.conn.holds, 0);
}

static void what_is_not_taken_is_given_again_and_bounded(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    char junk[1001];
    memset(junk, 'x', 1000);
    junk[1000] = '\0';
    s->refuses = true;
    say(s, REQUEST);
    for (int i = 0; i < 17; i++) {
        assert_false(s->m.conn.full);
        say(s, junk);
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
    say(s, REQUEST);
    hear(s);
    for (int i = 0; i < 3 * (int)KC__CONN_HIGH; i++)
        kc_buf_putc(&s->out, 'x');
    kc__exchange_wake(s->x);
    memory_conn_fill(&s->m);
    assert_int_equal(s->m.conn.out.n, KC__CONN_HIGH);
    say(s, "heard all the same");
    assert_string_equal(kc_buf_cstr(&s->received), "heard all the same");
    hear(s);
    assert_int_equal(s->out.n, 2 * KC__CONN_HIGH);
}

static void it_has_no_deadline_and_outlives_draining(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    say(s, REQUEST);
    hear(s);
    assert_int_equal(s->m.conn.deadline, KC_FOREVER);
    s->m.conn.draining = true;
    s->m.conn.protocol->drain(&s->m.conn);
    assert_int_equal(s->m.conn.wish, KC__CONN_OPEN);
    say(s, "x");
    assert_int_equal(s->m.conn.deadline, KC_FOREVER);
    s->at_end = KC__FILL_END;
    speak(s, "last");
    assert_string_equal(hear(s), "last");
    assert_int_equal(s->m.conn.wish, KC__CONN_CLOSE);
}

TESTS(bytes_go_both_ways_as_they_are, what_came_behind_the_request_is_the_upgrades,
      what_came_before_the_answer_is_too, only_http_1_1_can_be_upgraded,
      the_end_of_the_source_closes_the_connection, an_aborted_source_resets_it,
      a_client_that_leaves_ends_the_source_once, one_that_left_before_the_answer_gets_no_upgrade,
      what_is_not_taken_is_given_again_and_bounded, sending_waits_for_the_client,
      it_has_no_deadline_and_outlives_draining)
