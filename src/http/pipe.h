/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.h: bytes from another thread to the body of an answer, as fast as the client reads them.
 *
 *     kc__pipe *pipe = kc__pipe_new(clock, KC__PIPE_ROOM);
 *     kc__exchange_answer(x, &(kc__answer){.source = &kc__pipe_source,      on the loop
 *                                          .user = kc__pipe_read_by(pipe, x), …});
 *     kc__pipe_write(pipe, bytes);                                          on any thread
 *     kc__pipe_close(pipe, false);
 *     kc__pipe_unref(pipe);
 *
 * It is counted: the writer has one reference, the answer the other.
 */
#ifndef KC_HTTP_PIPE_H
#define KC_HTTP_PIPE_H

#include "http/exchange.h"
#include "kc/thread.h"

typedef struct kc__pipe kc__pipe;

/* How much waits in one, about. */
#define KC__PIPE_ROOM ((size_t)256 << 10)

/* `clock` is what its writer waits by. */
kc__pipe *kc__pipe_new(const kc_clock *clock, size_t room);
kc__pipe *kc__pipe_ref(kc__pipe *pipe);
kc__pipe *kc__pipe_unref(kc__pipe *pipe);
KC_AUTO_DEFINE(kc__pipe, kc__pipe_unref)

/* ---- the writer's end: any thread, one at a time ---- */

typedef enum kc__pipe_state {
    KC__PIPE_OPEN,
    KC__PIPE_FULL, /* Wait for `drained`. */
    KC__PIPE_GONE, /* Nobody reads any more. */
} kc__pipe_state;

kc__pipe_state kc__pipe_check(kc__pipe *pipe);
/* Takes all of it, and says whether there is room for more. Does not block. */
kc__pipe_state kc__pipe_put(kc__pipe *pipe, kc_str bytes);
/* The same, and waits for room: false when nobody reads any more. */
bool kc__pipe_write(kc__pipe *pipe, kc_str bytes);
/* Whether somebody may still read; blocks until that is no longer so, or the deadline. */
bool kc__pipe_wait_gone(kc__pipe *pipe, int64_t deadline);
/* From now on the writer finds that nobody reads; what is in it is still read. */
void kc__pipe_abandon(kc__pipe *pipe);
/* That was all; with `broken` the client notices that it was not. */
void kc__pipe_close(kc__pipe *pipe, bool broken);
/* `drained` is called on the reader's loop when a full pipe has room again, and when nobody reads
 * any more; `release` when the pipe is freed. To be said before anything is written. */
void kc__pipe_on_drained(kc__pipe *pipe, void (*drained)(void *user), void (*release)(void *user),
                         void *user);

/* ---- the reader's end: on the loop of an exchange ---- */

extern const kc__body_source kc__pipe_source;
/* The user for the source: one more reference, which the source gives back. */
void *kc__pipe_read_by(kc__pipe *pipe, kc__exchange *x);

#endif
