/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1_testing.h: HTTP/1.1 over a connection in memory, with a handler that records its requests.
 */
#ifndef H1_TESTING_H
#define H1_TESTING_H

#include "testing.h"

#include "kc/clock.h"
#include "memory_conn.h"

#include <stdio.h>

typedef struct stage {
    kc__loop *loop;
    kc_clock *clock;
    memory_conn m;
    kc_buf seen; /* "GET /a HTTP/1.1 [body]; " for each request. */
    kc__exchange *late;
    bool keeps; /* Exchanges are answered later. */
    kc__http_response answer;
    int released, ended, fills;
    kc__exchange_grant grant; /* What begin grants, */
    int reject;               /* or the status it answers with; 0: it accepts. */
    int begun, abandoned;
    int abandoned_with;  /* The status of the last one. */
    kc__exchange *waker; /* Woken from within fill. */
    const char *const *pieces;
} stage;

static inline void release(void *owner)
{
    ((stage *)owner)->released++;
}

static inline void handle(kc__exchange *x, void *user)
{
    stage *s = user;
    kc_buf_printf(&s->seen, "%.*s %.*s %s [%.*s]; ", KC_ARG(x->request.method),
                  KC_ARG(x->request.target.path), x->request.protocol, KC_ARG(x->request.body));
    s->late = x;
    if (!s->keeps)
        kc__exchange_respond(x, &s->answer);
}

static inline bool begin(kc__exchange *x, kc__exchange_grant *grant, void *user)
{
    stage *s = user;
    s->begun++;
    x->state = s;
    *grant = s->grant;
    if (s->reject)
        kc__exchange_respond(x, &(kc__http_response){.status = s->reject, .body = KC_STR("no")});
    return !s->reject;
}

static inline void abandon(kc__exchange *x, int status, void *user)
{
    stage *s = user;
    assert_ptr_equal(x->state, s);
    s->abandoned++;
    s->abandoned_with = status;
}

static inline stage *stage_new(void)
{
    stage *s = kc_new(stage);
    s->clock = kc_clock_virtual_new(784111777 * KC_SECOND);
    s->loop = kc__loop_start("test", s->clock, NULL);
    s->answer = (kc__http_response){.status = 200, .body = KC_STR("ok")};
    return s;
}

static inline void stage_open(stage *s)
{
    memory_conn_open(&s->m, s->loop, &kc__h1_protocol, handle, s);
}

static inline void stage_free(stage *s)
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

static inline stage *open_stage(void)
{
    stage *s = stage_new();
    stage_open(s);
    return s;
}

static inline void feed(stage *s, const char *text)
{
    memory_conn_receive(&s->m, kc_cstr(text));
    memory_conn_fill(&s->m);
}

static inline const char *output(stage *s)
{
    return kc_buf_cstr(&s->m.conn.out);
}

static inline void take_output(stage *s)
{
    kc_buf_clear(&s->m.conn.out);
    memory_conn_fill(&s->m);
}

#define HEAD_200 "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

#endif
