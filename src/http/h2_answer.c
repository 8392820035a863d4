/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_answer.c: from an answer to frames.
 *
 * nghttp2 asks for a body when the stream's turn has come and both windows have room, and the bytes
 * go straight into conn->out, from the owner's memory or from what the source filled in:
 *
 *     read_body   how much is there? A source is asked for as much as the frame can hold
 *     send_body   the frame's head and bytes into conn->out; not while that is full
 *
 * So a source is asked only for what can be sent now: the client's windows and the transport's
 * buffer hold it back. It may fill in more than asked for (an event is one piece); the rest waits
 * in `filled`, and the source is not asked again before that is sent. While a source has nothing,
 * its stream holds no buffer at all.
 *
 * A head is never held back for its body's sake, so `flush` needs nothing here.
 */
#include "http/h2_internal.h"

#include <stdio.h>

/* WINDOW_UPDATEs that a DATA frame of 16 KiB may cost: clients send one for every 4 KiB, of the
 * stream and of the connection, and twice that is no attack. */
enum { FRAMES_BACK = 16 };

/* ---- bodies ---- */

/* Asks the source until there are `room` bytes or it has no more. */
static kc__fill fill(kc__h2_stream *stream, size_t room)
{
    kc__fill verdict;
    size_t before;
    stream->waits = true; /* Unless it wakes itself meanwhile. */
    do {
        before = stream->filled.n;
        verdict = stream->source->fill(&stream->filled, room - before, stream->user);
    } while (verdict == KC__FILL_MORE && stream->filled.n > before && stream->filled.n < room);
    stream->waits = stream->waits && verdict == KC__FILL_WAIT;
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

static ssize_t read_source(kc__h2_stream *stream, size_t room, uint32_t *flags)
{
    kc__fill verdict = KC__FILL_WAIT;
    if (!stream->filled.n && !stream->filled_all && !stream->waits) {
        verdict = fill(stream, room);
        if (verdict == KC__FILL_ABORT)
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        stream->filled_all = verdict == KC__FILL_END;
    }
    size_t there = stream->filled.n - stream->filled_at;
    if (!there && !stream->filled_all)
        return put_to_sleep(stream, verdict);
    if (stream->filled_all && there <= room)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)KC_MIN(there, room);
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *user)
{
    kc__h2_stream *stream = source->ptr;
    (void)session, (void)id, (void)to, (void)user;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (stream->source)
        return read_source(stream, room, flags);
    if (stream->rest.n <= room)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)KC_MIN(stream->rest.n, room);
}

static kc_str take_body(kc__h2_stream *stream, size_t n)
{
    if (!stream->source) {
        kc_str bytes = kc_str_sub(stream->rest, 0, n);
        stream->rest = kc_str_sub(stream->rest, n, stream->rest.n);
        return bytes;
    }
    kc_str bytes = kc_str_of(stream->filled.p + stream->filled_at, n);
    stream->filled_at += n;
    return bytes;
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
    if (n)
        kc_buf_append(&h2->conn->out, take_body(stream, n));
    if (stream->filled_at == stream->filled.n) {
        kc_buf_clear(&stream->filled);
        stream->filled_at = 0;
    }
    h2->last_sent = h2->now;
    kc__h2_stream_wait_in(stream, &h2->sending);
    return 0;
}

/* ---- heads ---- */

static bool has_no_body(const kc__h2_stream *stream, int status)
{
    return status == 204 || status == 304 || status < 200 ||
           kc_str_is(stream->exchange.request.method, "HEAD");
}

static nghttp2_nv field(kc_str name, kc_str value)
{
    return (nghttp2_nv){(uint8_t *)name.p, (uint8_t *)value.p, name.n, value.n,
                        NGHTTP2_NV_FLAG_NONE};
}

/*
 * Text of a client must not become more than a value, and what frames a message is ours to say
 * (RFC 9113, 8.2.2).
 */
static bool may_be_sent(const kc__header *header)
{
    static const kc_str ours[] = {
        KC_STR_INIT("connection"), KC_STR_INIT("content-length"), KC_STR_INIT("transfer-encoding"),
        KC_STR_INIT("keep-alive"), KC_STR_INIT("upgrade"),        KC_STR_INIT("date"),
    };
    for (size_t i = 0; i < KC_COUNT(ours); i++)
        if (kc_str_eq_nocase(header->name, ours[i]))
            return false;
    return kc__is_header_name(header->name) && kc__is_header_value(header->value);
}

/* What Content-Length says; SIZE_MAX: there is none. */
static size_t content_length(const kc__answer *answer)
{
    if (answer->status == 204 || answer->status == 304 || answer->status < 200)
        return SIZE_MAX;
    if (!answer->source)
        return answer->body.n;
    return answer->length ? answer->length : SIZE_MAX;
}

static int submit(kc__h2_stream *stream, const kc__answer *answer, bool with_body)
{
    const kc_clock *clock = kc__loop_clock(stream->h2->conn->loop);
    char status[16], length[24], date[KC__HTTP_DATE];
    size_t n = 0, size = content_length(answer);
    nghttp2_nv *fields = kc_arena_calloc(&stream->arena, answer->n_headers + 4, sizeof(nghttp2_nv));
    snprintf(status, sizeof(status), "%d", answer->status);
    snprintf(length, sizeof(length), "%zu", size);
    fields[n++] = field(KC_STR(":status"), kc_cstr(status));
    for (size_t i = 0; i < answer->n_headers; i++)
        if (may_be_sent(&answer->headers[i]))
            fields[n++] = field(answer->headers[i].name, answer->headers[i].value);
    if (answer->type.n && kc__is_header_value(answer->type))
        fields[n++] = field(KC_STR("content-type"), answer->type);
    if (size != SIZE_MAX)
        fields[n++] = field(KC_STR("content-length"), kc_cstr(length));
    fields[n++] = field(KC_STR("date"), kc__http_date(kc_clock_wall(clock), date));
    nghttp2_data_provider body = {.source.ptr = stream, .read_callback = read_body};
    return nghttp2_submit_response(stream->h2->session, stream->id, fields, n,
                                   with_body ? &body : NULL);
}

/* Takes the body over, whatever becomes of it. */
static void keep_body(kc__h2_stream *stream, const kc__answer *answer)
{
    stream->source = answer->source;
    stream->user = answer->user;
    stream->owner = answer->owner;
    stream->release = answer->release;
    stream->rest = answer->source ? (kc_str){0} : answer->body;
}

static void start_answer(kc__h2_stream *stream, const kc__answer *answer)
{
    kc__h2 *h2 = stream->h2;
    bool with_body = !has_no_body(stream, answer->status) && (answer->source || answer->body.n);
    int r = submit(stream, answer, with_body);
    if (r < 0)
        nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, stream->id,
                                  NGHTTP2_INTERNAL_ERROR);
    if (r < 0 || !with_body) {
        kc__h2_stream_drop_answer(stream);
        kc__h2_stream_wait_in(stream, NULL);
        return;
    }
    if (!answer->source && !answer->release)
        stream->rest = kc_arena_str(&stream->arena, stream->rest);
    kc__h2_stream_wait_in(stream, &h2->sending);
}

static void answer(kc__exchange *x, const kc__answer *answer)
{
    kc__h2_stream *stream = kc_container_of(x, kc__h2_stream, exchange);
    kc__h2 *h2 = stream->h2;
    keep_body(stream, answer);
    stream->state = KC__H2_ANSWERED;
    if (h2 && !h2->inside)
        h2->now = kc_clock_now(kc__loop_clock(h2->conn->loop));
    if (stream->closed) {
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
