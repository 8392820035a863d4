/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_output.h: the output of a watch in one turn of the loop: bytes for a connection, or objects
 * for a client in the same process (exchange.h).
 */
#ifndef KC_APISERVER_WATCH_OUTPUT_H
#define KC_APISERVER_WATCH_OUTPUT_H

#include "apiserver/verbs/watch_frames.h"

typedef struct kc__rest_watch_output {
    kc__http_body_sink *bytes;     /* Either this … */
    kc__exchange_item_sink *items; /* … or this. */
    size_t room; /* Bytes that may still be written in this turn; 0: the turn is over. */
} kc__rest_watch_output;

/* Renders an object and writes it: a bookmark, an object of the initial state. */
void kc__rest_watch_put(kc__rest_watch_output *out, kc__rest_renderer *renderer,
                        kc__exchange_item_type type, const kc_object *object);
/* The same for any event, without a shared frame. */
void kc__rest_watch_put_unshared(kc__rest_watch_output *out, kc__rest_renderer *renderer,
                                 const kc__rest_watch_change *change);
/* The same for any event; uses the shared frame if there is one. */
void kc__rest_watch_put_change(kc__rest_watch_output *out, kc__rest_near_frames *near,
                               kc__rest_renderer *renderer, const kc__rest_watch_change *change);
/* Writes an event that a worker has rendered: a frame; an object. Either may be NULL. */
void kc__rest_watch_put_frame(kc__rest_watch_output *out, kc__http_shared_bytes *frame);
void kc__rest_watch_put_object(kc__rest_watch_output *out, kc__exchange_item_type type,
                               const kc_object *object);
/* Writes an ERROR event with the Status of an error. */
void kc__rest_watch_put_error(kc__rest_watch_output *out, const kc_error *err);

#endif
