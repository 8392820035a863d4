/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_response.c: converts responses to frames.
 *
 * nghttp2 asks for a body when it is the stream's turn and both windows have room:
 *
 *     read_body   how much is available? Fills from the kc__http_body up to the size of a frame
 *     send_body   copies the frame's header and payload into conn->out, unless that is full
 *
 * So a source is called only for what can be sent now: the client's windows and the transport's
 * buffer limit it. It may return more than requested (an event is one piece); the rest waits in
 * `filled`, and the source is not called again before that is sent. While a source has no data, its
 * stream holds no buffer.
 *
 * A head is never delayed until its body is available, so `flush` has no effect here.
 */
#include "http/h2/h2_internal.h"
#include "http/server/response.h"

#include <stdio.h>

/* WINDOW_UPDATEs that a DATA frame of 16 KiB may cause: clients send one for every 4 KiB, for
 * the stream and for the connection, and twice that is not an attack. */
enum { FRAMES_BACK = 16 };

/* ---- bodies ---- */

/* Bytes of the body that are available and not sent. */
static size_t filled_bytes(const kc__h2_stream *stream)
{
    const size_t shared = stream->shared ? stream->shared->n - stream->shared_at : 0;
    return shared + stream->filled.n - stream->filled_at;
}

/* A sink that holds one run of shared bytes if it comes first. */
typedef struct h2_sink {
    kc__http_body_sink sink; /* First. */
    kc__h2_stream *stream;
} h2_sink;

static bool h2_share(kc__http_body_sink *sink, kc__http_shared_bytes *bytes)
{
    kc__h2_stream *stream = ((h2_sink *)sink)->stream;
    if (stream->shared || stream->filled.n || bytes->n < KC__CONN_SLICE_BYTES ||
        !stream->h2->conn->shares)
        return false;
    stream->shared = kc__http_shared_bytes_ref(bytes);
    stream->shared_at = 0;
    return true;
}

/* Fills until there are `room` bytes or no more are available. */
static kc__http_fill fill_h2_body(kc__h2_stream *stream, size_t room)
{
    h2_sink sink = {.sink = {.text = &stream->filled, .share = h2_share}, .stream = stream};
    kc__http_fill verdict;
    size_t before;
    stream->waits = true; /* Unless the source wakes the stream meanwhile. */
    do {
        before = filled_bytes(stream);
        verdict = kc__http_body_fill_sink(&stream->out, &sink.sink, room - before);
    } while (verdict == KC__HTTP_FILL_MORE && filled_bytes(stream) > before &&
             filled_bytes(stream) < room);
    /* The first fill may only return what was read when the body began, and a wake may have come
     * since. */
    stream->waits = stream->waits && stream->begun && verdict == KC__HTTP_FILL_WAIT;
    stream->begun = true;
    return verdict;
}

/* Defers a stream without data. A source that has more, but returned nothing, is called again
 * later. */
static ssize_t put_to_sleep(kc__h2_stream *stream, kc__http_fill verdict)
{
    kc_buf_done(&stream->filled);
    kc__h2_stream_wait_in(stream, NULL);
    if (verdict == KC__HTTP_FILL_MORE && !kc_dlist_is_linked(&stream->woken))
        kc_dlist_push(&stream->h2->woken, &stream->woken);
    return NGHTTP2_ERR_DEFERRED;
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *user)
{
    kc__h2_stream *stream = source->ptr;
    kc__http_fill verdict = KC__HTTP_FILL_WAIT;
    (void)session, (void)id, (void)to, (void)user;
    if (!filled_bytes(stream) && !stream->filled_all && !stream->waits) {
        verdict = fill_h2_body(stream, room);
        if (verdict == KC__HTTP_FILL_ABORT)
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        stream->filled_all = verdict == KC__HTTP_FILL_END;
    }
    const size_t there = filled_bytes(stream);
    if (!there && !stream->filled_all)
        return put_to_sleep(stream, verdict);
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (stream->filled_all && there <= room)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)KC_MIN(there, room);
}

/* Moves up to `n` of the shared bytes to the connection; returns how many. */
static size_t send_shared(kc__h2_stream *stream, size_t n)
{
    kc__conn *conn = stream->h2->conn;
    kc__http_shared_bytes *shared = stream->shared;
    if (!shared)
        return 0;
    n = KC_MIN(n, shared->n - stream->shared_at);
    if (!kc__conn_share(conn, shared, stream->shared_at, n))
        kc_buf_append(&conn->out, kc_str_of(shared->p + stream->shared_at, n));
    stream->shared_at += n;
    if (stream->shared_at == shared->n)
        stream->shared = kc__http_shared_bytes_unref(shared);
    return n;
}

static int send_body(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t n,
                     nghttp2_data_source *source, void *user)
{
    kc__h2 *h2 = user;
    kc__h2_stream *stream = source->ptr;
    enum { HEAD = 9 };
    (void)session, (void)frame;
    if (!kc__conn_room(h2->conn))
        return NGHTTP2_ERR_WOULDBLOCK;
    kc_buf_append(&h2->conn->out, kc_str_of((const char *)head, HEAD));
    n -= send_shared(stream, n);
    kc_buf_append(&h2->conn->out, kc_str_sub(kc_buf_str(&stream->filled), stream->filled_at,
                                             stream->filled_at + n));
    stream->filled_at += n;
    if (stream->filled_at == stream->filled.n) {
        kc_buf_clear(&stream->filled);
        stream->filled_at = 0;
    }
    h2->last_sent = h2->now;
    kc__h2_stream_wait_in(stream, &h2->sending);
    return 0;
}

/* ---- heads ---- */

static nghttp2_nv field(kc_str name, kc_str value)
{
    return (nghttp2_nv){(uint8_t *)name.p, (uint8_t *)value.p, name.n, value.n,
                        NGHTTP2_NV_FLAG_NONE};
}

/* Returns the value of Content-Length; SIZE_MAX: none. */
static size_t content_length(const kc__h2_stream *stream, const kc__http_response *response,
                             bool with_body)
{
    if (with_body)
        return stream->out.known ? stream->out.length : SIZE_MAX;
    if (response->status == 204 || response->status == 304 || response->status < 200)
        return SIZE_MAX;
    if (!response->source)
        return response->body.n;
    return response->length ? response->length : SIZE_MAX;
}

static int submit_h2_response(kc__h2_stream *stream, const kc__http_response *response,
                              bool with_body)
{
    char status[16], length[24];
    size_t n = 0, size = content_length(stream, response, with_body);
    nghttp2_nv *fields =
        kc_arena_calloc(&stream->arena, response->n_headers + 6, sizeof(nghttp2_nv));
    snprintf(status, sizeof(status), "%d", response->status);
    snprintf(length, sizeof(length), "%zu", size);
    fields[n++] = field(KC_STR(":status"), kc_cstr(status));
    for (size_t i = 0; i < response->n_headers; i++)
        if (kc__http_response_field_ok(&response->headers[i]))
            fields[n++] = field(response->headers[i].name, response->headers[i].value);
    if (response->type.n && kc__http_is_header_value(response->type))
        fields[n++] = field(KC_STR("content-type"), response->type);
    if (size != SIZE_MAX)
        fields[n++] = field(KC_STR("content-length"), kc_cstr(length));
    if (stream->out.gzip) {
        fields[n++] = field(KC_STR("content-encoding"), KC_STR("gzip"));
        fields[n++] = field(KC_STR("vary"), KC_STR("Accept-Encoding"));
    }
    fields[n++] = field(KC_STR("date"), kc__loop_date(stream->h2->conn->loop));
    nghttp2_data_provider body = {.source.ptr = stream, .read_callback = read_body};
    return nghttp2_submit_response(stream->h2->session, stream->id, fields, n,
                                   with_body ? &body : NULL);
}

static void start_answer(kc__h2_stream *stream, const kc__http_response *response)
{
    kc__h2 *h2 = stream->h2;
    bool with_body =
        kc__http_response_has_body(stream->exchange.request.method, response->status) &&
        (response->source || response->body.n);
    if (with_body)
        kc__http_body_begin(&stream->out, &stream->exchange.request, response);
    if (submit_h2_response(stream, response, with_body) < 0)
        nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, stream->id,
                                  NGHTTP2_INTERNAL_ERROR);
    if (!with_body)
        kc__http_response_drop(response);
    kc__h2_stream_wait_in(stream, with_body ? &h2->sending : NULL);
}

static void respond_h2(kc__exchange *x, const kc__http_response *response)
{
    kc__h2_stream *stream = kc_container_of(x, kc__h2_stream, exchange);
    kc__h2 *h2 = stream->h2;
    stream->state = KC__H2_RESPONDED;
    if (h2 && !h2->inside)
        h2->now = kc_clock_now(kc__loop_clock(h2->conn->loop));
    if (stream->closed) {
        kc__http_response_drop(response);
        kc__h2_stream_free(stream);
        return;
    }
    if (!response->source)
        kc_dlist_push(&h2->spent, &stream->spent);
    start_answer(stream, response);
    kc__h2_changed(h2);
}

static void wake_h2(kc__exchange *x)
{
    kc__h2_stream *stream = kc_container_of(x, kc__h2_stream, exchange);
    stream->waits = false;
    if (!stream->h2 || stream->closed || kc_dlist_is_linked(&stream->woken))
        return;
    kc_dlist_push(&stream->h2->woken, &stream->woken);
    kc__h2_changed(stream->h2);
}

const kc__exchange_ops kc__h2_exchange_ops = {.respond = respond_h2, .wake = wake_h2};

/* ---- sent frames ---- */

/* Returns whether the client caused the reset. */
static bool is_clients_fault(uint32_t code)
{
    return code == NGHTTP2_PROTOCOL_ERROR || code == NGHTTP2_FLOW_CONTROL_ERROR ||
           code == NGHTTP2_STREAM_CLOSED || code == NGHTTP2_REFUSED_STREAM;
}

static void count_reset_stream(kc__h2 *h2, uint32_t code)
{
    if (code == NGHTTP2_REFUSED_STREAM)
        kc__conn_count_ending(h2->conn, KC__HTTP_ENDED_STREAMS);
    kc__h2_count_reset(h2);
}

/* Answered before the whole request was read: tells the client not to send the rest (RFC 9113,
 * 8.1). */
static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    kc__h2 *h2 = user;
    kc__h2_stream *stream;
    if (frame->hd.type == NGHTTP2_RST_STREAM && is_clients_fault(frame->rst_stream.error_code))
        count_reset_stream(h2, frame->rst_stream.error_code);
    if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS)
        return 0;
    if (frame->hd.type == NGHTTP2_DATA)
        kc__h2_credit_return(&h2->frames, FRAMES_BACK);
    stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!stream || !stream->unread || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                     NGHTTP2_NO_ERROR);
}

void kc__h2_response_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_send_data_callback(callbacks, send_body);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
}
