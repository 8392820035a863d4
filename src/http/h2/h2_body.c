/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_body.c: request bodies and their memory limits.
 *
 * A request is handled when it is complete, so its body is buffered until then. Many streams with
 * large bodies must neither exhaust memory nor block each other. Therefore:
 *
 *     every stream     may send 64 KiB (its initial window): most bodies are smaller
 *     a larger body    first reserves its whole size in the connection's pool, which holds four
 *                      bodies of the maximum size; then its window is opened once, for all of it
 *
 * Reservations are first come, first served, and are returned when the exchange ends or is refused.
 * A stream with a reservation can finish without any other stream, so there is no deadlock; a
 * stream without one is held by flow control, and its body timeout starts with the reservation. The
 * connection's window is returned as soon as bytes are read: only the streams' windows bound the
 * memory. So a client can make the server buffer max_streams * 64 KiB + 4 * max_body of bodies: 28
 * MiB by default. In addition, received bytes are charged to the budget of all connections
 * (budget.h): a body that does not fit is refused.
 *
 * A body without content-length reserves the maximum size after it has used half of the initial
 * window. Its window is one byte larger than the maximum, so that a body that is too large is
 * detected.
 */
#include "http/h2/h2_internal.h"

static bool is_announced(const kc__h2_stream *stream)
{
    return stream->length != SIZE_MAX;
}

static size_t needed(const kc__h2_stream *stream)
{
    return is_announced(stream) ? stream->length : stream->h2->conn->limits->max_body;
}

static void grant_window(kc__h2_stream *stream)
{
    size_t size = needed(stream), window = KC_MIN(size + 1, (size_t)INT32_MAX);
    stream->reserved = size;
    stream->h2->pool -= size;
    nghttp2_session_set_local_window_size(stream->h2->session, NGHTTP2_FLAG_NONE, stream->id,
                                          (int32_t)window);
    kc__h2_stream_wait_in(stream, &stream->h2->reading);
}

static void grant_waiting_windows(kc__h2 *h2)
{
    kc_dlist_each (&h2->waiting, kc__h2_stream, timed, stream) {
        if (needed(stream) > h2->pool)
            break;
        grant_window(stream);
    }
}

static void request_reservation(kc__h2_stream *stream)
{
    if (needed(stream) <= KC__H2_STREAM_WINDOW)
        return;
    stream->reserving = true;
    kc__h2_stream_wait_in(stream, &stream->h2->waiting);
    grant_waiting_windows(stream->h2);
}

void kc__h2_body_begin(kc__h2_stream *stream, size_t max)
{
    stream->state = KC__H2_BODY;
    stream->body.limit = KC_MIN(max, stream->length); /* Upper limit of the doubling buffer. */
    kc__h2_stream_wait_in(stream, &stream->h2->reading);
    if (is_announced(stream))
        request_reservation(stream);
}

/* Memory grows with the received size, not with the announced one. */
int kc__h2_body_add(kc__h2_stream *stream, kc_str bytes)
{
    size_t before = stream->body.cap;
    if (bytes.n > stream->body.limit - stream->body.n)
        return 413;
    kc_buf_append(&stream->body, bytes);
    if (!stream->reserving && !is_announced(stream) && stream->body.n > KC__H2_STREAM_WINDOW / 2)
        request_reservation(stream);
    bool paid = stream->body.cap == before || kc__h2_charge(stream);
    return paid && !stream->body.failed ? 0 : 429;
}

void kc__h2_body_end(kc__h2_stream *stream)
{
    kc_buf_done(&stream->body);
    if (stream->h2 && stream->charge.bytes)
        kc__h2_charge(stream);
    if (!stream->h2 || !stream->reserved)
        return;
    stream->h2->pool += stream->reserved;
    stream->reserved = 0;
    grant_waiting_windows(stream->h2);
}
