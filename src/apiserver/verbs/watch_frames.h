/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_frames.h: the encoded watch events (frames), one for each representation, shared by all
 * watches that send it.
 *
 *     change 17 ──┬─ JSON of v1, ADDED ─────────▶ frame ◀── watch, watch, watch …
 *                 └─ metadata of v1, MODIFIED ──▶ frame ◀── watch
 *
 * A frame is {"type":…,"object":…} and a line feed. A representation is an API version and a form:
 * the object, or its metadata alone. Tables are not shared: a row shows the object's age as of the
 * start of its watch.
 *
 * Bound: a frame is useful only while its event is delivered, so the cache keeps the newest frames,
 * up to KC__REST_FRAME_BYTES. Connections that have not sent a frame yet hold it longer; that
 * counts as memory of the connection.
 */
#ifndef KC_APISERVER_WATCH_FRAMES_H
#define KC_APISERVER_WATCH_FRAMES_H

#include "apiserver/governor/governor.h"
#include "apiserver/request/render.h"
#include "apiserver/store/watch.h"

#define KC__REST_FRAME_BYTES ((size_t)8 << 20)

typedef struct kc__rest_frames kc__rest_frames;
/* The frames that one loop has used last. The loop finds them without a lock. On the loop's thread
 * only. */
typedef struct kc__rest_near_frames kc__rest_near_frames;

/* An event of a watch, derived from a change. An object that enters a selection is ADDED, an object
 * that leaves it is DELETED. */
typedef struct kc__rest_watch_change {
    kc__exchange_item_type type;
    const kc__store_event *event; /* The change; NULL: `object` is part of the initial state. */
    const kc_object *object;      /* Of the initial state. */
} kc__rest_watch_change;

/* The object to send, with a reference for the caller. For an object that leaves a selection, this
 * is its last state in the selection with the revision of the change. If the object is in the
 * version of the renderer already, it sets renderer->as_stored. NULL: it cannot be served. */
kc_object *kc__rest_watch_change_object(kc__rest_renderer *renderer,
                                        const kc__rest_watch_change *change);

kc__rest_frames *kc__rest_frames_new(kc_metrics *metrics, kc__memory_account *memory,
                                     kc_error *err);
/* All watches must be closed. NULL is allowed; returns NULL. */
kc__rest_frames *kc__rest_frames_free(kc__rest_frames *frames);

kc__rest_near_frames *kc__rest_near_frames_new(kc__rest_frames *frames);
/* NULL is allowed; returns NULL. */
kc__rest_near_frames *kc__rest_near_frames_free(kc__rest_near_frames *near);

/* Whether the frame of the change is shared: frames of the initial state and of tables are not. */
bool kc__rest_frames_has(const kc__rest_renderer *renderer, const kc__rest_watch_change *change);

/* The shared frame of a change, encoded if it is not cached; NULL if the object cannot be served.
 * The caller drops the reference. Encoding holds a lock for up to half a millisecond: workers
 * encode longer frames (watch_render.h). */
kc__http_shared_bytes *kc__rest_frames_get(kc__rest_near_frames *near,
                                           const kc__rest_renderer *renderer,
                                           const kc__rest_watch_change *change);
/* The frame, if it is cached. Any thread, as the following functions. */
kc__http_shared_bytes *kc__rest_frames_find(kc__rest_frames *frames,
                                            const kc__rest_renderer *renderer,
                                            const kc__rest_watch_change *change);
/* Adds a frame that was encoded elsewhere. Takes a reference. */
void kc__rest_frames_add(kc__rest_frames *frames, const kc__rest_renderer *renderer,
                         const kc__rest_watch_change *change, kc__http_shared_bytes *frame);

/* Appends the bytes of an event; nothing for an object that cannot be served, because the client
 * has not seen it. */
void kc__rest_frame_write(kc__rest_renderer *renderer, kc_buf *out, kc__exchange_item_type type,
                          const kc_object *object);

#endif
