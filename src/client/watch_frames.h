/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_frames.h: a watch's bytes, cut into events.
 *
 *     kc_scoped(kc__frames) frames = {0};
 *     kc__frames_feed(&frames, bytes);
 *     kc__frame frame;
 *     while ((r = kc__frames_next(&frames, &frame, err)) > 0)
 *         …                                        frame.type is "ADDED", frame.object its JSON
 *
 * One event a line: {"type":"ADDED","object":{…}}.
 */
#ifndef KC_CLIENT_WATCH_FRAMES_H
#define KC_CLIENT_WATCH_FRAMES_H

#include "kc/buf.h"
#include "kc/error.h"

typedef struct kc__frame {
    kc_str type, object; /* Slices of the frames: valid until the next call. */
} kc__frame;

/* Zeroed is ready. */
typedef struct kc__frames {
    size_t max_line; /* Defaults to what an object may have, and some more. */
    kc_buf buf;
    size_t at;      /* The first byte that was not given. */
    size_t scanned; /* Up to here there is no end of a line. */
} kc__frames;

void kc__frames_done(kc__frames *frames);

void kc__frames_feed(kc__frames *frames, kc_str bytes);
/* 1 and the next event; 0 when more bytes must come; KC_INTERNAL for what is none, KC_TOO_LARGE for
 * a line that is longer than allowed. Empty lines are passed over. */
int kc__frames_next(kc__frames *frames, kc__frame *ret, kc_error *err);
/* Whether something has come that is no whole line. */
bool kc__frames_pending(const kc__frames *frames);

#endif
