/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h: all objects, in memory for reading and in a storage for good: the committer and the
 * watch cache.
 *
 *     I/O loops ── kc__store_submit ──▶ committer ── one batch ──▶ storage (durable)
 *         ▲                                 │
 *         │                                 ├─ publishes each resource's tree, then the revision
 *         ├────────── write->done ──────────┤
 *         └── events to the loops' hubs ────┘            (watch.h)
 *
 * A resource (kc__cache) is a copy-on-write tree of its objects and a ring of its recent events.
 * Reading takes a snapshot, O(1), on any thread, and never waits for a writer. Writing is a
 * compare-and-swap handed to the one committer thread, which drains its queue, commits it as one
 * batch, and only then lets anybody see it. What `done` says was stored is durable and visible.
 *
 * Keys here are "namespace/name" or "name"; in the storage they stand under the resource's prefix.
 */
#ifndef KC_APISERVER_STORE_H
#define KC_APISERVER_STORE_H

#include "apiserver/storage/storage.h"
#include "apiserver/store/cow_tree.h"
#include "http/loop.h"
#include "kc/log.h"
#include "kc/metrics.h"

typedef struct kc__store kc__store;
typedef struct kc__cache kc__cache;

typedef struct kc__store_opts {
    kc_storage *storage;   /* Opened; the store closes it. */
    const kc_clock *clock; /* Defaults to the real one. */
    kc_log *log;
    kc_metrics *metrics;
    /* Of the rings, all together: what is older or beyond goes. Default to 5 minutes and 128 MiB
     * (bytes that only a ring still holds). */
    int64_t event_age;
    size_t event_bytes;
    size_t max_batch; /* Operations of one commit. Defaults to 512. */
} kc__store_opts;

/* Loads everything and starts the committer. Objects and events of resources that are named later
 * (kc__store_cache) are kept for them. NULL on error, and then the storage is closed too. */
kc__store *kc__store_open(const kc__store_opts *opts, kc_error *err);
/* Commits what was submitted, calls every `done`, closes the storage. Loops must still run;
 * watchers are stopped. Not from a loop's thread. NULL is allowed; returns NULL. */
kc__store *kc__store_close(kc__store *store);

/* The cache of a resource, made when asked for first. The prefix is "/registry/GROUP/RESOURCE/",
 * the group "" for the core one: four slashes, by which stored keys find their resource. Lives as
 * long as the store. Any thread. */
kc__cache *kc__store_cache(kc__store *store, kc_str prefix);

/* The revision up to which everything is visible. Any thread. */
uint64_t kc__store_revision(const kc__store *store);
/* Whether writes work: 0, or why not: the last one failed a few seconds ago, or none can work until
 * the store is opened again. For /readyz. Any thread. */
int kc__store_health(kc__store *store, kc_error *err);

/* ---- reading; any thread ---- */

/* The object with a reference, or NULL. */
kc_object *kc__cache_get(kc__cache *cache, kc_str key);

/* The newest state, and a revision it is complete up to: at least what kc__store_revision said
 * before the call, no object in it is newer. */
kc_cow_snapshot *kc__cache_snapshot(kc__cache *cache, uint64_t *ret_revision);

/*
 * The state as it was at exactly `revision`: KC_EXPIRED when recent events do not reach back so
 * far, KC_TIMEOUT (and "Too large resource version") when it is still to come. Undoes the events
 * since: linear in their number, so pages keep theirs (kc__cache_keep).
 */
kc_cow_snapshot *kc__cache_snapshot_at(kc__cache *cache, uint64_t revision, kc_error *err);
/* Remembers a snapshot under a revision for a while, so that the next page finds it in O(1). The
 * longest unused is forgotten first. */
void kc__cache_keep(kc__cache *cache, uint64_t revision, kc_cow_snapshot *snapshot);

/* Grows with every change of the resource, before anybody is told of it: for who keeps something
 * made of what is stored. Costs a load. */
uint64_t kc__cache_changed_at(const kc__cache *cache);

/* The oldest revision from which events are complete: a watch may start there. */
uint64_t kc__cache_oldest(kc__cache *cache);

/* ---- writing ---- */

typedef struct kc__write kc__write;

/* One change. Lives until `done` was called; the caller embeds it in what it keeps of the request.
 */
struct kc__write {
    kc__cache *cache;
    kc_storage_verb verb;
    kc_str key;
    uint64_t expected; /* As kc_storage_op's. */
    const kc_object
        *object;    /* Of a put: what to store; its resource version is set by the commit.
                       Of a delete: what the DELETED event shows, NULL for the last state. */
    kc__loop *loop; /* Where `done` runs. */
    void (*done)(kc__write *write);

    /* Set before `done`: */
    kc_storage_outcome outcome;
    kc_object *result; /* Stored: the object with its new revision (of a delete: as the event shows
                          it). Conflict: what is there, or NULL. The caller unreferences it. */
    uint64_t revision; /* Of the store, when it was decided. */
    kc_error error;  /* Refused: why. Either the storage failed, and then nothing was stored as far
                        as anybody may be told; or it does not take such a key or value
                        (KC_INVALID). The caller releases it. */
    kc__task task;   /* Private. */
    kc__write *next; /* Private. */
};

/* Any thread; does not block. */
void kc__store_submit(kc__store *store, kc__write *write);

#endif
