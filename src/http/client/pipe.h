/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.h: passes bytes from another thread to the body of a response, as fast as the client reads
 * them.
 *
 *     kc__pipe *pipe = kc__pipe_new(clock, KC__PIPE_ROOM);
 *     kc__exchange_respond(x, &(kc__http_response){.source = &kc__pipe_source,      on the loop
 *                                          .user = kc__pipe_read_by(pipe, x), …});
 *     kc__pipe_write(pipe, bytes);                                          on any thread
 *     kc__pipe_close(pipe, false);
 *     kc__pipe_unref(pipe);
 *
 * A pipe is reference-counted: the writer holds one reference, the response the other.
 */
#ifndef KC_HTTP_PIPE_H
#define KC_HTTP_PIPE_H

#include "http/server/exchange.h"
#include "kc/thread.h"

typedef struct kc__pipe kc__pipe;

/* Approximate capacity. */
#define KC__PIPE_ROOM ((size_t)256 << 10)

/* `clock` is the clock by which the writer waits. */
kc__pipe *kc__pipe_new(const kc_clock *clock, size_t room);
kc__pipe *kc__pipe_ref(kc__pipe *pipe);
kc__pipe *kc__pipe_unref(kc__pipe *pipe);
KC_AUTO_DEFINE(kc__pipe, kc__pipe_unref)

/* ---- the writer's end: any thread, one at a time ---- */

typedef enum kc__pipe_state {
    KC__PIPE_OPEN,
    KC__PIPE_FULL, /* Wait for `drained`. */
    KC__PIPE_GONE, /* The reader is gone. */
} kc__pipe_state;

kc__pipe_state kc__pipe_check(kc__pipe *pipe);
/* Accepts all bytes and returns whether there is room for more. Does not block. */
kc__pipe_state kc__pipe_put(kc__pipe *pipe, kc_str bytes);
/* The same, but waits for room. Returns false if the reader is gone. */
bool kc__pipe_write(kc__pipe *pipe, kc_str bytes);
/* Blocks until the reader is gone or the deadline has passed. Returns whether the reader is
 * gone. */
bool kc__pipe_wait_gone(kc__pipe *pipe, int64_t deadline);
/* From now on the writer gets KC__PIPE_GONE; buffered bytes are still delivered. */
void kc__pipe_abandon(kc__pipe *pipe);
/* Ends the body; with `broken` it is aborted so that the client detects the truncation. */
void kc__pipe_close(kc__pipe *pipe, bool broken);
/* `drained` is called on the reader's loop when a full pipe has room again and when the reader
 * is gone; `release` when the pipe is freed. Must be set before the first write. */
void kc__pipe_on_drained(kc__pipe *pipe, void (*drained)(void *user), void (*release)(void *user),
                         void *user);

/* ---- the reader's end: on the loop of an exchange ---- */

extern const kc__http_body_source kc__pipe_source;
/* Returns the `user` of the source: another reference, which the source drops. */
void *kc__pipe_read_by(kc__pipe *pipe, kc__exchange *x);

#endif
