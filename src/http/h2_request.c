/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_request.c: from frames to a request.
 *
 *     HEADERS ─▶ fields, one by one ─▶ head_done ─▶ DATA … ─▶ END_STREAM ─▶ handler
 *
 * nghttp2 checks frames, order, pseudo fields and content-length, and resets what breaks the rules
 * of RFC 9113. What remains to us are limits and the request's own grammar; there, the first thing
 * that is wrong is remembered (`status`), the rest of the head is decoded without being kept, as
 * the compression demands, and at its end the client gets an answer it can read rather than a
 * reset.
 *
 * Trailers are read and dropped. A stream without a kc__h2_stream is one we refused: whatever comes
 * for it is skipped.
 */
#include "http/h2_internal.h"

static const char too_large[] = "the body of the request is too large";

static kc__h2_stream *stream_of(nghttp2_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session, id);
}

/* The first reason counts. */
static void find_fault(kc__h2_stream *stream, int status, const char *reason)
{
    if (stream->status)
        return;
    stream->status = status;
    stream->reason = kc_arena_str(&stream->arena, kc_cstr(reason));
}

void kc__h2_refuse(kc__h2_stream *stream)
{
    const kc__refusal *custom = &stream->h2->conn->limits->too_large;
    bool customized = stream->status == 413 && custom->body.n;
    kc__h2_body_end(stream);
    kc__exchange_answer(
        &stream->exchange,
        &(kc__answer){.status = stream->status,
                      .type = customized ? custom->type : KC_STR("text/plain; charset=utf-8"),
                      .body = customized ? custom->body : stream->reason});
}

/* ---- the head ---- */

/*
 * Streams that are reset while a handler works on them count as well, so the handlers at work are
 * never more than max_streams.
 */
static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    kc__h2 *h2 = user;
    int32_t id = frame->hd.stream_id;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    if (h2->n_streams >= h2->conn->limits->max_streams)
        return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
    h2->head_since = h2->now;
    nghttp2_session_set_stream_user_data(session, id, kc__h2_stream_new(h2, id));
    /* Streams take turns, whatever the client says about them. */
    nghttp2_extpri in_turns = {.urgency = NGHTTP2_EXTPRI_DEFAULT_URGENCY, .inc = 1};
    return nghttp2_session_change_extpri_stream_priority(session, id, &in_turns, 1);
}

static void add_field(kc__h2_stream *stream, kc_str name, kc_str value)
{
    kc__headers *headers = &stream->exchange.request.headers;
    kc_scoped(kc_error) err = {0};
    if (kc__headers_add(headers, name, value, &err) < 0) {
        find_fault(stream, err.reason == KC_TOO_LARGE ? 431 : 400, kc_error_text(&err));
        return;
    }
    /* Copied now that it is known to fit. */
    kc__header *kept = kc_vec_last(&headers->list);
    kept->name = kc_arena_str(&stream->arena, kept->name);
    kept->value = kc_arena_str(&stream->arena, kept->value);
}

static void add_pseudo_field(kc__h2_stream *stream, kc_str name, kc_str value)
{
    kc__request *request = &stream->exchange.request;
    kc_str *to = kc_str_is(name, ":method") ? &request->method
                 : kc_str_is(name, ":path") ? &stream->path
                                            : NULL;
    if (kc_str_is(name, ":authority")) {
        add_field(stream, KC_STR("host"), value);
        stream->authority = kc__headers_get(&request->headers, KC_STR("host"));
    } else if (to) {
        request->headers.bytes += value.n;
        *to = kc_arena_str(&stream->arena, value);
    }
}

/* RFC 9113 lets a host field stand beside :authority if it says the same. */
static bool repeats_authority(kc__h2_stream *stream, kc_str name, kc_str value)
{
    if (!stream->authority.n || !kc_str_is(name, "host"))
        return false;
    if (!kc_str_eq_nocase(value, stream->authority))
        find_fault(stream, 400, "the host field contradicts :authority");
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
    (void)user;
    if (!stream || stream->status || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    if (name.n && name.p[0] == ':')
        add_pseudo_field(stream, name, value);
    else if (!repeats_authority(stream, name, value))
        add_field(stream, name, value);
    return 0;
}

/* nghttp2 would leave the field out and go on. */
static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame,
                             const uint8_t *name, size_t name_n, const uint8_t *value,
                             size_t value_n, uint8_t flags, void *user)
{
    kc__h2_stream *stream = stream_of(session, frame->hd.stream_id);
    (void)name, (void)name_n, (void)value, (void)value_n, (void)flags, (void)user;
    if (stream && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        find_fault(stream, 400, "a header field is not valid");
    return 0;
}

/* Cookies may come in crumbs, one field each (RFC 9113, 8.2.3); for everyone else they are one. */
static void join_cookies(kc__h2_stream *stream)
{
    kc__headers *headers = &stream->exchange.request.headers;
    kc_scoped(kc_buf) all = {0};
    kc__header *first = NULL;
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
        find_fault(stream, 400, ":path must be a path");
}

/* nghttp2 has checked that it is a number. */
static void read_length(kc__h2_stream *stream)
{
    kc_str text = kc__headers_get(&stream->exchange.request.headers, KC_STR("content-length"));
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
    if (kc__h2_body_add(stream, kc_str_of((const char *)data, n)))
        return 0;
    find_fault(stream, 413, too_large);
    stream->unread = true;
    kc__h2_refuse(stream);
    return 0;
}

static void hand_over(kc__h2_stream *stream)
{
    kc__conn *conn = stream->h2->conn;
    stream->state = KC__H2_HANDLED;
    stream->exchange.request.body = kc_buf_str(&stream->body);
    kc__h2_stream_wait_in(stream, NULL);
    conn->handle(&stream->exchange, conn->user);
}

static bool wants_continue(const kc__h2_stream *stream)
{
    kc_str expect = kc__headers_get(&stream->exchange.request.headers, KC_STR("expect"));
    return kc_str_eq_nocase(expect, KC_STR("100-continue"));
}

static void say_continue(kc__h2_stream *stream)
{
    nghttp2_nv status = {.name = (uint8_t *)":status", .value = (uint8_t *)"100", 7, 3};
    nghttp2_submit_headers(stream->h2->session, NGHTTP2_FLAG_NONE, stream->id, NULL, &status, 1,
                           NULL);
}

static void head_done(kc__h2_stream *stream, bool whole)
{
    stream->exchange.request.received = stream->h2->now;
    if (!stream->status)
        read_target(stream);
    if (!stream->status)
        read_length(stream);
    if (stream->status) {
        stream->unread = !whole;
        kc__h2_refuse(stream);
    } else {
        join_cookies(stream);
        kc__h2_body_begin(stream);
        if (whole)
            hand_over(stream);
        else if (wants_continue(stream))
            say_continue(stream);
    }
}

/* ---- frames ---- */

static void headers_came(kc__h2 *h2, kc__h2_stream *stream, const nghttp2_frame *frame)
{
    bool whole = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        h2->head_since = KC_FOREVER;
        if (stream)
            head_done(stream, whole);
    } else if (stream && whole && stream->state == KC__H2_BODY) {
        hand_over(stream);
    }
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    kc__h2 *h2 = user;
    kc__h2_stream *stream = frame->hd.stream_id ? stream_of(session, frame->hd.stream_id) : NULL;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS: headers_came(h2, stream, frame); break;
    case NGHTTP2_DATA:
        if (stream && stream->state == KC__H2_BODY && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
            hand_over(stream);
        break;
    case NGHTTP2_SETTINGS: /* The first one ends the preface. */ h2->head_since = KC_FOREVER; break;
    case NGHTTP2_RST_STREAM: kc__h2_count_reset(h2); break;
    default: break;
    }
    return 0;
}

/* Before nghttp2 looks at it: also what it skips is not for free. */
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
