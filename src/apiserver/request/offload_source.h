/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload_source.h: a body source whose chunks are produced on worker threads.
 *
 *     loop     fill ──▶ WAIT        wake ──▶ fill ──▶ the chunk, MORE
 *     worker        └──▶ a chunk ──┘
 */
#ifndef KC_APISERVER_OFFLOAD_SOURCE_H
#define KC_APISERVER_OFFLOAD_SOURCE_H

#include "apiserver/request/phases.h"

/* Produces the chunks. */
typedef struct kc__offload_source {
    kc__http_body_source body; /* `fill` runs on workers, one call at a time; `done` on the loop. */
    /* Called on the loop before and after each chunk: true aborts the body. */
    bool (*is_cancelled)(void *user);
} kc__offload_source;

typedef struct kc__offload_body kc__offload_body;

/* Sets the body source of the response to the call. The first chunk must be available at once: the
 * loop calls `fill` for it. The result is valid until `done`. */
kc__offload_body *kc__rest_respond_offloaded(kc__rest_call *call, kc__http_response *response,
                                             const kc__offload_source *inner, void *user);
/* Whether a worker is producing a chunk. On the loop. */
bool kc__offload_body_is_busy(const kc__offload_body *body);

#endif
