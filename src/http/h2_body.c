/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_body.c: request bodies, and how much memory they may take.
 *
 * A request is handled when it is whole, so until then its body is kept. Many streams with large
 * bodies must neither take all memory nor wait for each other for ever. Therefore:
 *
 *     every stream     may send 64 KiB (its initial window), unasked: most bodies are smaller
 *     a larger body    first needs room for all of itself in the connection's pool, which holds
 *                      four of the largest; then its window is opened once, for all of it
 *
 * Room is given first come, first served, and comes back when the exchange ends or is refused. Who
 * has it can finish without any other stream, so there is no deadlock; who waits for it does so by
 * flow control, and its time to send begins when it gets it. The connection's window is given back
 * as soon as bytes are read: streams' windows alone are the bound. So what a client can make us
 * keep of bodies is max_streams * 64 KiB + 4 * max_body: 28 MiB by default.
 *
 * A body without content-length asks for the largest size, when it has sent half of what is free.
 * Its window is one byte larger, so that a body that is too large is seen to be.
 */
#include "http/h2_internal.h"

static bool is_announced(const kc__h2_stream *stream)
{
    return stream->length != SIZE_MAX;
}

static size_t needed(const kc__h2_stream *stream)
{
    return is_announced(stream) ? stream->length : stream->h2->conn->limits->max_body;
}

static void give_room(kc__h2_stream *stream)
{
    size_t size = needed(stream), window = KC_MIN(size + 1, (size_t)INT32_MAX);
    stream->reserved = size;
    stream->h2->pool -= size;
    nghttp2_session_set_local_window_size(stream->h2->session, NGHTTP2_FLAG_NONE, stream->id,
                                          (int32_t)window);
    kc__h2_stream_wait_in(stream, &stream->h2->reading);
}

static void give_room_to_those_waiting(kc__h2 *h2)
{
    kc_list_each (&h2->waiting, kc__h2_stream, timed, stream) {
        if (needed(stream) > h2->pool)
            break;
        give_room(stream);
    }
}

static void ask_for_room(kc__h2_stream *stream)
{
    if (needed(stream) <= KC__H2_STREAM_WINDOW)
        return;
    stream->asked = true;
    kc__h2_stream_wait_in(stream, &stream->h2->waiting);
    give_room_to_those_waiting(stream->h2);
}

void kc__h2_body_begin(kc__h2_stream *stream)
{
    stream->state = KC__H2_BODY;
    stream->body.limit = stream->h2->conn->limits->max_body;
    kc__h2_stream_wait_in(stream, &stream->h2->reading);
    if (is_announced(stream))
        ask_for_room(stream);
}

/* Memory grows with what came, not with what was announced. */
bool kc__h2_body_add(kc__h2_stream *stream, kc_str bytes)
{
    kc_buf_append(&stream->body, bytes);
    if (!stream->asked && !is_announced(stream) && stream->body.n > KC__H2_STREAM_WINDOW / 2)
        ask_for_room(stream);
    return !stream->body.failed;
}

void kc__h2_body_end(kc__h2_stream *stream)
{
    kc_buf_done(&stream->body);
    if (!stream->h2 || !stream->reserved)
        return;
    stream->h2->pool += stream->reserved;
    stream->reserved = 0;
    give_room_to_those_waiting(stream->h2);
}
