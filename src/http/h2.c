/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2.c: HTTP/2 as a protocol of a connection: bytes in, bytes out, no socket.
 *
 *     receive ─▶ nghttp2_session_mem_recv ─▶ callbacks (h2_request.c) ─▶ handler
 *     fill    ─▶ nghttp2_session_mem_send ─▶ conn->out                ◀─ answers (h2_answer.c)
 *
 * What goes out is pulled from nghttp2 as long as conn->out is below its mark, and nghttp2 lets the
 * streams take turns; so a client that does not read makes us stop, whatever it asks for. Answers
 * and wakes that come later only note what they want and call kc__conn_changed: the transport then
 * calls fill.
 *
 * Deadlines: there is one, the earliest of what the client owes us.
 *
 *     the preface, a head that has begun     head_timeout     the connection ends
 *     a body that we have room for           body_timeout     408 on that stream
 *     taking an answer (its window is shut)  write_timeout    that stream is reset
 *     any request at all                     idle_timeout     the connection ends
 *
 * Each list of streams is in the order of time, so the earliest is its first.
 */
#include "http/h2_internal.h"

/* Frames of ours that may wait in nghttp2 beside answers: acknowledgements, resets. */
enum { MAX_QUEUED = 1000, FRAME = 16384 };

static kc__h2 *h2_of(kc__conn *conn)
{
    return conn->session;
}

/* ---- going ---- */

/* A GOAWAY without nghttp2, which is in no state to write one. */
static void give_up(kc__h2 *h2, uint32_t code)
{
    const char goaway[17] = {0, 0, 8, NGHTTP2_GOAWAY, [16] = (char)code};
    uint32_t last = (uint32_t)nghttp2_session_get_last_proc_stream_id(h2->session);
    if (h2->broken)
        return;
    h2->broken = true;
    kc_buf_append(&h2->conn->out, kc_str_of(goaway, 9));
    for (int shift = 24; shift >= 0; shift -= 8)
        kc_buf_putc(&h2->conn->out, (char)(last >> shift));
    kc_buf_append(&h2->conn->out, kc_str_of(goaway + 13, 4));
    h2->conn->wish = KC__CONN_CLOSE;
}

void kc__h2_end(kc__h2 *h2, uint32_t code)
{
    h2->ending = true;
    if (nghttp2_session_terminate_session(h2->session, code) < 0)
        give_up(h2, code);
}

void kc__h2_changed(kc__h2 *h2)
{
    if (!h2->inside)
        kc__conn_changed(h2->conn);
}

/* ---- deadlines ---- */

static int64_t later(int64_t time, int64_t by)
{
    return time > KC_FOREVER - by ? KC_FOREVER : time + by;
}

static kc__h2_stream *first_of(const kc_list *list)
{
    kc_link *link = kc_list_first(list);
    return link ? kc_container_of(link, kc__h2_stream, timed) : NULL;
}

static int64_t first_deadline(const kc_list *list, int64_t timeout)
{
    kc__h2_stream *first = first_of(list);
    return first ? later(first->since, timeout) : KC_FOREVER;
}

static int64_t next_deadline(const kc__h2 *h2)
{
    const kc__http_limits *limits = h2->conn->limits;
    int64_t head = later(h2->head_since, limits->head_timeout);
    int64_t body = first_deadline(&h2->reading, limits->body_timeout);
    int64_t write = first_deadline(&h2->sending, limits->write_timeout);
    int64_t idle = h2->open ? KC_FOREVER : later(h2->idle_since, limits->idle_timeout);
    return KC_MIN(KC_MIN(head, body), KC_MIN(write, idle));
}

static void expire_bodies(kc__h2 *h2)
{
    while (first_deadline(&h2->reading, h2->conn->limits->body_timeout) <= h2->now) {
        kc__h2_stream *stream = first_of(&h2->reading);
        stream->status = 408;
        stream->reason = KC_STR("the body did not come in time");
        stream->unread = true;
        kc__h2_refuse(stream);
    }
}

/*
 * A stream that got nothing out for so long: is it the client's doing? If its own window is shut,
 * yes. If the connection's is, yes, when no other stream got anything out either. Otherwise it is
 * just not its turn, or the transport is slow, which has a timeout of its own.
 */
static void expire_answers(kc__h2 *h2)
{
    int64_t timeout = h2->conn->limits->write_timeout;
    while (first_deadline(&h2->sending, timeout) <= h2->now) {
        kc__h2_stream *stream = first_of(&h2->sending);
        bool shut = nghttp2_session_get_stream_remote_window_size(h2->session, stream->id) <= 0;
        bool all_shut = nghttp2_session_get_remote_window_size(h2->session) <= 0 &&
                        later(h2->last_sent, timeout) <= h2->now;
        if (shut || all_shut) {
            kc__h2_stream_wait_in(stream, NULL);
            nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
        } else {
            kc__h2_stream_wait_in(stream, &h2->sending);
        }
    }
}

/* ---- in and out ---- */

static void resume_woken(kc__h2 *h2)
{
    for (kc_link *link; (link = kc_list_pop(&h2->woken));) {
        kc__h2_stream *stream = kc_container_of(link, kc__h2_stream, woken);
        /* One that was not asleep has not been asked yet, and needs no waking. */
        if (nghttp2_session_resume_data(h2->session, stream->id) == 0)
            kc__h2_stream_wait_in(stream, &h2->sending);
    }
}

static void pump(kc__h2 *h2)
{
    kc__conn *conn = h2->conn;
    resume_woken(h2);
    while (!h2->broken && kc__conn_room(conn) > 0) {
        const uint8_t *bytes;
        ssize_t n = nghttp2_session_mem_send(h2->session, &bytes);
        if (n < 0)
            give_up(h2, NGHTTP2_INTERNAL_ERROR);
        if (n <= 0)
            break;
        kc_buf_append(&conn->out, kc_str_of((const char *)bytes, (size_t)n));
    }
}

static void enter(kc__h2 *h2)
{
    h2->inside = true;
    h2->now = kc_clock_now(kc__loop_clock(h2->conn->loop));
}

static void leave(kc__h2 *h2)
{
    kc__conn *conn = h2->conn;
    pump(h2);
    bool over = !nghttp2_session_want_read(h2->session) && !nghttp2_session_want_write(h2->session);
    if (over && conn->wish == KC__CONN_OPEN)
        conn->wish = KC__CONN_CLOSE;
    conn->deadline = h2->ending || conn->wish ? KC_FOREVER : next_deadline(h2);
    h2->inside = false;
    if (!kc_list_empty(&h2->woken) && conn->wish == KC__CONN_OPEN)
        kc__conn_changed(conn);
}

/* ---- the protocol ---- */

static void make_session(kc__h2 *h2)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    if (nghttp2_session_callbacks_new(&callbacks) < 0 || nghttp2_option_new(&option) < 0)
        abort();
    kc__h2_request_callbacks(callbacks);
    kc__h2_answer_callbacks(callbacks);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_outbound_ack(option, MAX_QUEUED);
    nghttp2_option_set_max_continuations(option, h2->conn->limits->max_head / FRAME + 8);
    /* Counted by h2_calm.c, on our clock. */
    nghttp2_option_set_stream_reset_rate_limit(option, UINT32_MAX, UINT32_MAX);
    if (nghttp2_session_server_new2(&h2->session, callbacks, h2, option) < 0)
        abort();
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
}

static void send_settings(kc__h2 *h2)
{
    const kc__http_limits *limits = h2->conn->limits;
    enum { FIELD_OVERHEAD = 32 }; /* As RFC 9113 counts a field. */
    size_t head = limits->max_head + limits->max_headers * FIELD_OVERHEAD;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, (uint32_t)limits->max_streams},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)KC_MIN(head, (size_t)UINT32_MAX)},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings, KC_COUNT(settings));
    nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0,
                                          KC__H2_CONNECTION_WINDOW);
}

static void open_session(kc__conn *conn)
{
    kc__h2 *h2 = conn->session = kc_new(kc__h2);
    h2->conn = conn;
    kc_list_init(&h2->streams);
    kc_list_init(&h2->reading);
    kc_list_init(&h2->waiting);
    kc_list_init(&h2->sending);
    kc_list_init(&h2->woken);
    h2->pool = KC__H2_POOL_BODIES * conn->limits->max_body;
    enter(h2);
    h2->head_since = h2->idle_since = h2->last_sent = h2->now;
    make_session(h2);
    send_settings(h2);
    leave(h2);
}

static void receive(kc__conn *conn, kc_str bytes)
{
    kc__h2 *h2 = h2_of(conn);
    if (h2->broken || conn->wish != KC__CONN_OPEN)
        return;
    enter(h2);
    ssize_t n = nghttp2_session_mem_recv(h2->session, (const uint8_t *)bytes.p, bytes.n);
    if (n == NGHTTP2_ERR_FLOODED || n == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS ||
        nghttp2_session_get_outbound_queue_size(h2->session) >
            MAX_QUEUED + 2 * conn->limits->max_streams)
        give_up(h2, NGHTTP2_ENHANCE_YOUR_CALM);
    else if (n < 0)
        give_up(h2, n == NGHTTP2_ERR_BAD_CLIENT_MAGIC ? NGHTTP2_PROTOCOL_ERROR
                                                      : NGHTTP2_INTERNAL_ERROR);
    leave(h2);
}

static void fill(kc__conn *conn)
{
    enter(h2_of(conn));
    leave(h2_of(conn));
}

static void expired(kc__conn *conn)
{
    kc__h2 *h2 = h2_of(conn);
    enter(h2);
    int64_t head = later(h2->head_since, conn->limits->head_timeout);
    int64_t idle = later(h2->idle_since, conn->limits->idle_timeout);
    expire_bodies(h2);
    expire_answers(h2);
    if (head <= h2->now)
        kc__h2_end(h2, NGHTTP2_ENHANCE_YOUR_CALM);
    else if (!h2->open && idle <= h2->now)
        kc__h2_end(h2, NGHTTP2_NO_ERROR);
    leave(h2);
}

/* What the client sent before it hears of it is not handled; it may send that again elsewhere. */
static void drain(kc__conn *conn)
{
    kc__h2 *h2 = h2_of(conn);
    enter(h2);
    conn->draining = true;
    nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(h2->session), NGHTTP2_NO_ERROR,
                          NULL, 0);
    leave(h2);
}

static void close_session(kc__conn *conn)
{
    kc__h2 *h2 = conn->session;
    if (!h2)
        return;
    h2->inside = true;
    for (kc_link *link; (link = kc_list_first(&h2->streams));)
        kc__h2_stream_cut_off(kc_container_of(link, kc__h2_stream, link));
    nghttp2_session_del(h2->session);
    free(h2);
    conn->session = NULL;
}

const kc__protocol kc__http2 = {
    .name = "h2",
    .open = open_session,
    .receive = receive,
    .fill = fill,
    .expired = expired,
    .drain = drain,
    .close = close_session,
};
