/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.h: the body of an answer as a carrier pulls it: text or a source, compressed or not, all the
 * same from outside. HTTP/1.1 and HTTP/2 only add their framing.
 *
 *     kc__body_begin(&body, &x->request, answer);        takes over text, owner and source
 *     … the head: body.gzip, body.known ? Content-Length: body.length : chunks …
 *     while (room) switch (kc__body_fill(&body, out, room)) …
 *     kc__body_done(&body);                              also in the middle
 */
#ifndef KC_HTTP_BODY_H
#define KC_HTTP_BODY_H

#include "http/exchange.h"
#include "http/gzip.h"
#include "kc/buf.h"

typedef struct kc__body {
    bool known;     /* What will come is `length` bytes. */
    size_t length;  /* Of what will be sent. */
    kc__gzip *gzip; /* Not NULL: Content-Encoding: gzip. */

    /* Private. */
    kc_str rest; /* Text still to come. */
    void *owner;
    void (*release)(void *owner);
    const kc__body_source *source;
    void *user;
    kc__fill last;   /* What the source said at last. */
    kc_buf stage;    /* Taken from the source, not sent yet. */
    size_t sent;     /* Uncompressed. */
    size_t promised; /* By a source that knew its length; 0: it did not. */
} kc__body;

/* Whether an answer to `method` with this status has a body at all. */
bool kc__answer_has_body(kc_str method, int status);

/* Takes over what the answer holds; text without an owner is copied. May call the source: to see
 * whether a body of unknown length is worth compressing. */
void kc__body_begin(kc__body *body, const kc__request *request, const kc__answer *answer);

/*
 * Appends about `room` bytes. KC__FILL_MORE also where nothing was appended (compression keeps some
 * back; one piece of text is taken at a time, so that others get their turn). After END and ABORT
 * it is not called again. A source that gives other than it promised is ABORT.
 */
kc__fill kc__body_fill(kc__body *body, kc_buf *out, size_t room);

/* Releases the text, ends the source. Harmless twice and on a zeroed one. */
void kc__body_done(kc__body *body);

/* Ends an answer nobody wants: releases the text, ends the source. */
void kc__answer_drop(const kc__answer *answer);

#endif
