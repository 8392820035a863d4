/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_render.h: renders watch events on worker threads if their objects take long to render.
 *
 * Events of most built-in kinds are the stored bytes. Objects of custom resources are converted
 * with the schema of the watched version, and those of a few built-in versions are converted, too;
 * a long object takes milliseconds, too long for a loop. One worker renders the event, and all
 * watches that send it wait for that worker.
 *
 *     loop ── kc__rest_watch_render_start ──▶ job: key, object ──▶ worker ──▶ frame or object
 *     another loop, the same event ────▶ joins the job ◀──────────────── `ready` on each loop
 */
#ifndef KC_APISERVER_WATCH_RENDER_H
#define KC_APISERVER_WATCH_RENDER_H

#include "apiserver/verbs/watch_frames.h"

/* The jobs in progress, of all loops. */
typedef struct kc__rest_watch_renders kc__rest_watch_renders;

kc__rest_watch_renders *kc__rest_watch_renders_new(void);
/* All watches must be closed. NULL is allowed; returns NULL. */
kc__rest_watch_renders *kc__rest_watch_renders_free(kc__rest_watch_renders *renders);

/* The parameters of a watch's render jobs. Lives as long as the watch. */
typedef struct kc__rest_watch_render_opts {
    kc__rest_api *api;
    kc__loop *loop;
    kc__rest_catalog *catalog; /* Keeps the renderer's resource alive. */
    kc_str user_name;          /* The user, for fair sharing of workers. */
    bool items;                /* Render objects instead of frames. */
    void (*ready)(void *user); /* Called on the loop when the event is rendered. */
    void *user;
} kc__rest_watch_render_opts;

/* A watch that waits for a rendered event. On the loop's thread. */
typedef struct kc__rest_watch_wait kc__rest_watch_wait;

/* Whether rendering the change takes so long that a worker must do it. */
bool kc__rest_watch_render_is_long(const kc__rest_renderer *renderer,
                                   const kc__rest_watch_change *change);

/* NULL if no worker accepts the job: the loop must render the event. */
kc__rest_watch_wait *kc__rest_watch_render_start(const kc__rest_watch_render_opts *opts,
                                                 const kc__rest_renderer *renderer,
                                                 const kc__rest_watch_change *change);
bool kc__rest_watch_wait_is_over(const kc__rest_watch_wait *wait);
/* After the end: the frame, or the object. Both NULL: it cannot be served. Owned by the wait. */
kc__http_shared_bytes *kc__rest_watch_wait_frame(const kc__rest_watch_wait *wait);
const kc_object *kc__rest_watch_wait_object(const kc__rest_watch_wait *wait);
/* May be called at any time. NULL is allowed; returns NULL. */
kc__rest_watch_wait *kc__rest_watch_wait_free(kc__rest_watch_wait *wait);

#endif
