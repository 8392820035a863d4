/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1.c: HTTP/1.1 as the transport sees it.
 *
 * One request at a time: what a client sends behind it waits, unparsed, until the answer is
 * complete and has room; beyond INPUT_ENOUGH bytes of that the connection is not read any more. A
 * handler may answer from within, so answers only move the state; the loop in `advance` takes the
 * next request, never the answer itself: a thousand pipelined requests need no deeper stack than
 * one.
 *
 * Once an answer has taken over the connection, what comes is given to it as it is, and what it
 * leaves waits in the same place.
 *
 * Deadlines are only written down here; the transport has one timer that looks at them.
 */
#include "http/h1_internal.h"

#include <assert.h>

enum { INPUT_ENOUGH = 16 * 1024 };

static int64_t after(int64_t from, int64_t ns)
{
    return from > KC_FOREVER - ns ? KC_FOREVER : from + ns;
}

static int64_t deadline_of(const h1 *h)
{
    const kc__http_limits *limits = h->conn->limits;
    if (h->broken || h->state != H1_READING)
        return KC_FOREVER;
    if (!h->started)
        return after(h->now, limits->idle_timeout);
    return h->head_done ? after(h->x.request.received, limits->body_timeout)
                        : after(h->since, limits->head_timeout);
}

static void look_at_clock(h1 *h)
{
    h->now = kc_clock_now(kc__loop_clock(h->conn->loop));
}

/* ---- one request after the other ---- */

static void handle(h1 *h)
{
    h->state = H1_HANDLING;
    h->x.request.body = kc_buf_str(&h->body);
    h->conn->handle(&h->x, h->conn->user);
}

/* After an answer: the next request, or the end. */
static void turn(h1 *h)
{
    if (h->state != H1_SENT || h->broken)
        return;
    if (!h->keep_alive || h->conn->draining) {
        h->broken = true;
        if (h->conn->wish == KC__CONN_OPEN)
            h->conn->wish = KC__CONN_CLOSE;
        return;
    }
    kc__h1_reader_reset(h);
    h->state = H1_READING;
}

static bool ready(const h1 *h)
{
    return h->state == H1_READING && !h->broken && kc__conn_room(h->conn) > 0;
}

/* Returns how many bytes it took: all of them, unless a request is open now. */
static size_t advance(h1 *h, kc_str bytes)
{
    size_t at = 0;
    while (at < bytes.n && ready(h)) {
        bool complete = false;
        if (!h->started)
            h->since = h->now;
        at += kc__h1_read(h, kc_str_sub(bytes, at, bytes.n), &complete);
        if (complete)
            handle(h);
        turn(h);
    }
    return at;
}

/* ---- after an upgrade ---- */

/* Returns how many bytes it took. */
static size_t hand_over(h1 *h, kc_str bytes)
{
    if (h->state != H1_SENDING)
        return 0;
    size_t taken = h->upgrade->receive(bytes, h->upgrade_user);
    assert(taken <= bytes.n);
    return taken;
}

static size_t take(h1 *h, kc_str bytes)
{
    return h->upgrade ? hand_over(h, bytes) : advance(h, bytes);
}

/* ---- what is not taken yet ---- */

static size_t pending(const h1 *h)
{
    return h->input.n - h->input_at;
}

static void keep(h1 *h, kc_str bytes)
{
    if (h->broken || !bytes.n)
        return;
    if (h->input_at) {
        memmove(h->input.p, h->input.p + h->input_at, pending(h));
        h->input.n = pending(h);
        h->input_at = 0;
    }
    kc_buf_append(&h->input, bytes);
    h->conn->full = pending(h) >= INPUT_ENOUGH;
}

static void take_input(h1 *h)
{
    if (pending(h) && (h->upgrade || ready(h)))
        h->input_at += take(h, kc_str_sub(kc_buf_str(&h->input), h->input_at, h->input.n));
    if (!pending(h) || h->broken) {
        kc_buf_done(&h->input);
        h->input_at = 0;
    }
    h->conn->full = pending(h) >= INPUT_ENOUGH;
}

/* ---- what the transport calls ---- */

static void open_session(kc__conn *conn)
{
    h1 *h = kc_new(h1);
    conn->session = h;
    h->conn = conn;
    h->x.ops = &kc__h1_ops;
    h->x.loop = conn->loop;
    h->x.request.peer = &conn->peer;
    h->x.request.arena = &h->arena;
    kc__h1_reader_init(h);
    look_at_clock(h);
    conn->deadline = deadline_of(h);
}

static void receive(kc__conn *conn, kc_str bytes)
{
    h1 *h = conn->session;
    size_t taken = 0;
    look_at_clock(h);
    if (!pending(h))
        taken = take(h, bytes);
    keep(h, kc_str_sub(bytes, taken, bytes.n));
    conn->deadline = deadline_of(h);
}

static void fill(kc__conn *conn)
{
    h1 *h = conn->session;
    if (h->state == H1_READING && !pending(h))
        return;
    look_at_clock(h);
    if (h->state == H1_SENDING)
        kc__h1_send(h);
    turn(h);
    take_input(h);
    conn->deadline = deadline_of(h);
}

static void expired(kc__conn *conn)
{
    h1 *h = conn->session;
    if (h->state != H1_READING || h->broken)
        return;
    if (h->started) {
        kc__h1_refuse(h, 408, "the request took too long to arrive");
        return;
    }
    h->broken = true;
    conn->wish = KC__CONN_CLOSE;
}

static void drain(kc__conn *conn)
{
    h1 *h = conn->session;
    if (h->state != H1_READING || h->started || pending(h))
        return;
    h->broken = true;
    conn->wish = KC__CONN_CLOSE;
}

void kc__h1_free(h1 *h)
{
    kc__body_done(&h->out);
    kc_buf_done(&h->text);
    kc_buf_done(&h->body);
    kc_buf_done(&h->input);
    kc_vec_done(&h->fields);
    kc__headers_done(&h->x.request.headers);
    kc_arena_done(&h->arena);
    free(h);
}

static void close_session(kc__conn *conn)
{
    h1 *h = conn->session;
    conn->session = NULL;
    if (h->state != H1_HANDLING) {
        kc__h1_free(h);
        return;
    }
    h->x.gone = true;
    h->closed = true;
    kc_buf_done(&h->input);
    kc__conn_hold(conn);
}

const kc__protocol kc__http1 = {
    .name = "http/1.1",
    .open = open_session,
    .receive = receive,
    .fill = fill,
    .expired = expired,
    .drain = drain,
    .close = close_session,
};
