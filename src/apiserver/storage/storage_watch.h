/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_watch.h: the open watches of a backend that can walk its events from any revision of its
 * history. The backend calls all functions under its own lock.
 */
#ifndef KC_APISERVER_STORAGE_WATCH_H
#define KC_APISERVER_STORAGE_WATCH_H

#include "apiserver/storage/storage.h"

#include "kc/dlist.h"

/* Calls `each` for every event after `since`, in order. */
typedef int kc__storage_walk_fn(void *backend, uint64_t since, kc__storage_event_fn *each,
                                void *user, kc_error *err);

/* All zero, except for the list. */
typedef struct kc__storage_watches {
    kc_dlist list;
    kc__storage_walk_fn *walk;
    void *backend;
} kc__storage_watches;

void kc__storage_watches_init(kc__storage_watches *watches, kc__storage_walk_fn *walk,
                              void *backend);
/* Delivers the past events and adds the watch. `revision` is the latest. */
int kc__storage_watches_add(kc__storage_watches *watches, const kc__storage_watch_opts *opts,
                            uint64_t revision, kc__storage_watch **ret_watch, kc_error *err);
void kc__storage_watches_remove(kc__storage_watch *watch);
/* Delivers the events committed up to `revision`. */
void kc__storage_watches_tell(kc__storage_watches *watches, uint64_t revision);

#endif
