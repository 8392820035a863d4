/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h: delivery of changes to watchers.
 *
 * The committer creates an event once; all watchers share it. Each event loop has a hub; the
 * committer posts a batch of events to each hub once, and the hub hands every event to the watchers
 * that select it: those of the whole resource, of its namespace, of its name. So the cost of a
 * change is proportional to its receivers, and an idle watcher costs only its memory.
 *
 *     watcher:  behind ──(reads the ring in batches)──▶ live ──(the hub queues events)──▶ …
 *                 │ ▲                                       │
 *                 │ └────────────(its queue is full)────────┘
 *                 └──▶ expired: no longer in the ring
 *
 * A watcher receives every event after its revision exactly once, in order. It does not evaluate
 * selectors: its owner does, because an object may enter or leave a selection with an event.
 */
#ifndef KC_APISERVER_WATCH_H
#define KC_APISERVER_WATCH_H

#include "apiserver/store/store.h"
#include "kc/ref.h"

typedef enum kc__store_event_type {
    KC__STORE_ADDED,
    KC__STORE_MODIFIED,
    KC__STORE_DELETED
} kc__store_event_type;

/* Immutable, reference-counted, any thread. Small, because there is one for every change of the
 * last minutes. */
typedef struct kc__store_event {
    kc_ref refs;
    uint16_t type; /* kc__store_event_type */
    uint16_t key_length;
    uint64_t revision;
    kc_object *object;   /* Deleted: the last state, with the revision of the deletion. */
    kc_object *previous; /* The object that was replaced or deleted; NULL for an addition. */
    char key[];          /* "namespace/name" or "name". */
} kc__store_event;

kc__store_event *kc__store_event_ref(const kc__store_event *event);
kc__store_event *kc__store_event_unref(const kc__store_event *event);
KC_AUTO_DEFINE(kc__store_event, kc__store_event_unref)

typedef struct kc__store_watcher kc__store_watcher;

typedef enum kc__store_watch_result {
    KC__STORE_WATCH_EVENT,   /* *ret_event is the next event. */
    KC__STORE_WATCH_EMPTY,   /* Up to date; `ready` is called when another event arrives. */
    KC__STORE_WATCH_EXPIRED, /* The next events are no longer available: 410. */
} kc__store_watch_result;

typedef struct kc__store_watch_opts {
    kc__watch_cache *cache;
    kc__loop *loop; /* Loop on whose thread all functions and callbacks run. */
    uint64_t since; /* Deliver events after this revision; may be in the future. */
    kc_str prefix;  /* Only keys with this prefix: "" all, "default/" a namespace. Copied. */
    kc_str key;     /* Only this key, if not empty. Copied. */
    /* Maximum number of queued events; beyond it the watcher reads the ring. Defaults to 1000 … */
    size_t max_queued;
    size_t max_bytes; /* … or their bytes. Defaults to 16 MiB, but one event always fits. */
    void (*ready)(void *user); /* An event arrived after EMPTY. Must not free the watcher. */
    void *user;
} kc__store_watch_opts;

/* Never NULL. On the loop's thread, like all functions below. */
kc__store_watcher *kc__store_watch_start(const kc__store_watch_opts *opts);
/* NULL is allowed; returns NULL. */
kc__store_watcher *kc__store_watch_stop(kc__store_watcher *watcher);
KC_AUTO_DEFINE(kc__store_watcher, kc__store_watch_stop)

/* Returns the next event, with a reference that passes to the caller. */
kc__store_watch_result kc__store_watch_next(kc__store_watcher *watcher,
                                            kc__store_event **ret_event);

/* kc__store_watch_next has returned every event of the resource up to this revision: what a
 * bookmark may report. It advances with the whole store, also if no event concerns the watcher. */
uint64_t kc__store_watch_revision(const kc__store_watcher *watcher);

/* Bytes of the queued objects. Other owners may reference them too. */
size_t kc__store_watch_queued_bytes(const kc__store_watcher *watcher);

/* Whether kc__store_watch_next has returned, or will return when called, every selected event up to
 * this revision; false while some may be in flight from the committer. For a revision that was read
 * from a cache this takes only moments. */
bool kc__store_watch_is_notified(const kc__store_watcher *watcher, uint64_t revision);
/* Posts the task to the watcher's loop once more events have arrived there. For a watcher that is
 * not yet notified: events are then in flight. */
void kc__store_watch_await(kc__store_watcher *watcher, kc__loop_task *task);

#endif
