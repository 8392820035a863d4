/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watcher.c: one who watches: where it stands, and a queue of events it has not taken yet.
 *
 * It begins behind, even if it asks for what is still to come, and reads the ring a part at a time,
 * as its owner takes events. Once it has read everything it joins its hub and is live: the hub
 * queues events for it. A watcher that is behind can expire but cannot lag, since nothing is queued
 * that it did not ask for; a live one can lag but not expire.
 *
 * Invariant: events that concern it and are not beyond `position` were returned or are queued, in
 * order; everything queued is beyond what was returned. On its loop's thread only.
 */
#include "apiserver/store/store_internal.h"

#define MAX_QUEUED 1000
#define MAX_BYTES  ((size_t)16 << 20)

kc__watcher *kc__watch_start(const kc__watch_opts *opts)
{
    kc__watcher *w = kc_calloc(1, sizeof(*w) + opts->prefix.n + opts->key.n);
    char *text = (char *)(w + 1);
    if (opts->prefix.n)
        memcpy(text, opts->prefix.p, opts->prefix.n);
    if (opts->key.n)
        memcpy(text + opts->prefix.n, opts->key.p, opts->key.n);
    w->interest.prefix = kc_str_of(text, opts->prefix.n);
    w->interest.key = kc_str_of(text + opts->prefix.n, opts->key.n);
    w->cache = opts->cache;
    w->hub = kc__hub_of(opts->cache->store, opts->loop);
    w->position = opts->since;
    w->max_queued = opts->max_queued ? opts->max_queued : MAX_QUEUED;
    w->max_bytes = opts->max_bytes ? opts->max_bytes : MAX_BYTES;
    w->ready = opts->ready;
    w->user = opts->user;
    return w;
}

/* ---- the queue ---- */

static kc__event **queued(const kc__watcher *w, size_t i)
{
    return &w->queue[(w->first + i) & (w->room - 1)];
}

static size_t size_of(const kc__event *event)
{
    return kc_object_size(event->object) + (event->previous ? kc_object_size(event->previous) : 0);
}

static void grow(kc__watcher *w)
{
    size_t room = KC_MAX(w->room * 2, 4);
    kc__event **queue = kc_reallocarray(NULL, room, sizeof(*queue));
    for (size_t i = 0; i < w->n; i++)
        queue[i] = *queued(w, i);
    free(w->queue);
    w->queue = queue;
    w->first = 0;
    w->room = room;
}

/* Takes over the reference. */
static void push(kc__watcher *w, kc__event *event)
{
    if (w->n == w->room)
        grow(w);
    *queued(w, w->n++) = event;
    w->bytes += size_of(event);
}

static kc__event *pop(kc__watcher *w)
{
    kc__event *event = *queued(w, 0);
    w->first = (w->first + 1) & (w->room - 1);
    w->n--;
    w->bytes -= size_of(event);
    if (w->n == 0) { /* An idle watcher holds no more than itself. */
        free(kc_take(w->queue));
        w->first = w->room = 0;
    }
    return event;
}

static void clear(kc__watcher *w)
{
    while (w->n)
        kc__event_unref(pop(w));
}

kc__watcher *kc__watch_stop(kc__watcher *w)
{
    if (!w)
        return NULL;
    if (w->phase == KC__LIVE || w->phase == KC__LAGGED)
        kc__hub_leave(w->hub, w);
    kc_list_remove(&w->waking);
    clear(w);
    kc__hub_unref(w->hub);
    free(w);
    return NULL;
}

/* ---- given by the hub ---- */

static bool fits(const kc__watcher *w, const kc__event *event)
{
    return w->n == 0 || (w->n < w->max_queued && w->bytes + size_of(event) <= w->max_bytes);
}

/* It stays listed until its owner stops it: the list is being walked. */
static void lag(kc__watcher *w)
{
    w->position = (*queued(w, 0))->revision - 1;
    w->phase = KC__LAGGED;
    clear(w);
}

void kc__watcher_offer(kc__watcher *w, const kc__event *event)
{
    if (w->phase != KC__LIVE || event->revision <= w->position ||
        !kc__interest_has(&w->interest, kc__event_key(event)))
        return;
    if (!fits(w, event)) {
        lag(w);
        return;
    }
    w->position = event->revision;
    push(w, kc__event_ref(event));
    if (w->waiting)
        kc_list_push(&w->hub->waking, &w->waking);
    w->waiting = false;
}

/* ---- taken by the owner ---- */

/* Queues the next part of the ring; joins the hub when there is none; or expires. */
static void catch_up(kc__watcher *w)
{
    kc__ring_part part;
    const uint64_t revision = kc__store_revision(w->cache->store);
    if (!kc__ring_read(&w->cache->ring, w->position, revision, &w->interest, &part)) {
        w->phase = KC__EXPIRED;
        return;
    }
    for (size_t i = 0; i < part.n; i++)
        push(w, part.events[i]);
    w->position = part.reached;
    if (w->n == 0 && kc__hub_join(w->hub, w))
        w->phase = KC__LIVE;
}

kc__watch_state kc__watch_next(kc__watcher *w, kc__event **ret_event)
{
    while (w->n == 0 && w->phase == KC__BEHIND)
        catch_up(w);
    if (w->n) {
        *ret_event = pop(w);
        return KC__WATCH_EVENT;
    }
    if (w->phase == KC__EXPIRED)
        return KC__WATCH_EXPIRED;
    if (w->phase == KC__LAGGED)
        return KC__WATCH_LAGGED;
    w->waiting = true;
    return KC__WATCH_EMPTY;
}

uint64_t kc__watch_revision(const kc__watcher *w)
{
    if (w->n)
        return (*queued(w, 0))->revision - 1;
    if (w->phase == KC__LIVE)
        return KC_MAX(w->position, kc__hub_revision(w->hub));
    return w->position;
}

bool kc__watch_is_told(const kc__watcher *w, uint64_t revision)
{
    /* One that is behind reads the ring, which has everything up to the store's revision. */
    uint64_t told =
        w->phase == KC__LIVE ? kc__hub_revision(w->hub) : kc__store_revision(w->cache->store);
    return told >= revision;
}
