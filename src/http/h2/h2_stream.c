/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_stream.c: the lifetime of a stream, which is an exchange with its own arena.
 *
 *                   nghttp2 closes it, or the connection is closed
 *     head, body    ──▶ freed
 *     handled       ──▶ gone: it stays until the handler responds, with or without a connection
 *     answered      ──▶ its body is done, freed
 *
 * While the connection is open, every stream is in h2->streams, including those that are gone:
 * their number is limited to max_streams, so that a client gets no more handlers by resetting
 * streams than by waiting.
 */
#include "http/h2/h2_internal.h"

kc__h2_stream *kc__h2_stream_new(kc__h2 *h2, int32_t id)
{
    const kc__http_limits *limits = h2->conn->limits;
    kc__h2_stream *stream = kc_new(kc__h2_stream);
    kc__http_request *request = &stream->exchange.request;
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
    kc_dlist_push(&h2->streams, &stream->link);
    h2->n_streams++;
    h2->open++;
    stream->free_head =
        h2->n_streams == 1 || !kc__conn_restricted(h2->conn) ? KC__HTTP_FREE_HEAD : 0;
    stream->head = stream->free_head ? 0 : sizeof(*stream);
    h2->heads += stream->head;
    return stream;
}

void kc__h2_stream_wait_in(kc__h2_stream *stream, kc_dlist *list)
{
    kc_dlist_remove(&stream->timed);
    if (!list)
        return;
    stream->since = stream->h2->now;
    kc_dlist_push(list, &stream->timed);
}

kc__h2_stream *kc__h2_stream_free(kc__h2_stream *stream)
{
    if (!stream)
        return NULL;
    kc__conn *conn = stream->h2 ? stream->h2->conn : stream->held;
    if (stream->awaits_body)
        kc__conn_abandon(conn, &stream->exchange, 0);
    kc__http_body_done(&stream->out);
    kc_dlist_remove(&stream->timed);
    kc_dlist_remove(&stream->woken);
    kc_dlist_remove(&stream->spent);
    kc__h2_body_end(stream);
    kc__h2_head_end(stream);
    kc__http_charge_end(conn->budget, &stream->charge);
    if (stream->h2) {
        kc_dlist_remove(&stream->link);
        stream->h2->n_streams--;
    }
    kc__http_shared_bytes_unref(stream->shared);
    kc_buf_done(&stream->filled);
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
    kc_dlist_remove(&stream->link);
    stream->h2->n_streams--;
    stream->h2->heads -= stream->head;
    stream->h2 = NULL;
    stream->closed = true;
    stream->exchange.gone = true;
}
