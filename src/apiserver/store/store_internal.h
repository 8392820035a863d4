/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_internal.h: what the files of the store share. docs/internals/store.md shows how they fit
 * together.
 *
 * Locks, in their order; each is held for moments, never across I/O or a callback:
 *
 *     store.queue     what waits for the committer
 *     store.naming    the table of caches
 *     store.joining   who watches what, and the step of the revision
 *     ring.mutex      a resource's recent events (under joining, or alone)
 *     cache.keeping   its kept snapshots
 *     store.judging   whether writes work
 */
#ifndef KC_APISERVER_STORE_INTERNAL_H
#define KC_APISERVER_STORE_INTERNAL_H

#include "apiserver/store/watch.h"

#include "kc/arena.h"
#include "kc/list.h"
#include "kc/map.h"
#include "kc/thread.h"

typedef struct kc__hub kc__hub;

/* ---- event.c ---- */

/* Takes references of the objects; copies the key. */
kc__event *kc__event_new(kc__event_type type, uint64_t revision, kc_str key,
                         const kc_object *object, const kc_object *previous);
static inline kc_str kc__event_key(const kc__event *event)
{
    return kc_str_of(event->key, event->key_length);
}
/* What is freed with it once it leaves its ring: the object of an addition or a change is still in
 * the tree, or is counted by the event that replaced it. */
size_t kc__event_weight(const kc__event *event);

/* Which keys somebody wants. Both empty: all. */
typedef struct kc__interest {
    kc_str prefix, key;
} kc__interest;

bool kc__interest_has(const kc__interest *interest, kc_str key);

/* ---- ring.c: the recent events of one resource, in order of their revisions ---- */

typedef struct kc__ring {
    kc_mutex mutex; /* Guards all that follows. */
    kc__event **events;
    size_t first, n, room; /* `room` is a power of two, or 0. */
    uint64_t oldest;       /* Complete after this revision. */
} kc__ring;

enum { KC__RING_PART = 64 };

/* Some events, with references that are the reader's. */
typedef struct kc__ring_part {
    kc__event *events[KC__RING_PART];
    size_t n;
    uint64_t reached; /* All that is wanted up to here (going back: down to here) is in it. */
} kc__ring_part;

void kc__ring_init(kc__ring *ring, uint64_t oldest);
void kc__ring_done(kc__ring *ring);
/* Takes a reference. Only the committer. */
void kc__ring_push(kc__ring *ring, const kc__event *event);
/* The oldest event, with the ring's reference; there must be one. Only the committer. */
kc__event *kc__ring_drop(kc__ring *ring);
uint64_t kc__ring_oldest(kc__ring *ring);
/* The first events after a revision, up to and including another. False when it no longer has
 * them. Any thread. */
bool kc__ring_read(kc__ring *ring, uint64_t after, uint64_t up_to, const kc__interest *interest,
                   kc__ring_part *ret_part);
/* The last ones, newest first. */
bool kc__ring_read_back(kc__ring *ring, uint64_t after, uint64_t up_to, kc__ring_part *ret_part);
/* Whether who has read up to `after` has missed nothing up to `up_to`. */
bool kc__ring_is_read(kc__ring *ring, uint64_t after, uint64_t up_to);

/* ---- recent.c: the events of all rings in one order, and what they weigh ---- */

typedef struct kc__recent_entry {
    kc__cache *cache;
    int64_t since; /* Monotonic. */
} kc__recent_entry;

/* Of the committer alone. */
typedef struct kc__recent {
    kc__recent_entry *entries;
    size_t first, n, room; /* As in a ring. */
    size_t bytes;
} kc__recent;

void kc__recent_done(kc__recent *recent);
/* Puts an event into its cache's ring. */
void kc__recent_add(kc__recent *recent, kc__cache *cache, const kc__event *event, int64_t now);
/* Drops what is older than `age` or beyond `bytes`. */
void kc__recent_trim(kc__recent *recent, int64_t now, int64_t age, size_t bytes);

/* ---- kept.c: snapshots of the past that pages come back for ---- */

enum { KC__KEPT = 16 };

typedef struct kc__kept_entry {
    uint64_t revision;
    kc_cow_snapshot *snapshot; /* NULL: a free place. */
    int64_t used;              /* Monotonic. */
} kc__kept_entry;

typedef struct kc__kept {
    kc_mutex keeping; /* Guards the entries. */
    kc__kept_entry entries[KC__KEPT];
} kc__kept;

void kc__kept_init(kc__kept *kept);
void kc__kept_done(kc__kept *kept);
void kc__kept_put(kc__kept *kept, uint64_t revision, kc_cow_snapshot *snapshot, int64_t now);
/* The nearest one that is not before `revision`, with a reference, or NULL. */
kc_cow_snapshot *kc__kept_find(kc__kept *kept, uint64_t revision, int64_t now,
                               uint64_t *ret_revision);
/* Forgets what nobody used since `before`. */
void kc__kept_sweep(kc__kept *kept, int64_t before);

/* ---- cache.c ---- */

/* A loop on which somebody watches a cache. */
typedef struct kc__audience {
    kc__hub *hub;
    size_t watchers;
} kc__audience;

struct kc__cache {
    kc__store *store;
    kc_str prefix;               /* Its own text, behind the struct. */
    size_t number;               /* Its place among all caches. */
    kc_cow_tree *tree;           /* Written by the committer. */
    _Atomic uint64_t changed_at; /* The revision published last. */
    bool changed;                /* The committer's: the tree is ahead of what is published. */
    kc__ring ring;
    kc__kept kept;
    KC_VEC(kc__audience) audience; /* Guarded by store.joining. */
};

kc__cache *kc__cache_new(kc__store *store, kc_str prefix, size_t number);
kc__cache *kc__cache_free(kc__cache *cache);
/* The prefix of a key in the storage, "/registry/GROUP/RESOURCE/"; empty when it has none. */
kc_str kc__cache_prefix_of(kc_str stored_key);

/* ---- store_metrics.c ---- */

/* All NULL where nobody measures. */
typedef struct kc__store_metrics {
    kc_histogram *took, *changes;
    kc_counter *conflicts, *failures;
    kc_gauge *events, *event_bytes;
} kc__store_metrics;

int kc__store_metrics_init(kc__store_metrics *ret_metrics, kc_metrics *registry, kc_error *err);

/* ---- store.c ---- */

struct kc__store {
    kc__store_opts opts; /* Defaults filled in. */
    kc_storage *storage;
    _Atomic uint64_t revision; /* Everything up to here is visible. Stepped under `joining`. */
    uint64_t oldest;           /* Events before this were never read. Set once. */

    kc_mutex naming; /* Guards the next two. */
    kc_map caches;   /* By prefix. */
    KC_VEC(kc__cache *) by_number;

    kc_mutex queue; /* Guards the next five. */
    kc_cond submitted;
    kc__write *first, *last; /* Linked by `next`. */
    size_t unfinished;       /* Submitted, and `done` has not returned. */
    bool closing;

    kc_mutex joining; /* Guards the next one, all audiences, and the step of `revision`. */
    KC_VEC(kc__hub *) hubs;

    kc_mutex judging; /* Guards the next three. */
    kc_error trouble; /* Why the last commit failed; zeroed when it did not. */
    int64_t troubled; /* When it did. */
    bool given_up;    /* The storage does not know what it holds: no write can work any more. */

    kc_thread *committer;
    kc__recent recent; /* The committer's. */
    kc__store_metrics metrics;
};

/* Says what became of a commit; NULL: it worked. */
void kc__store_judge(kc__store *store, const kc_error *trouble);
bool kc__store_given_up(kc__store *store, kc_error *ret_trouble);
void kc__error_copy(kc_error *to, const kc_error *from);

/* ---- store_load.c ---- */

/* Fills the trees and the rings from the storage. */
int kc__store_load(kc__store *store, kc_error *err);

/* ---- committer.c ---- */

/* The committer's thread: until the store is closed and every write is finished. */
void kc__committer_run(void *store);
/* `n` writes are done with. Any thread. */
void kc__store_finished(kc__store *store, size_t n);

/* ---- batch.c ---- */

/* A change on its way: already in the tree, not yet published. */
typedef struct kc__change {
    kc__cache *cache;
    kc__event *event;
} kc__change;

typedef struct kc__batch {
    kc__store *store;
    uint64_t revision; /* Of the store, after the changes so far. */
    KC_VEC(kc__write *) writes;
    KC_VEC(kc__change) changes;
    KC_VEC(kc_storage_op) ops; /* One for each change. */
    KC_VEC(kc_storage_result) results;
    KC_VEC(kc__cache *) changed;
    kc_arena keys;
} kc__batch;

void kc__batch_done(kc__batch *batch);
/* Decides, stores, publishes and tells the hubs; fills every write's answer. Empties all but the
 * writes. */
void kc__batch_run(kc__batch *batch);

/* ---- answer.c ---- */

/* Lets `done` of each write run on its loop, in their order. */
void kc__answer(kc__batch *batch);

/* ---- hub.c ---- */

typedef struct kc__watch_list {
    kc_list watchers;
    kc_str key; /* Its own text, behind the struct. */
} kc__watch_list;

/* Those who watch one cache on one loop. */
typedef struct kc__section {
    kc_list all;         /* Of the whole resource, or of an unusual prefix. */
    kc_map by_namespace; /* "default/": a kc__watch_list. */
    kc_map by_key;
} kc__section;

struct kc__hub {
    kc_ref refs; /* The store's, each watcher's, each delivery's under way. */
    kc__store *store;
    kc__loop *loop;
    /* The last revision of which something was, or is about to be, posted. Written under
     * store.joining, before the store's revision. */
    _Atomic uint64_t posted;
    bool marked; /* The committer's. */

    /* Of the loop's thread: */
    uint64_t delivered;             /* Everything up to here was given to the watchers. */
    KC_VEC(kc__section *) sections; /* By the number of the cache; NULL: nobody. */
    kc_list waking;                 /* Watchers to be told. */
};

/* The hub of a loop, made when there is none, with a reference. */
kc__hub *kc__hub_of(kc__store *store, kc__loop *loop);
kc__hub *kc__hub_unref(kc__hub *hub);
/* Every event up to this revision was given to the hub's watchers. On the loop's thread. */
uint64_t kc__hub_revision(kc__hub *hub);
/* If the watcher has missed nothing so far, lists it, and from now on it gets every event. */
bool kc__hub_join(kc__hub *hub, kc__watcher *watcher);
void kc__hub_leave(kc__hub *hub, kc__watcher *watcher);
/* Makes the batch's revision the store's, and posts its events where somebody watches. By the
 * committer. */
void kc__hubs_tell(kc__store *store, const kc__batch *batch);

/* ---- watcher.c ---- */

typedef enum kc__watcher_phase {
    KC__BEHIND, /* Reads the ring. */
    KC__LIVE,   /* Listed in the hub. */
    KC__EXPIRED,
    KC__LAGGED, /* Still listed, but given nothing more. */
} kc__watcher_phase;

struct kc__watcher {
    kc__hub *hub;
    kc__cache *cache;
    kc__watcher_phase phase;
    kc_link link;         /* In a list of its section; while it is live or lagged. */
    kc__watch_list *list; /* That list, if it is of a namespace or a key. */
    kc_link waking;
    bool waiting; /* The owner was told EMPTY. */
    /* What concerns it up to here is returned or queued. */
    uint64_t position;
    kc__event **queue;
    size_t first, n, room; /* As in a ring. */
    size_t bytes;          /* Of what is queued. */
    size_t max_queued, max_bytes;
    void (*ready)(void *user);
    void *user;
    kc__interest interest; /* Its own text, behind the struct. */
};

/* Queues an event that concerns the watcher. By its hub. */
void kc__watcher_offer(kc__watcher *watcher, const kc__event *event);

#endif
