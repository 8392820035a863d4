/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.h: the body of a response as a carrier pulls it: text or a source, compressed or not, with
 * one interface. HTTP/1.1 and HTTP/2 only add their framing.
 *
 *     kc__http_body_begin(&body, &x->request, answer);        takes text, owner and source
 *     … the head: body.gzip, body.known ? Content-Length: body.length : chunks …
 *     while (room) switch (kc__http_body_fill_sink(&body, &sink, room)) …
 *     kc__http_body_done(&body);                              at any point
 */
#ifndef KC_HTTP_BODY_H
#define KC_HTTP_BODY_H

#include "http/message/gzip.h"
#include "http/server/exchange.h"
#include "kc/buf.h"

typedef struct kc__http_body {
    bool known;     /* The body will have `length` bytes. */
    size_t length;  /* Size on the wire. */
    kc__gzip *gzip; /* Not NULL: Content-Encoding: gzip. */

    /* Private. */
    kc_str rest; /* Remaining text. */
    void *owner;
    void (*release)(void *owner);
    const kc__http_body_source *source;
    void *user;
    kc__http_fill last; /* Last result of the source. */
    kc_buf stage;       /* Read from the source, not sent yet. */
    size_t sent;        /* Uncompressed bytes. */
    size_t promised;    /* Length promised by the source; 0: unknown. */
} kc__http_body;

/* Returns whether a response to `method` with this status has a body. */
bool kc__http_response_has_body(kc_str method, int status);

/* Takes ownership of the response's content; text without an owner is copied. May call the
 * source, to decide whether a body of unknown length is worth compressing. */
void kc__http_body_begin(kc__http_body *body, const kc__http_request *request,
                         const kc__http_response *response);

/*
 * Appends about `room` bytes to the text of the sink; a source with shared bytes passes them to a
 * sink that takes them. May return KC__HTTP_FILL_MORE without appending anything (compression holds
 * output back; one piece of text is processed at a time, so that other connections get their turn).
 * Must not be called again after END and ABORT. A source that breaks its promised length gives
 * ABORT.
 */
kc__http_fill kc__http_body_fill_sink(kc__http_body *body, kc__http_body_sink *sink, size_t room);

/* Releases the text and ends the source. Idempotent, and allowed on a zero-initialized body. */
void kc__http_body_done(kc__http_body *body);

/* Discards a response that is not sent: releases the text and ends the source. */
void kc__http_response_drop(const kc__http_response *response);

#endif
