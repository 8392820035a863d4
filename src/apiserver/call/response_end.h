/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_end.h: observes a streamed response: a watch, a long list, a log.
 *
 *     if (!kc__rest_response_end_attach(&record->end, response, record_ended))
 *         record_ended(&record->end);      the body is complete already
 *
 * A stream ends when its last byte was passed to the connection, or the client disconnected.
 * kc__rest_response_end_attach_copy passes the bytes of the body on to the observer, too.
 */
#ifndef KC_APISERVER_RESPONSE_END_H
#define KC_APISERVER_RESPONSE_END_H

#include "http/server/exchange.h"

typedef struct kc__rest_response_end kc__rest_response_end;
typedef void kc__rest_response_ended_fn(kc__rest_response_end *end);
/* Bytes of the body, in order, before compression. On the loop's thread. */
typedef void kc__rest_response_bytes_fn(kc__rest_response_end *end, kc_str bytes);

/* Embedded by its owner, on the heap. Private. */
struct kc__rest_response_end {
    kc__rest_response_ended_fn *ended;
    kc__rest_response_bytes_fn *copy; /* NULL: the observer needs no bytes. */
    bool whole;                       /* The source has produced all of the body. */
    const kc__http_body_source *source;
    const kc__exchange_item_source *items;
    const kc__http_upgrade *upgrade;
    kc__http_upgrade own_upgrade;
    void *user;
};

/* Calls `ended` once, on the loop's thread, when the stream has ended. False, without a call: the
 * response is not streamed. Several may be attached to one response. Call it before
 * kc__exchange_respond. */
bool kc__rest_response_end_attach(kc__rest_response_end *end, kc__http_response *response,
                                  kc__rest_response_ended_fn *ended);

/* The same for a body of bytes, which `copy` receives as the client reads it. In `ended`,
 * end->whole is false if the client disconnected, or the body was aborted, before its end. False
 * also for a body of objects. */
bool kc__rest_response_end_attach_copy(kc__rest_response_end *end, kc__http_response *response,
                                       kc__rest_response_ended_fn *ended,
                                       kc__rest_response_bytes_fn *copy);

#endif
