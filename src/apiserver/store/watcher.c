/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watcher.c: a watcher: its position in the history, and a queue of undelivered events.
 *
 * A watcher starts behind, even if it requests a future revision, and reads the ring part by part
 * as its owner takes events. When it has read everything, it joins its hub and is live: the hub
 * queues events for it. A live watcher whose queue is full is behind again, with its queue: a burst
 * of changes ends no watch. A watcher that is behind expires if the ring drops events that it has
 * not read.
 *
 * Invariant: selected events up to `position` were returned or are queued, in order; every queued
 * event is newer than the returned ones.
 *
 * Threads: the loop's thread only.
 */
#include "apiserver/store/store_internal.h"

#define MAX_QUEUED 1000
#define MAX_BYTES  ((size_t)16 << 20)

kc__store_watcher *kc__store_watch_start(const kc__store_watch_opts *opts)
{
    kc__store_watcher *w = kc_calloc(1, sizeof(*w) + opts->prefix.n + opts->key.n);
    char *text = (char *)(w + 1);
    if (opts->prefix.n)
        memcpy(text, opts->prefix.p, opts->prefix.n);
    if (opts->key.n)
        memcpy(text + opts->prefix.n, opts->key.p, opts->key.n);
    w->interest.prefix = kc_str_of(text, opts->prefix.n);
    w->interest.key = kc_str_of(text + opts->prefix.n, opts->key.n);
    w->cache = opts->cache;
    w->hub = kc__store_watch_hub_of(opts->cache->store, opts->loop);
    w->position = opts->since;
    w->max_queued = opts->max_queued ? opts->max_queued : MAX_QUEUED;
    w->max_bytes = opts->max_bytes ? opts->max_bytes : MAX_BYTES;
    w->ready = opts->ready;
    w->user = opts->user;
    return w;
}

/* ---- the queue ---- */

static kc__store_event **queued(const kc__store_watcher *w, size_t i)
{
    return &w->queue[(w->first + i) & (w->room - 1)];
}

static size_t size_of(const kc__store_event *event)
{
    return kc_object_size(event->object) + (event->previous ? kc_object_size(event->previous) : 0);
}

static void queue_free(kc__store_watcher *w)
{
    if (w->queue != w->few)
        free(w->queue);
    w->queue = NULL;
}

/* A few events, the usual case, need no allocation. */
static void grow(kc__store_watcher *w)
{
    size_t room = KC_MAX(w->room * 2, KC_COUNT(w->few));
    kc__store_event **queue = w->room ? kc_reallocarray(NULL, room, sizeof(*queue)) : w->few;
    for (size_t i = 0; i < w->n; i++)
        queue[i] = *queued(w, i);
    queue_free(w);
    w->queue = queue;
    w->first = 0;
    w->room = room;
}

/* Takes over the reference. */
static void push(kc__store_watcher *w, kc__store_event *event)
{
    if (w->n == w->room)
        grow(w);
    *queued(w, w->n++) = event;
    w->bytes += size_of(event);
}

static kc__store_event *pop(kc__store_watcher *w)
{
    kc__store_event *event = *queued(w, 0);
    w->first = (w->first + 1) & (w->room - 1);
    w->n--;
    w->bytes -= size_of(event);
    if (w->n == 0) { /* An idle watcher keeps no allocated queue. */
        queue_free(w);
        w->first = w->room = 0;
    }
    return event;
}

static void clear(kc__store_watcher *w)
{
    while (w->n)
        kc__store_event_unref(pop(w));
}

kc__store_watcher *kc__store_watch_stop(kc__store_watcher *w)
{
    if (!w)
        return NULL;
    if (w->listed)
        kc__store_watch_hub_leave(w->hub, w);
    kc_dlist_remove(&w->waking);
    clear(w);
    kc__store_watch_hub_unref(w->hub);
    free(w);
    return NULL;
}

/* ---- the hub's side ---- */

static bool watcher_queue_fits(const kc__store_watcher *w, const kc__store_event *event)
{
    return w->n == 0 || (w->n < w->max_queued && w->bytes + size_of(event) <= w->max_bytes);
}

void kc__store_watcher_offer(kc__store_watcher *w, const kc__store_event *event)
{
    if (w->phase != KC__STORE_WATCHER_LIVE || event->revision <= w->joined_at ||
        !kc__store_key_filter_matches(&w->interest, kc__store_event_key(event)))
        return;
    /* The events of one revision stay together: the ring is read from a revision on. */
    if (event->revision > w->position && !watcher_queue_fits(w, event)) {
        /* It leaves the list when its owner takes events: the list is being iterated. */
        w->phase = KC__STORE_WATCHER_BEHIND;
        return;
    }
    w->position = event->revision;
    push(w, kc__store_event_ref(event));
    if (w->waiting)
        kc_dlist_push(&w->hub->waking, &w->waking);
    w->waiting = false;
}

/* As a watcher whose queue is full, it stays in the list. */
void kc__store_watcher_expire(kc__store_watcher *w)
{
    if (w->phase != KC__STORE_WATCHER_LIVE)
        return;
    w->phase = KC__STORE_WATCHER_EXPIRED;
    if (w->waiting)
        kc_dlist_push(&w->hub->waking, &w->waking);
    w->waiting = false;
}

/* ---- the owner's side ---- */

/* Queues the next part of the ring, joins the hub if there is none, or expires. */
static void catch_up(kc__store_watcher *w)
{
    kc__store_ring_part part;
    if (w->listed)
        kc__store_watch_hub_leave(w->hub, w);
    w->listed = false;
    const uint64_t revision = kc__store_revision(w->cache->store);
    if (!kc__store_ring_read(&w->cache->ring, w->position, revision, &w->interest, &part)) {
        w->phase = KC__STORE_WATCHER_EXPIRED;
        return;
    }
    for (size_t i = 0; i < part.n; i++)
        push(w, part.events[i]);
    w->position = part.reached;
    if (w->n == 0 && kc__store_watch_hub_join(w->hub, w)) {
        w->phase = KC__STORE_WATCHER_LIVE;
        w->joined_at = w->position;
        w->listed = true;
    }
}

kc__store_watch_result kc__store_watch_next(kc__store_watcher *w, kc__store_event **ret_event)
{
    while (w->n == 0 && w->phase == KC__STORE_WATCHER_BEHIND)
        catch_up(w);
    if (w->n) {
        *ret_event = pop(w);
        return KC__STORE_WATCH_EVENT;
    }
    if (w->phase == KC__STORE_WATCHER_EXPIRED)
        return KC__STORE_WATCH_EXPIRED;
    w->waiting = true;
    return KC__STORE_WATCH_EMPTY;
}

uint64_t kc__store_watch_revision(const kc__store_watcher *w)
{
    if (w->n)
        return (*queued(w, 0))->revision - 1;
    if (w->phase == KC__STORE_WATCHER_LIVE)
        return KC_MAX(w->position, kc__store_watch_hub_revision(w->hub));
    return w->position;
}

size_t kc__store_watch_queued_bytes(const kc__store_watcher *w)
{
    return w->bytes + (w->queue == w->few ? 0 : w->room * sizeof(*w->queue));
}

void kc__store_watch_await(kc__store_watcher *w, kc__loop_task *task)
{
    kc_vec_push(&w->hub->awaiting, task);
}

bool kc__store_watch_is_notified(const kc__store_watcher *w, uint64_t revision)
{
    /* A watcher that is behind reads the ring, which contains everything up to the store's
     * revision. */
    uint64_t delivered = w->phase == KC__STORE_WATCHER_LIVE ? kc__store_watch_hub_revision(w->hub)
                                                            : kc__store_revision(w->cache->store);
    return delivered >= revision;
}
