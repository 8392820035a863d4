/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_answer.c: from an answer to frames.
 *
 * nghttp2 asks for a body when the stream's turn has come and both windows have room:
 *
 *     read_body   how much is there? The kc__body is asked for as much as the frame can hold
 *     send_body   the frame's head and bytes into conn->out; not while that is full
 *
 * So a source is asked only for what can be sent now: the client's windows and the transport's
 * buffer hold it back. It may fill in more than asked for (an event is one piece); the rest waits
 * in `filled`, and the source is not asked again before that is sent. While a source has nothing,
 * its stream holds no buffer at all.
 *
 * A head is never held back for its body's sake, so `flush` needs nothing here.
 */
#include "http/answer.h"
#include "http/h2_internal.h"

#include <stdio.h>

/* WINDOW_UPDATEs that a DATA frame of 16 KiB may cost: clients send one for every 4 KiB, of the
 * stream and of the connection, and twice that is no attack. */
enum { FRAMES_BACK = 16 };

/* ---- bodies ---- */

/* Asks for more until there are `room` bytes or there is no more. */
static kc__fill fill(kc__h2_stream *stream, size_t room)
{
    kc__fill verdict;
    size_t before;
    stream->waits = true; /* Unless it wakes itself meanwhile. */
    do {
        before = stream->filled.n;
        verdict = kc__body_fill(&stream->out, &stream->filled, room - before);
    } while (verdict == KC__FILL_MORE && stream->filled.n > before && stream->filled.n < room);
    /* At first the body may only give what it took when it began, and a wake came since. */
    stream->waits = stream->waits && stream->begun && verdict == KC__FILL_WAIT;
    stream->begun = true;
    return verdict;
}

/* Nothing to send for now. One that has more, but did not say what, is asked again later. */
static ssize_t put_to_sleep(kc__h2_stream *stream, kc__fill verdict)
{
    kc_buf_done(&stream->filled);
    kc__h2_stream_wait_in(stream, NULL);
    if (verdict == KC__FILL_MORE && !kc_link_in_list(&stream->woken))
        kc_list_push(&stream->h2->woken, &stream->woken);
    return NGHTTP2_ERR_DEFERRED;
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *user)
{
    kc__h2_stream *stream = source->ptr;
    kc__fill verdict = KC__FILL_WAIT;
    (void)session, (void)id, (void)to, (void)user;
    if (!stream->filled.n && !stream->filled_all && !stream->waits) {
        verdict = fill(stream, room);
        if (verdict == KC__FILL_ABORT)
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        stream->filled_all = verdict == KC__FILL_END;
    }
    size_t there = stream->filled.n - stream->filled_at;
    if (!there && !stream->filled_all)
        return put_to_sleep(stream, verdict);
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (stream->filled_all && there <= room)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)KC_MIN(there, room);
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

/* What Content-Length says; SIZE_MAX: there is none. */
static size_t content_length(const kc__h2_stream *stream, const kc__answer *answer, bool with_body)
{
    if (with_body)
        return stream->out.known ? stream->out.length : SIZE_MAX;
    if (answer->status == 204 || answer->status == 304 || answer->status < 200)
        return SIZE_MAX;
    if (!answer->source)
        return answer->body.n;
    return answer->length ? answer->length : SIZE_MAX;
}

static int submit(kc__h2_stream *stream, const kc__answer *answer, bool with_body)
{
    char status[16], length[24];
    size_t n = 0, size = content_length(stream, answer, with_body);
    nghttp2_nv *fields = kc_arena_calloc(&stream->arena, answer->n_headers + 6, sizeof(nghttp2_nv));
    snprintf(status, sizeof(status), "%d", answer->status);
    snprintf(length, sizeof(length), "%zu", size);
    fields[n++] = field(KC_STR(":status"), kc_cstr(status));
    for (size_t i = 0; i < answer->n_headers; i++)
        if (kc__answer_field_ok(&answer->headers[i]))
            fields[n++] = field(answer->headers[i].name, answer->headers[i].value);
    if (answer->type.n && kc__is_header_value(answer->type))
        fields[n++] = field(KC_STR("content-type"), answer->type);
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

static void start_answer(kc__h2_stream *stream, const kc__answer *answer)
{
    kc__h2 *h2 = stream->h2;
    bool with_body = kc__answer_has_body(stream->exchange.request.method, answer->status) &&
                     (answer->source || answer->body.n);
    if (with_body)
        kc__body_begin(&stream->out, &stream->exchange.request, answer);
    if (submit(stream, answer, with_body) < 0)
        nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, stream->id,
                                  NGHTTP2_INTERNAL_ERROR);
    if (!with_body)
        kc__answer_drop(answer);
    kc__h2_stream_wait_in(stream, with_body ? &h2->sending : NULL);
}

static void answer(kc__exchange *x, const kc__answer *answer)
{
    kc__h2_stream *stream = kc_container_of(x, kc__h2_stream, exchange);
    kc__h2 *h2 = stream->h2;
    stream->state = KC__H2_ANSWERED;
    if (h2 && !h2->inside)
        h2->now = kc_clock_now(kc__loop_clock(h2->conn->loop));
    if (stream->closed) {
        kc__answer_drop(answer);
        kc__h2_stream_free(stream);
        return;
    }
    start_answer(stream, answer);
    kc__h2_changed(h2);
}

static void wake(kc__exchange *x)
{
    kc__h2_stream *stream = kc_container_of(x, kc__h2_stream, exchange);
    stream->waits = false;
    if (!stream->h2 || stream->closed || kc_link_in_list(&stream->woken))
        return;
    kc_list_push(&stream->h2->woken, &stream->woken);
    kc__h2_changed(stream->h2);
}

const kc__exchange_ops kc__h2_exchange_ops = {.answer = answer, .wake = wake};

/* ---- what went out ---- */

/* Resets that the client brought about; the others are ours. */
static bool is_clients_fault(uint32_t code)
{
    return code == NGHTTP2_PROTOCOL_ERROR || code == NGHTTP2_FLOW_CONTROL_ERROR ||
           code == NGHTTP2_STREAM_CLOSED || code == NGHTTP2_REFUSED_STREAM;
}

/* Answered without having read all of it: the client is told not to send the rest (RFC 9113, 8.1).
 */
static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    kc__h2 *h2 = user;
    kc__h2_stream *stream;
    if (frame->hd.type == NGHTTP2_RST_STREAM && is_clients_fault(frame->rst_stream.error_code))
        kc__h2_count_reset(h2);
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

void kc__h2_answer_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_send_data_callback(callbacks, send_body);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
}
