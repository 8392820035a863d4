/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_head.c: request heads and their memory limits.
 *
 * A field in the HPACK table costs the client one byte and the server its whole text, so the
 * decoded size counts:
 *
 *     one head                       max_head, max_headers (h2_request.c)
 *     all heads of a connection      max_heads
 *     heads of all connections       the budget of unauthenticated requests (budget.h), until the
 *                                    request is authenticated; the share of its user afterwards
 *
 * KC__HTTP_FREE_HEAD bytes of a head are not charged. On an unauthenticated connection this applies
 * to one stream at a time; all others are charged in full.
 *
 * Until its first authenticated request a connection may open only a few streams; then a SETTINGS
 * frame allows max_streams. A server without `begin` allows them at once.
 *
 * Head and body are freed when the request is answered, unless the response has a source, which may
 * still use them (kc__h2.spent).
 */
#include "http/h2/h2_internal.h"

/* Charges grow in steps, so that not every field takes the lock of the budget. */
enum { STEP = 4096 };

static size_t charged_head(const kc__h2_stream *stream)
{
    if (stream->head <= stream->free_head)
        return 0;
    return (stream->head + STEP - 1) / STEP * STEP;
}

bool kc__h2_charge(kc__h2_stream *stream)
{
    return kc__http_charge_set(stream->h2->conn->budget, &stream->charge,
                               charged_head(stream) + stream->body.cap);
}

int kc__h2_head_add(kc__h2_stream *stream, size_t n)
{
    kc__h2 *h2 = stream->h2;
    if (n > h2->conn->limits->max_heads - KC_MIN(h2->heads, h2->conn->limits->max_heads))
        return 431;
    stream->head += n;
    h2->heads += n;
    return charged_head(stream) <= stream->charge.bytes || kc__h2_charge(stream) ? 0 : 429;
}

void kc__h2_head_end(kc__h2_stream *stream)
{
    if (stream->h2)
        stream->h2->heads -= stream->head;
    stream->head = 0;
    kc__http_headers_done(&stream->exchange.request.headers);
    kc_arena_done(&stream->arena);
}

size_t kc__h2_max_streams(const kc__h2 *h2)
{
    const kc__http_limits *limits = h2->conn->limits;
    return kc__conn_restricted(h2->conn) ? limits->max_unauthenticated_streams
                                         : limits->max_streams;
}

void kc__h2_allow_streams(kc__h2 *h2)
{
    if (h2->full_streams || kc__conn_restricted(h2->conn))
        return;
    h2->full_streams = true;
    nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE,
                            &(nghttp2_settings_entry){NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                                      (uint32_t)h2->conn->limits->max_streams},
                            1);
}
