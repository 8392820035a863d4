/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_stream.c: the life of a stream, which is an exchange with its own arena.
 *
 *                   nghttp2 closes it, or the connection goes
 *     head, body    ──▶ freed
 *     handled       ──▶ gone: it stays until the handler answers, with or without a connection
 *     answered      ──▶ its body is done with, freed
 *
 * While the connection lives, every stream is in h2->streams, those that are gone too: together
 * they are no more than max_streams, so that resetting does not get a client more handlers than
 * waiting would.
 */
#include "http/h2_internal.h"

kc__h2_stream *kc__h2_stream_new(kc__h2 *h2, int32_t id)
{
    const kc__http_limits *limits = h2->conn->limits;
    kc__h2_stream *stream = kc_new(kc__h2_stream);
    kc__request *request = &stream->exchange.request;
    stream->exchange.loop = h2->conn->loop;
    stream->exchange.ops = &kc__h2_exchange_ops;
    stream->h2 = h2;
    stream->id = id;
    stream->length = SIZE_MAX;
    request->arena = &stream->arena;
    request->peer = &h2->conn->peer;
    request->protocol = "HTTP/2.0";
    request->headers.max_count = limits->max_headers;
    request->headers.max_bytes = limits->max_head;
    kc_list_push(&h2->streams, &stream->link);
    h2->n_streams++;
    h2->open++;
    return stream;
}

void kc__h2_stream_wait_in(kc__h2_stream *stream, kc_list *list)
{
    kc_list_remove(&stream->timed);
    if (!list)
        return;
    stream->since = stream->h2->now;
    kc_list_push(list, &stream->timed);
}

kc__h2_stream *kc__h2_stream_free(kc__h2_stream *stream)
{
    if (!stream)
        return NULL;
    kc__body_done(&stream->out);
    kc_list_remove(&stream->timed);
    kc_list_remove(&stream->woken);
    kc__h2_body_end(stream);
    if (stream->h2) {
        kc_list_remove(&stream->link);
        stream->h2->n_streams--;
    }
    kc_buf_done(&stream->filled);
    kc__headers_done(&stream->exchange.request.headers);
    kc_arena_done(&stream->arena);
    if (stream->held)
        kc__conn_unhold(stream->held);
    free(stream);
    return NULL;
}

void kc__h2_stream_closed(kc__h2_stream *stream)
{
    kc__h2 *h2 = stream->h2;
    stream->closed = true;
    if (stream->state == KC__H2_HEAD)
        h2->head_since = KC_FOREVER;
    if (--h2->open == 0)
        h2->idle_since = h2->now;
    if (stream->state == KC__H2_HANDLED)
        stream->exchange.gone = true;
    else
        kc__h2_stream_free(stream);
}

void kc__h2_stream_cut_off(kc__h2_stream *stream)
{
    if (stream->state != KC__H2_HANDLED) {
        kc__h2_stream_free(stream);
        return;
    }
    stream->held = stream->h2->conn;
    kc__conn_hold(stream->held);
    kc_list_remove(&stream->link);
    stream->h2->n_streams--;
    stream->h2 = NULL;
    stream->closed = true;
    stream->exchange.gone = true;
}
