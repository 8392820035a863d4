/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h: how changes reach those who watch.
 *
 * An event is made once, by the committer, and shared by all. Each loop has a hub; the committer
 * posts a batch of events to each hub once, and the hub gives every event to the watchers it
 * concerns: those of the whole resource, of its namespace, of its name. So a change costs what its
 * receivers cost, and an idle watcher costs nothing but its memory.
 *
 *     watcher:  behind ──(reads the ring in batches)──▶ live ──(the hub queues events)──▶ …
 *                  └──▶ expired: the ring no longer has it              └──▶ lagged: too slow,
 * closed
 *
 * A watcher sees every event after its revision exactly once, in order. It does not know selectors:
 * its owner does, because an event may enter or leave a selection.
 */
#ifndef KC_APISERVER_WATCH_H
#define KC_APISERVER_WATCH_H

#include "apiserver/store/store.h"
#include "kc/ref.h"

typedef enum kc__event_type { KC__ADDED, KC__MODIFIED, KC__DELETED } kc__event_type;

/* Immutable, counted, any thread. Small: there is one for every change of the last minutes. */
typedef struct kc__event {
    kc_ref refs;
    uint16_t type; /* kc__event_type */
    uint16_t key_length;
    uint64_t revision;
    kc_object *object;   /* Deleted: the last state, with the revision of the deletion. */
    kc_object *previous; /* What it replaced or deleted; NULL for an addition. */
    char key[];          /* "namespace/name" or "name". */
} kc__event;

kc__event *kc__event_ref(const kc__event *event);
kc__event *kc__event_unref(const kc__event *event);
KC_AUTO_DEFINE(kc__event, kc__event_unref)

typedef struct kc__watcher kc__watcher;

typedef enum kc__watch_state {
    KC__WATCH_EVENT,   /* *ret_event is the next one. */
    KC__WATCH_EMPTY,   /* Up to date; `ready` will be called when there is more. */
    KC__WATCH_EXPIRED, /* It asked for what is no longer kept: 410. */
    KC__WATCH_LAGGED,  /* It did not keep up: its queue was full. */
} kc__watch_state;

typedef struct kc__watch_opts {
    kc__cache *cache;
    kc__loop *loop;    /* Whose thread calls everything here. */
    uint64_t since;    /* Events after this revision; one to come is waited for. */
    kc_str prefix;     /* Only keys that begin with it: "" all, "default/" a namespace. Copied. */
    kc_str key;        /* Only this one, if not empty. Copied. */
    size_t max_queued; /* Events; beyond them it lags. Defaults to 1000 … */
    size_t max_bytes;  /* … or their bytes. Defaults to 16 MiB, but one event always fits. */
    void (*ready)(void *user); /* An event came after EMPTY. Must not free the watcher. */
    void *user;
} kc__watch_opts;

/* Never NULL. On the loop's thread, as all of the following. */
kc__watcher *kc__watch_start(const kc__watch_opts *opts);
/* NULL is allowed; returns NULL. */
kc__watcher *kc__watch_stop(kc__watcher *watcher);
KC_AUTO_DEFINE(kc__watcher, kc__watch_stop)

/* The next event, with a reference that is the caller's. */
kc__watch_state kc__watch_next(kc__watcher *watcher, kc__event **ret_event);

/* Every event of the resource up to this revision has been returned by kc__watch_next: what a
 * bookmark may say. It grows with the whole store, also when nothing concerns the watcher. */
uint64_t kc__watch_revision(const kc__watcher *watcher);

/* Whether kc__watch_next has returned every event that concerns it up to this revision, or will
 * when it is asked: false while some may be on their way from the committer. Of a revision that
 * somebody has seen in a cache that is a matter of moments. */
bool kc__watch_is_told(const kc__watcher *watcher, uint64_t revision);

#endif
