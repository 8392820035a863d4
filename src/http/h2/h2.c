/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2.c: HTTP/2 as a protocol of a connection: bytes in, bytes out, no socket.
 *
 *     receive ─▶ nghttp2_session_mem_recv ─▶ callbacks (h2_request.c) ─▶ handler
 *     fill    ─▶ nghttp2_session_mem_send ─▶ conn->out              ◀─ responses (h2_response.c)
 *
 * Output is pulled from nghttp2 while conn->out is below its high mark, and nghttp2 schedules the
 * streams in turn; so a client that does not read stops the output, whatever it requests. Responses
 * and wakes that come later only record what they need and call kc__conn_changed: the transport
 * then calls fill.
 *
 * There is one deadline, the earliest of these timeouts for the client:
 *
 *     the preface, a head that has begun     head_timeout     the connection ends
 *     a body for which there is room         body_timeout     408 on that stream
 *     reading a response (window is shut)    write_timeout    that stream is reset
 *     any request at all                     idle_timeout     the connection ends
 *     the notice of a shutdown               1 second         further streams are refused
 *
 * Each list of streams is ordered by time, so its first stream has the earliest deadline.
 */
#include "http/h2/h2_internal.h"

/* Our frames that may be queued in nghttp2 in addition to responses: acknowledgements, resets. */
enum { MAX_QUEUED = 1000, FRAME = 16384 };

/* How long a client has to receive that it shall use another connection. */
#define NOTICE_TIMEOUT (1 * KC_SECOND)

static kc__h2 *h2_of(kc__conn *conn)
{
    return conn->session;
}

/* ---- closing ---- */

/* Writes a GOAWAY without nghttp2, which is in no state to write one. */
static void abort_h2(kc__h2 *h2, uint32_t code)
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
    h2->conn->disposition = KC__CONN_CLOSE;
}

void kc__h2_end(kc__h2 *h2, uint32_t code)
{
    h2->ending = true;
    if (nghttp2_session_terminate_session(h2->session, code) < 0)
        abort_h2(h2, code);
}

void kc__h2_end_by(kc__h2 *h2, uint32_t code, kc__http_ending reason)
{
    if (!h2->ending)
        kc__conn_count_ending(h2->conn, reason);
    kc__h2_end(h2, code);
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

static kc__h2_stream *first_h2_stream_of(const kc_dlist *list)
{
    kc_dlist_link *link = kc_dlist_first(list);
    return link ? kc_container_of(link, kc__h2_stream, timed) : NULL;
}

static int64_t first_deadline(const kc_dlist *list, int64_t timeout)
{
    kc__h2_stream *first = first_h2_stream_of(list);
    return first ? later(first->since, timeout) : KC_FOREVER;
}

static int64_t next_deadline(const kc__h2 *h2)
{
    const kc__http_limits *limits = h2->conn->limits;
    int64_t head = later(h2->head_since, limits->head_timeout);
    int64_t body = first_deadline(&h2->reading, limits->body_timeout);
    int64_t write = first_deadline(&h2->sending, limits->write_timeout);
    int64_t idle = h2->open ? KC_FOREVER : later(h2->idle_since, limits->idle_timeout);
    return KC_MIN(KC_MIN(KC_MIN(head, body), KC_MIN(write, idle)), h2->noticed_by);
}

static void expire_bodies(kc__h2 *h2)
{
    while (first_deadline(&h2->reading, h2->conn->limits->body_timeout) <= h2->now) {
        kc__h2_stream *stream = first_h2_stream_of(&h2->reading);
        stream->status = 408;
        stream->reason = KC_STR("timed out reading the body of the request");
        stream->unread = true;
        kc__conn_count_ending(h2->conn, KC__HTTP_ENDED_BODY_TIMEOUT);
        kc__h2_refuse(stream);
    }
}

/*
 * A stream has sent nothing for the timeout. It is the client's fault if the stream's window is
 * shut, or if the connection's window is and no other stream has sent anything either. Otherwise it
 * is not the stream's turn, or the transport is slow, which has its own timeout.
 */
static void expire_answers(kc__h2 *h2)
{
    int64_t timeout = h2->conn->limits->write_timeout;
    while (first_deadline(&h2->sending, timeout) <= h2->now) {
        kc__h2_stream *stream = first_h2_stream_of(&h2->sending);
        bool shut = nghttp2_session_get_stream_remote_window_size(h2->session, stream->id) <= 0;
        bool all_shut = nghttp2_session_get_remote_window_size(h2->session) <= 0 &&
                        later(h2->last_sent, timeout) <= h2->now;
        if (shut || all_shut) {
            kc__h2_stream_wait_in(stream, NULL);
            kc__conn_count_ending(h2->conn, KC__HTTP_ENDED_WRITE_TIMEOUT);
            nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
        } else {
            kc__h2_stream_wait_in(stream, &h2->sending);
        }
    }
}

/* ---- input and output ---- */

static void resume_woken(kc__h2 *h2)
{
    for (kc_dlist_link *link; (link = kc_dlist_pop(&h2->woken));) {
        kc__h2_stream *stream = kc_container_of(link, kc__h2_stream, woken);
        /* A stream that nghttp2 has not deferred has not had its read callback yet and needs no
         * resume. */
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
            abort_h2(h2, NGHTTP2_INTERNAL_ERROR);
        if (n <= 0)
            break;
        kc_buf_append(&conn->out, kc_str_of((const char *)bytes, (size_t)n));
    }
}

static void enter_h2_session(kc__h2 *h2)
{
    h2->inside = true;
    h2->now = kc_clock_now(kc__loop_clock(h2->conn->loop));
}

/* Frees answered requests as soon as their handlers have returned. */
static void drop_spent(kc__h2 *h2)
{
    for (kc_dlist_link *link; (link = kc_dlist_pop(&h2->spent));) {
        kc__h2_stream *stream = kc_container_of(link, kc__h2_stream, spent);
        kc__h2_head_end(stream);
        kc__h2_body_end(stream);
    }
}

static void leave_h2_session(kc__h2 *h2)
{
    kc__conn *conn = h2->conn;
    drop_spent(h2);
    pump(h2);
    bool over = !nghttp2_session_want_read(h2->session) && !nghttp2_session_want_write(h2->session);
    if (over && conn->disposition == KC__CONN_OPEN)
        conn->disposition = KC__CONN_CLOSE;
    conn->deadline = h2->ending || conn->disposition ? KC_FOREVER : next_deadline(h2);
    h2->inside = false;
    if (!kc_dlist_empty(&h2->woken) && conn->disposition == KC__CONN_OPEN)
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
    kc__h2_response_callbacks(callbacks);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_outbound_ack(option, MAX_QUEUED);
    nghttp2_option_set_max_continuations(option, h2->conn->limits->max_head / FRAME + 8);
    /* h2_limits.c counts resets, on our clock. */
    nghttp2_option_set_stream_reset_rate_limit(option, UINT32_MAX, UINT32_MAX);
    if (nghttp2_session_server_new2(&h2->session, callbacks, h2, option) < 0)
        abort();
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
}

static void send_settings(kc__h2 *h2)
{
    const kc__http_limits *limits = h2->conn->limits;
    enum { FIELD_OVERHEAD = 32 }; /* As in RFC 9113. */
    size_t head = limits->max_head + limits->max_headers * FIELD_OVERHEAD;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, (uint32_t)kc__h2_max_streams(h2)},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)KC_MIN(head, (size_t)UINT32_MAX)},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings, KC_COUNT(settings));
    h2->full_streams = !kc__conn_restricted(h2->conn);
    nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0,
                                          KC__H2_CONNECTION_WINDOW);
}

static void open_session(kc__conn *conn)
{
    kc__h2 *h2 = conn->session = kc_new(kc__h2);
    h2->conn = conn;
    kc_dlist_init(&h2->streams);
    kc_dlist_init(&h2->reading);
    kc_dlist_init(&h2->waiting);
    kc_dlist_init(&h2->sending);
    kc_dlist_init(&h2->woken);
    kc_dlist_init(&h2->spent);
    h2->pool = KC__H2_POOL_BODIES * conn->limits->max_body;
    enter_h2_session(h2);
    h2->head_since = h2->idle_since = h2->last_sent = h2->now;
    h2->noticed_by = KC_FOREVER;
    make_session(h2);
    send_settings(h2);
    leave_h2_session(h2);
}

/* A limit of nghttp2, or one that is found inside of it. */
static void end_calmly(kc__h2 *h2, kc__http_ending reason)
{
    kc__conn_count_ending(h2->conn, reason);
    abort_h2(h2, NGHTTP2_ENHANCE_YOUR_CALM);
}

static void receive_h2(kc__conn *conn, kc_str bytes)
{
    kc__h2 *h2 = h2_of(conn);
    if (h2->broken || conn->disposition != KC__CONN_OPEN)
        return;
    enter_h2_session(h2);
    ssize_t n = nghttp2_session_mem_recv(h2->session, (const uint8_t *)bytes.p, bytes.n);
    if (h2->calm || n == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS)
        end_calmly(h2, KC__HTTP_ENDED_HEADS);
    else if (n == NGHTTP2_ERR_FLOODED || nghttp2_session_get_outbound_queue_size(h2->session) >
                                             MAX_QUEUED + 2 * conn->limits->max_streams)
        end_calmly(h2, KC__HTTP_ENDED_FRAMES);
    else if (n < 0)
        abort_h2(h2, n == NGHTTP2_ERR_BAD_CLIENT_MAGIC ? NGHTTP2_PROTOCOL_ERROR
                                                       : NGHTTP2_INTERNAL_ERROR);
    leave_h2_session(h2);
}

static void fill_h2(kc__conn *conn)
{
    enter_h2_session(h2_of(conn));
    leave_h2_session(h2_of(conn));
}

/* ---- shutdown ---- */

/* A GOAWAY without a last stream, and a PING: requests that the client sends until it receives both
 * are served, and those that follow come on another connection. */
static void notify_client(kc__h2 *h2)
{
    nghttp2_submit_shutdown_notice(h2->session);
    nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, NULL);
}

static void refuse_further_streams(kc__h2 *h2)
{
    h2->noticed_by = KC_FOREVER;
    nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(h2->session), NGHTTP2_NO_ERROR,
                          NULL, 0);
}

void kc__h2_notice_received(kc__h2 *h2)
{
    h2->noticed = true;
    if (h2->noticed_by != KC_FOREVER)
        refuse_further_streams(h2);
}

static void h2_expired(kc__conn *conn)
{
    kc__h2 *h2 = h2_of(conn);
    enter_h2_session(h2);
    int64_t head = later(h2->head_since, conn->limits->head_timeout);
    int64_t idle = later(h2->idle_since, conn->limits->idle_timeout);
    expire_bodies(h2);
    expire_answers(h2);
    if (h2->noticed_by <= h2->now)
        refuse_further_streams(h2);
    if (head <= h2->now)
        kc__h2_end_by(h2, NGHTTP2_ENHANCE_YOUR_CALM, KC__HTTP_ENDED_HEAD_TIMEOUT);
    else if (!h2->open && idle <= h2->now)
        kc__h2_end_by(h2, NGHTTP2_NO_ERROR, KC__HTTP_ENDED_IDLE_TIMEOUT);
    leave_h2_session(h2);
}

static void retire_h2(kc__conn *conn)
{
    kc__h2 *h2 = h2_of(conn);
    enter_h2_session(h2);
    notify_client(h2);
    leave_h2_session(h2);
}

/* The first GOAWAY comes before the final one, so that a client does not lose the requests that it
 * is sending. A connection that is evicted has none, and gets no time. */
static void drain_h2(kc__conn *conn)
{
    kc__h2 *h2 = h2_of(conn);
    const bool evicted = !conn->draining;
    enter_h2_session(h2);
    conn->draining = true;
    if (h2->noticed || evicted) {
        refuse_further_streams(h2);
    } else {
        notify_client(h2);
        h2->noticed_by = h2->now + NOTICE_TIMEOUT;
    }
    leave_h2_session(h2);
}

/* True while no accepted request is open: the connection is idle or its client unauthenticated. */
static bool evictable(const kc__conn *conn, int64_t *ret_since)
{
    const kc__h2 *h2 = conn->session;
    bool reads_head = h2->head_since != KC_FOREVER;
    *ret_since = reads_head ? h2->head_since : h2->open ? h2->now : h2->idle_since;
    if (conn->authenticated)
        return !h2->n_streams && !reads_head;
    kc_dlist_each (&h2->streams, kc__h2_stream, link, stream)
        if (stream->accepted)
            return false;
    return true;
}

static void close_session(kc__conn *conn)
{
    kc__h2 *h2 = conn->session;
    if (!h2)
        return;
    h2->inside = true;
    for (kc_dlist_link *link; (link = kc_dlist_first(&h2->streams));)
        kc__h2_stream_cut_off(kc_container_of(link, kc__h2_stream, link));
    nghttp2_session_del(h2->session);
    free(h2);
    conn->session = NULL;
}

const kc__conn_protocol kc__h2_protocol = {
    .name = "h2",
    .open = open_session,
    .receive = receive_h2,
    .fill = fill_h2,
    .expired = h2_expired,
    .retire = retire_h2,
    .drain = drain_h2,
    .evictable = evictable,
    .close = close_session,
};
