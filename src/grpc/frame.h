/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h: messages on a stream of gRPC, and the text of a timeout. Pure.
 *
 *     ┌──────────────┬────────────────────┬─────────┐
 *     │ compressed 1 │ length 4 (big-end) │ message │ …
 *     └──────────────┴────────────────────┴─────────┘
 *
 * A message may be split over DATA frames of HTTP/2 anywhere, and a DATA frame may hold several.
 */
#ifndef KC_GRPC_FRAME_H
#define KC_GRPC_FRAME_H

#include "grpc/status.h"

enum { KC__GRPC_PREFIX = 5 };

/* Appends a message with its prefix. */
void kc__grpc_frame_write(kc_buf *out, kc_str message);

/* Cuts received bytes into messages. Zero it and set `max`. */
typedef struct kc__grpc_deframer {
    size_t max; /* Maximum size of a message. */
    unsigned char prefix[KC__GRPC_PREFIX];
    size_t n_prefix;
    bool complete;  /* `message` was returned and is dropped by the next call. */
    kc_buf message; /* A message that came in parts. */
} kc__grpc_deframer;

typedef enum kc__grpc_deframed {
    KC__GRPC_DEFRAMED_ALL,     /* No complete message is left; the bytes are consumed. */
    KC__GRPC_DEFRAMED_MESSAGE, /* *ret_message is the next message. */
    KC__GRPC_DEFRAMED_FAILED,  /* *failure is set: RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL. */
} kc__grpc_deframed;

/* Removes the next message from the front of *bytes. It is valid until the next call and as long as
 * the bytes are. Must not be called again after a failure. */
kc__grpc_deframed kc__grpc_deframe(kc__grpc_deframer *deframer, kc_str *bytes, kc_str *ret_message,
                                   kc__grpc_status *failure);
/* Moves the message that was returned last to an empty buffer; copies only if it did not come in
 * parts. */
void kc__grpc_deframer_take(kc__grpc_deframer *deframer, kc_str message, kc_buf *ret);
/* Returns whether the bytes so far end within a message. */
bool kc__grpc_deframer_is_inside(const kc__grpc_deframer *deframer);
/* Frees the contents and forgets a message that has begun; keeps `max`. */
void kc__grpc_deframer_clear(kc__grpc_deframer *deframer);

/* Size of the text of a timeout, with the terminating NUL. */
enum { KC__GRPC_TIMEOUT_TEXT = 12 };

/* Formats the field grpc-timeout, rounded up: at most eight digits and a unit, "2500000u". A
 * timeout that has passed is the shortest there is. */
kc_str kc__grpc_timeout_write(int64_t ns, char out[KC__GRPC_TIMEOUT_TEXT]);

#endif
