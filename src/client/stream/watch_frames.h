/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_frames.h: splits the bytes of a watch into events.
 *
 *     kc_scoped(kc__stream_frames) frames = {0};
 *     kc__stream_frames_feed(&frames, bytes);
 *     kc__stream_frame frame;
 *     while ((r = kc__stream_frames_next(&frames, &frame, err)) > 0)
 *         …                                        frame.type is "ADDED", frame.object its JSON
 *
 * Each line is one event: {"type":"ADDED","object":{…}}.
 */
#ifndef KC_CLIENT_WATCH_FRAMES_H
#define KC_CLIENT_WATCH_FRAMES_H

#include "kc/buf.h"
#include "kc/error.h"

typedef struct kc__stream_frame {
    kc_str type, object; /* Slices of the frames' buffer: valid until the next call. */
} kc__stream_frame;

/* Ready when zero-initialized. */
typedef struct kc__stream_frames {
    size_t max_line; /* Defaults to the maximum size of an object plus some space. */
    kc_buf buf;
    size_t at;      /* Offset of the first byte not returned yet. */
    size_t scanned; /* There is no end of a line before this offset. */
} kc__stream_frames;

void kc__stream_frames_done(kc__stream_frames *frames);

void kc__stream_frames_feed(kc__stream_frames *frames, kc_str bytes);
/* Returns 1 and the next event, or 0 if more bytes are needed. KC_INTERNAL if the line is not an
 * event, KC_TOO_LARGE if it exceeds the limit. Empty lines are skipped. */
int kc__stream_frames_next(kc__stream_frames *frames, kc__stream_frame *ret, kc_error *err);
/* Returns whether an incomplete line is buffered. */
bool kc__stream_frames_pending(const kc__stream_frames *frames);

#endif
