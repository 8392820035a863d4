/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_request.c: converts frames to requests.
 *
 *     HEADERS ─▶ fields, one by one ─▶ head_done ─▶ begin ─▶ DATA … ─▶ END_STREAM ─▶ handler
 *                                                     └─▶ answered: DATA is skipped
 *
 * nghttp2 checks frames, order, pseudo-header fields and content-length, and resets streams that
 * violate RFC 9113. This file checks limits and the syntax of the request. The first error is
 * recorded (`status`), and the rest of the head is decoded without being stored, as HPACK requires;
 * at its end the client gets a readable response instead of a reset.
 *
 * Trailers are parsed and dropped. A stream without a kc__h2_stream was refused: all its frames are
 * skipped.
 */
#include "http/h2/h2_internal.h"
#include "http/server/response.h"

static const char too_large[] = "the body of the request is too large";
static const char too_many[] = "too many requests are in flight";

static kc__h2_stream *stream_of(nghttp2_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session, id);
}

/* The first error is kept. */
static void find_fault(kc__h2_stream *stream, int status, const char *reason)
{
    if (stream->status)
        return;
    stream->status = status;
    stream->reason = kc_arena_str(&stream->arena, kc_cstr(reason));
}

void kc__h2_refuse(kc__h2_stream *stream)
{
    kc__conn *conn = stream->h2->conn;
    kc__http_response refusal =
        kc__http_response_refusal(conn->limits, stream->status, stream->reason);
    if (stream->awaits_body)
        kc__conn_abandon(conn, &stream->exchange, stream->status);
    stream->awaits_body = false;
    kc__h2_body_end(stream);
    kc__exchange_respond(&stream->exchange, &refusal);
}

/* ---- the head ---- */

/*
 * Streams that are reset while a handler works on them count as well, so there are never more than
 * max_streams running handlers.
 */
static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    kc__h2 *h2 = user;
    int32_t id = frame->hd.stream_id;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    if (h2->n_streams >= kc__h2_max_streams(h2))
        return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
    h2->head_since = h2->now;
    nghttp2_session_set_stream_user_data(session, id, kc__h2_stream_new(h2, id));
    /* Streams take turns, whatever priority the client sends. */
    nghttp2_extpri in_turns = {.urgency = NGHTTP2_EXTPRI_DEFAULT_URGENCY, .inc = 1};
    return nghttp2_session_change_extpri_stream_priority(session, id, &in_turns, 1);
}

/* Returns false if there is no room for the field. */
static bool count_field(kc__h2_stream *stream, size_t n)
{
    int status = kc__h2_head_add(stream, n);
    if (status)
        find_fault(stream, status,
                   status == 431 ? "the request heads of this connection are too large"
                                 : "too many unauthenticated requests");
    return !status;
}

static void add_field(kc__h2_stream *stream, kc_str name, kc_str value)
{
    kc__http_headers *headers = &stream->exchange.request.headers;
    kc_scoped(kc_error) err = {0};
    if (kc__http_headers_add(headers, name, value, &err) < 0) {
        find_fault(stream, err.reason == KC_TOO_LARGE ? 431 : 400, kc_error_text(&err));
        return;
    }
    kc__http_header *kept = kc_vec_last(&headers->list);
    if (!count_field(stream, kept->name.n + kept->value.n)) {
        headers->list.n--;
        return;
    }
    /* Copied only after the size check. */
    kept->name = kc_arena_str(&stream->arena, kept->name);
    kept->value = kc_arena_str(&stream->arena, kept->value);
}

static void add_pseudo_field(kc__h2_stream *stream, kc_str name, kc_str value)
{
    kc__http_request *request = &stream->exchange.request;
    kc_str *to = kc_str_is(name, ":method") ? &request->method
                 : kc_str_is(name, ":path") ? &stream->path
                                            : NULL;
    if (kc_str_is(name, ":authority")) {
        add_field(stream, KC_STR("host"), value);
        stream->authority = kc__http_headers_get(&request->headers, KC_STR("host"));
    } else if (to && count_field(stream, value.n)) {
        request->headers.bytes += value.n;
        *to = kc_arena_str(&stream->arena, value);
    }
}

/* RFC 9113 allows a host field beside :authority if the values are equal. */
static bool repeats_authority(kc__h2_stream *stream, kc_str name, kc_str value)
{
    if (!stream->authority.n || !kc_str_is(name, "host"))
        return false;
    if (!kc_str_eq_nocase(value, stream->authority))
        find_fault(stream, 400, "the host field does not match :authority");
    return true;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name_at,
                     size_t name_n, const uint8_t *value_at, size_t value_n, uint8_t flags,
                     void *user)
{
    kc__h2_stream *stream = stream_of(session, frame->hd.stream_id);
    kc_str name = kc_str_of((const char *)name_at, name_n);
    kc_str value = kc_str_of((const char *)value_at, value_n);
    (void)flags;
    if (!stream || stream->status || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return kc__h2_count_waste(user, name_n + value_n) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
    if (name.n && name.p[0] == ':')
        add_pseudo_field(stream, name, value);
    else if (!repeats_authority(stream, name, value))
        add_field(stream, name, value);
    return 0;
}

/* nghttp2 would ignore the field and continue. */
static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame,
                             const uint8_t *name, size_t name_n, const uint8_t *value,
                             size_t value_n, uint8_t flags, void *user)
{
    kc__h2_stream *stream = stream_of(session, frame->hd.stream_id);
    (void)name, (void)name_n, (void)value, (void)value_n, (void)flags, (void)user;
    if (stream && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        find_fault(stream, 400, "invalid header field");
    return 0;
}

/* Cookies may be split into several fields (RFC 9113, 8.2.3); handlers see a single field. */
static void join_cookies(kc__h2_stream *stream)
{
    kc__http_headers *headers = &stream->exchange.request.headers;
    kc_scoped(kc_buf) all = {0};
    kc__http_header *first = NULL;
    size_t kept = 0;
    kc_vec_each (&headers->list, field) {
        bool is_cookie = kc_str_is(field->name, "cookie");
        if (is_cookie) {
            kc_buf_puts(&all, first ? "; " : "");
            kc_buf_append(&all, field->value);
        }
        if (!is_cookie || !first)
            headers->list.items[kept++] = *field;
        if (is_cookie && !first)
            first = &headers->list.items[kept - 1];
    }
    if (kept < headers->list.n)
        first->value = kc_arena_str(&stream->arena, kc_buf_str(&all));
    headers->list.n = kept;
}

static void read_target(kc__h2_stream *stream)
{
    kc__target *target = &stream->exchange.request.target;
    kc_scoped(kc_error) err = {0};
    if (kc__target_parse(stream->path, NULL, &stream->arena, target, &err) < 0)
        find_fault(stream, err.code == 413 ? 414 : err.code, kc_error_text(&err));
    else if (target->authority.n)
        find_fault(stream, 400, ":path must not have an authority");
}

/* nghttp2 has validated the number. */
static void read_length(kc__h2_stream *stream)
{
    kc_str text = kc__http_headers_get(&stream->exchange.request.headers, KC_STR("content-length"));
    size_t max = stream->h2->conn->limits->max_body;
    uint64_t length;
    if (!text.n || !kc_str_to_u64(text, &length))
        return;
    stream->length = length;
    if (length > max)
        find_fault(stream, 413, too_large);
}

/* ---- the body ---- */

static int on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                         size_t n, void *user)
{
    kc__h2_stream *stream = stream_of(session, id);
    (void)flags;
    (void)user;
    nghttp2_session_consume_connection(session, n);
    if (!stream || stream->state != KC__H2_BODY)
        return 0;
    int status = kc__h2_body_add(stream, kc_str_of((const char *)data, n));
    if (!status)
        return 0;
    find_fault(stream, status, status == 413 ? too_large : too_many);
    stream->unread = true;
    kc__h2_refuse(stream);
    return 0;
}

static void dispatch_request(kc__h2_stream *stream)
{
    kc__conn *conn = stream->h2->conn;
    stream->state = KC__H2_HANDLED;
    stream->awaits_body = false;
    stream->exchange.request.body = kc_buf_str(&stream->body);
    kc__h2_stream_wait_in(stream, NULL);
    conn->handle(&stream->exchange, conn->user);
}

static bool wants_continue(const kc__h2_stream *stream)
{
    kc_str expect = kc__http_headers_get(&stream->exchange.request.headers, KC_STR("expect"));
    return kc_str_eq_nocase(expect, KC_STR("100-continue"));
}

static void send_continue(kc__h2_stream *stream)
{
    nghttp2_nv status = {.name = (uint8_t *)":status", .value = (uint8_t *)"100", 7, 3};
    nghttp2_submit_headers(stream->h2->session, NGHTTP2_FLAG_NONE, stream->id, NULL, &status, 1,
                           NULL);
}

/* Counts the decoded bytes of a large head that is refused. */
static void count_refused(kc__h2_stream *stream)
{
    if (stream->head > KC__HTTP_FREE_HEAD)
        kc__h2_count_waste(stream->h2, stream->head - KC__HTTP_FREE_HEAD);
}

/* Calls begin for a request. Returns false if it was answered. */
static bool begin_h2_request(kc__h2_stream *stream, bool end_stream, size_t *ret_max)
{
    kc__conn *conn = stream->h2->conn;
    const size_t max = conn->limits->max_body;
    kc__exchange_grant grant = {0};
    stream->state = KC__H2_HANDLED;
    if (!kc__conn_begin(conn, &stream->exchange, &grant)) {
        count_refused(stream);
        return false;
    }
    stream->accepted = stream->awaits_body = true;
    kc__h2_allow_streams(stream->h2);
    *ret_max = KC_MIN(grant.max_body ? grant.max_body : max, max);
    bool pays = stream->charge.bytes || !end_stream;
    if (pays && !kc__conn_charge(conn, &stream->charge, &grant))
        find_fault(stream, 429, too_many);
    else if (stream->length != SIZE_MAX && stream->length > *ret_max)
        find_fault(stream, 413, too_large);
    if (stream->status)
        kc__h2_refuse(stream);
    return !stream->status;
}

static void head_done(kc__h2_stream *stream, bool end_stream)
{
    size_t max;
    stream->exchange.request.received = stream->h2->now;
    stream->unread = !end_stream; /* Applies if begin answers the request. */
    if (!stream->status)
        read_target(stream);
    if (!stream->status)
        read_length(stream);
    if (stream->status) {
        count_refused(stream);
        kc__h2_refuse(stream);
        return;
    }
    join_cookies(stream);
    if (!begin_h2_request(stream, end_stream, &max))
        return;
    stream->unread = false;
    kc__h2_body_begin(stream, max);
    if (end_stream)
        dispatch_request(stream);
    else if (wants_continue(stream))
        send_continue(stream);
}

/* ---- frames ---- */

static void on_headers(kc__h2 *h2, kc__h2_stream *stream, const nghttp2_frame *frame)
{
    bool end_stream = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        h2->head_since = KC_FOREVER;
        if (stream)
            head_done(stream, end_stream);
    } else if (stream && end_stream && stream->state == KC__H2_BODY) {
        dispatch_request(stream);
    }
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    kc__h2 *h2 = user;
    kc__h2_stream *stream = frame->hd.stream_id ? stream_of(session, frame->hd.stream_id) : NULL;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS: on_headers(h2, stream, frame); break;
    case NGHTTP2_DATA:
        if (stream && stream->state == KC__H2_BODY && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
            dispatch_request(stream);
        break;
    case NGHTTP2_SETTINGS: /* The first SETTINGS frame ends the preface. */
        h2->head_since = KC_FOREVER;
        break;
    case NGHTTP2_RST_STREAM: kc__h2_count_reset(h2); break;
    case NGHTTP2_PING:
        if (frame->hd.flags & NGHTTP2_FLAG_ACK)
            kc__h2_notice_received(h2);
        break;
    default: break;
    }
    return 0;
}

/* Called before nghttp2 processes a frame: ignored frames are counted, too. */
static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd, void *user)
{
    (void)session;
    kc__h2_count_frame(user, hd);
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
    kc__h2_stream *stream = stream_of(session, id);
    (void)code;
    (void)user;
    if (stream)
        kc__h2_stream_closed(stream);
    return 0;
}

void kc__h2_request_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, on_invalid_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
}
