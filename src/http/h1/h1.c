/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1.c: HTTP/1.1 as a protocol of a connection.
 *
 * One request at a time: pipelined input waits, unparsed, until the response is complete and the
 * output has room; above INPUT_ENOUGH bytes of it the connection is not read any more. A handler
 * may respond from within its call, so a response only changes the state, and the loop in `advance`
 * takes the next request: a thousand pipelined requests need no deeper stack than one.
 *
 * The server decides about a request when its head is complete (begin). The body of a request that
 * it answers at once is never buffered.
 *
 * After a response has upgraded the connection, input is passed to it unchanged, and bytes that it
 * does not consume wait in the same buffer.
 *
 * This file only sets deadlines; the transport has one timer that enforces them.
 */
#include "http/h1/h1_internal.h"

#include <assert.h>

enum {
    INPUT_ENOUGH = 16 * 1024,
    REQUESTS_PER_TURN = 16, /* Pipelined requests before other connections get their turn. */
    UNAUTHENTICATED_PER_TURN = 2,
};

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

static void update_now(h1 *h)
{
    h->now = kc_clock_now(kc__loop_clock(h->conn->loop));
}

/* ---- request by request ---- */

/* Calls begin for a request. Returns false if it was answered. */
static bool begin_h1_request(h1 *h)
{
    kc__exchange_grant grant = {0};
    const size_t max_body = h->conn->limits->max_body;
    h->state = H1_HANDLING;
    if (!kc__conn_begin(h->conn, &h->x, &grant))
        return false;
    h->state = H1_READING;
    h->accepted = h->awaits_body = true;
    h->max_body = KC_MIN(grant.max_body ? grant.max_body : max_body, max_body);
    if ((h->charge.bytes || !h->complete) && !kc__conn_charge(h->conn, &h->charge, &grant))
        kc__h1_refuse(h, 429, "too many requests are in flight");
    else if (!h->complete)
        kc__h1_expect_body(h);
    return !h->broken;
}

/* The head is complete and a body follows. Returns how many bytes of the body were dropped. */
static size_t decide(h1 *h, kc_str rest)
{
    const bool keep_alive = h->keep_alive;
    const size_t body = kc__h1_body_within(h, rest.n);
    h->keep_alive = keep_alive && body != SIZE_MAX; /* Applies if begin answers the request. */
    if (begin_h1_request(h)) {
        h->keep_alive = keep_alive;
        kc__h1_continue(h);
        return 0;
    }
    h->discard = body == SIZE_MAX;
    return h->discard ? rest.n : body;
}

static void handle(h1 *h)
{
    if (!h->awaits_body && !begin_h1_request(h))
        return;
    h->awaits_body = false;
    h->state = H1_HANDLING;
    h->x.request.body = kc_buf_str(&h->body);
    h->conn->handle(&h->x, h->conn->user);
}

/* After a response: prepares for the next request, or closes the connection. */
static void turn_h1(h1 *h)
{
    if (h->state != H1_SENT || h->broken)
        return;
    if (!h->keep_alive || h->conn->draining) {
        h->broken = true;
        if (h->conn->disposition == KC__CONN_OPEN)
            h->conn->disposition = KC__CONN_CLOSE;
        return;
    }
    kc__h1_reader_reset(h);
    h->state = H1_READING;
}

static bool ready(const h1 *h)
{
    return h->state == H1_READING && !h->broken && kc__conn_room(h->conn) > 0;
}

/* Returns how many bytes were consumed: all, unless a request is open now or other connections
 * get their turn. */
static size_t advance(h1 *h, kc_str bytes)
{
    size_t at = 0;
    int left = kc__conn_restricted(h->conn) ? UNAUTHENTICATED_PER_TURN : REQUESTS_PER_TURN;
    while (at < bytes.n && ready(h)) {
        h1_event event;
        if (left <= 0) {
            h->conn->yields = true;
            kc__conn_changed(h->conn);
            break;
        }
        if (!h->started)
            h->since = h->now;
        at += kc__h1_read(h, kc_str_sub(bytes, at, bytes.n), &event);
        if (event == H1_HEAD)
            at += decide(h, kc_str_sub(bytes, at, bytes.n));
        else if (event == H1_COMPLETE)
            handle(h);
        left -= event != H1_MORE;
        turn_h1(h);
    }
    return at;
}

/* ---- after an upgrade ---- */

/* Returns how many bytes were consumed. */
static size_t pass_to_upgrade(h1 *h, kc_str bytes)
{
    if (h->state != H1_SENDING)
        return 0;
    size_t taken = h->upgrade->receive(bytes, h->upgrade_user);
    assert(taken <= bytes.n);
    return taken;
}

static size_t take_h1_input(h1 *h, kc_str bytes)
{
    return h->upgrade ? pass_to_upgrade(h, bytes) : advance(h, bytes);
}

/* ---- unconsumed input ---- */

static size_t pending(const h1 *h)
{
    return h->input.n - h->input_at;
}

static void keep_h1_input(h1 *h, kc_str bytes)
{
    if (h->broken || h->discard || !bytes.n)
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
        h->input_at += take_h1_input(h, kc_str_sub(kc_buf_str(&h->input), h->input_at, h->input.n));
    if (!pending(h) || h->broken) {
        kc_buf_done(&h->input);
        h->input_at = 0;
    }
    h->conn->full = pending(h) >= INPUT_ENOUGH;
}

/* ---- operations of the protocol ---- */

static void open_session(kc__conn *conn)
{
    h1 *h = kc_new(h1);
    conn->session = h;
    h->conn = conn;
    h->x.ops = &kc__h1_exchange_ops;
    h->x.loop = conn->loop;
    h->x.request.peer = &conn->peer;
    h->x.request.arena = &h->arena;
    kc__h1_reader_init(h);
    update_now(h);
    conn->deadline = deadline_of(h);
}

static void receive_h1(kc__conn *conn, kc_str bytes)
{
    h1 *h = conn->session;
    size_t taken = 0;
    update_now(h);
    if (!pending(h))
        taken = take_h1_input(h, bytes);
    keep_h1_input(h, kc_str_sub(bytes, taken, bytes.n));
    conn->deadline = deadline_of(h);
}

static void fill_h1(kc__conn *conn)
{
    h1 *h = conn->session;
    if (h->state == H1_READING && !pending(h))
        return;
    update_now(h);
    if (h->state == H1_SENDING)
        kc__h1_send(h);
    turn_h1(h);
    take_input(h);
    conn->deadline = deadline_of(h);
}

static void h1_expired(kc__conn *conn)
{
    h1 *h = conn->session;
    if (h->state != H1_READING || h->broken)
        return;
    if (h->started) {
        kc__conn_count_ending(conn, h->head_done ? KC__HTTP_ENDED_BODY_TIMEOUT
                                                 : KC__HTTP_ENDED_HEAD_TIMEOUT);
        kc__h1_refuse(h, 408, "timed out reading the request");
        return;
    }
    kc__conn_count_ending(conn, KC__HTTP_ENDED_IDLE_TIMEOUT);
    h->broken = true;
    conn->disposition = KC__CONN_CLOSE;
}

static void drain_h1(kc__conn *conn)
{
    h1 *h = conn->session;
    if (h->state != H1_READING || h->started || pending(h))
        return;
    h->broken = true;
    conn->disposition = KC__CONN_CLOSE;
}

/* True while no accepted request is open: the connection is idle or its client unauthenticated. */
static bool evictable(const kc__conn *conn, int64_t *ret_since)
{
    const h1 *h = conn->session;
    bool idle = h->state == H1_READING && !h->started && !pending(h);
    *ret_since = h->started ? h->since : h->now;
    return !h->accepted && (idle || !conn->authenticated);
}

void kc__h1_free(h1 *h)
{
    kc__http_charge_end(h->conn->budget, &h->charge);
    kc__http_body_done(&h->out);
    kc_buf_done(&h->text);
    kc_buf_done(&h->body);
    kc_buf_done(&h->input);
    kc_vec_done(&h->fields);
    kc__http_headers_done(&h->x.request.headers);
    kc_arena_done(&h->arena);
    free(h);
}

static void close_session(kc__conn *conn)
{
    h1 *h = conn->session;
    conn->session = NULL;
    if (h->state != H1_HANDLING) {
        if (h->awaits_body)
            kc__conn_abandon(conn, &h->x, 0);
        kc__h1_free(h);
        return;
    }
    h->x.gone = true;
    h->closed = true;
    kc_buf_done(&h->input);
    kc__conn_hold(conn);
}

const kc__conn_protocol kc__h1_protocol = {
    .name = "http/1.1",
    .open = open_session,
    .receive = receive_h1,
    .fill = fill_h1,
    .expired = h1_expired,
    .drain = drain_h1,
    .evictable = evictable,
    .close = close_session,
};
