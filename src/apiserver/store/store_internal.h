/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_internal.h: declarations that the files of the store share. docs/internals/store.md shows
 * how they fit together.
 *
 * Locks, in lock order; each is held briefly, never across I/O or a callback:
 *
 *     store.queue     the writes that wait for the committer
 *     store.naming    the table of caches
 *     store.joining   the watchers of each cache, and the advance of the revision
 *     ring.mutex      a resource's recent events (under joining, or alone)
 *     cache.snapshots.mutex   the cached snapshots of a resource
 *     store.holding   the holds of old snapshots
 *     store.health_mutex   whether writes work
 */
#ifndef KC_APISERVER_STORE_INTERNAL_H
#define KC_APISERVER_STORE_INTERNAL_H

#include "apiserver/governor/governor.h"
#include "apiserver/store/watch.h"

#include "kc/arena.h"
#include "kc/dlist.h"
#include "kc/map.h"
#include "kc/thread.h"

typedef struct kc__store_watch_hub kc__store_watch_hub;
typedef struct kc__store_batch kc__store_batch;

/* ---- event.c ---- */

/* Takes references to the objects; copies the key. */
kc__store_event *kc__store_event_new(kc__store_event_type type, uint64_t revision, kc_str key,
                                     const kc_object *object, const kc_object *previous);
static inline kc_str kc__store_event_key(const kc__store_event *event)
{
    return kc_str_of(event->key, event->key_length);
}
/* Bytes that are freed when the event leaves its ring. The object of an addition or a change is
 * still in the tree, or is counted by the event that replaced it. */
size_t kc__store_event_weight(const kc__store_event *event);

/* The keys that a watch selects. If both are empty: all keys. */
typedef struct kc__store_key_filter {
    kc_str prefix, key;
} kc__store_key_filter;

bool kc__store_key_filter_matches(const kc__store_key_filter *interest, kc_str key);

/* ---- ring.c: the recent events of one resource, in order of their revisions ---- */

typedef struct kc__store_ring {
    kc_mutex mutex; /* Guards all fields below. */
    kc__store_event **events;
    size_t first, n, room; /* `room` is a power of two, or 0. */
    uint64_t oldest;       /* The ring is complete after this revision. */
} kc__store_ring;

enum { KC__STORE_RING_PART = 64 };

/* Some events; the reader owns the references. The events of a group may share a revision, and are
 * read together. */
typedef struct kc__store_ring_part {
    kc__store_event *events[KC__STORE_RING_PART + KC__STORAGE_MAX_GROUP];
    size_t n;
    /* Contains every selected event up to this revision (reading backwards: down to it). */
    uint64_t reached;
} kc__store_ring_part;

void kc__store_ring_init(kc__store_ring *ring, uint64_t oldest);
void kc__store_ring_done(kc__store_ring *ring);
/* Takes a reference. Committer only. */
void kc__store_ring_push(kc__store_ring *ring, const kc__store_event *event);
/* Removes the oldest event and passes its reference to the caller. The ring must not be empty.
 * Committer only. */
kc__store_event *kc__store_ring_drop(kc__store_ring *ring);
uint64_t kc__store_ring_oldest(kc__store_ring *ring);
/* Reads the first events after a revision, up to and including another. Returns false if the ring
 * no longer has them. Any thread. */
bool kc__store_ring_read(kc__store_ring *ring, uint64_t after, uint64_t up_to,
                         const kc__store_key_filter *interest, kc__store_ring_part *ret_part);
/* The same for the last events, newest first. */
bool kc__store_ring_read_back(kc__store_ring *ring, uint64_t after, uint64_t up_to,
                              kc__store_ring_part *ret_part);
/* Whether a reader at `after` has missed no event up to `up_to`. */
bool kc__store_ring_is_read(kc__store_ring *ring, uint64_t after, uint64_t up_to);

/* ---- recent.c: the events of all rings in order, and their size ---- */

/* Consecutive events of one ring that were added at the same time. */
typedef struct kc__store_recent_run {
    kc__watch_cache *cache;
    int64_t since; /* Monotonic time. */
    size_t n;      /* Events, at least one. */
} kc__store_recent_run;

/* Used by the committer only. */
typedef struct kc__store_recent {
    kc__store_recent_run *runs;
    size_t first, n_runs, room; /* As in a ring. */
    size_t n;                   /* Events of all runs. */
    size_t bytes;
} kc__store_recent;

void kc__store_recent_done(kc__store_recent *recent);
/* Pushes an event into its cache's ring. */
void kc__store_recent_add(kc__store_recent *recent, kc__watch_cache *cache,
                          const kc__store_event *event, int64_t now);
/* Drops the oldest events until the limits of `opts` hold. */
void kc__store_recent_trim(kc__store_recent *recent, int64_t now, const kc__store_opts *opts);
/* Drops all events. */
void kc__store_recent_clear(kc__store_recent *recent);

/* ---- snapshot_cache.c: old snapshots for the next pages of lists ---- */

enum { KC__STORE_MAX_CACHED_SNAPSHOTS = 16 };

typedef struct kc__store_cached_snapshot {
    uint64_t revision;
    kc__cow_snapshot *snapshot; /* NULL if the slot is free. */
    kc__store_hold *hold;       /* Accounts for the snapshot. */
    int64_t used;               /* Monotonic time of the last use. */
} kc__store_cached_snapshot;

typedef struct kc__store_snapshot_cache {
    kc_mutex mutex; /* Guards the entries. */
    kc__store_cached_snapshot entries[KC__STORE_MAX_CACHED_SNAPSHOTS];
} kc__store_snapshot_cache;

void kc__store_snapshot_cache_init(kc__store_snapshot_cache *cache);
void kc__store_snapshot_cache_done(kc__store_snapshot_cache *cache);
/* Takes over the hold. */
void kc__store_snapshot_cache_put(kc__store_snapshot_cache *cache, uint64_t revision,
                                  kc__cow_snapshot *snapshot, kc__store_hold *hold, int64_t now);
/* Drops the snapshot that this hold accounts for, if it is still cached. */
void kc__store_snapshot_cache_drop(kc__store_snapshot_cache *cache, const kc__store_hold *hold);
/* The nearest cached snapshot that is not before `revision`, with a reference, or NULL. */
kc__cow_snapshot *kc__store_snapshot_cache_find(kc__store_snapshot_cache *cache, uint64_t revision,
                                                int64_t now, uint64_t *ret_revision);
/* Drops the snapshots that were not used since `before`. */
void kc__store_snapshot_cache_sweep(kc__store_snapshot_cache *cache, int64_t before);

/* ---- holds.c: holds of old snapshots by readers and pages ---- */

struct kc__store_hold {
    kc_ref refs; /* Held by the owner, and by the committer while it revokes. */
    kc__watch_cache *cache;
    kc__cow_counts counts; /* Counts of the snapshot. */
    uint64_t nodes;        /* Bytes of its tree nodes. */
    size_t own; /* Bytes that no state since had: the snapshot was read from the storage. */
    _Atomic size_t cost; /* As last measured. */
    /* Sorted by `counts.replaced`. Both links are guarded by store.holding. */
    kc_dlist_link in_cache;
    kc_dlist_link in_store;      /* In chronological order. */
    kc__loop *loop;              /* The reader's loop; NULL for a cached page. */
    void (*revoked)(void *user); /* Called on the loop's thread with `user`. */
    void *user;
    kc__loop_task task;
};

/* Creates the hold of a cached page. */
kc__store_hold *kc__store_hold_new(kc__watch_cache *cache, const kc__cow_snapshot *snapshot);
/* The same for one that was read from the storage; `own` bytes are in no other state. */
kc__store_hold *kc__store_hold_storage_read(kc__watch_cache *cache,
                                            const kc__cow_snapshot *snapshot, size_t own);
/* Called when an event leaves its ring: only old snapshots hold the object it replaced from now on.
 * Committer only. */
void kc__store_holds_forget(kc__watch_cache *cache, const kc__store_event *event);
/* Called after `changes` changes were published. Committer only. */
void kc__store_holds_changed(kc__store *store, size_t changes);
/* Revokes holds beyond the budget; with `now` also if little has changed. Committer only. */
void kc__store_holds_check(kc__store *store, bool now);

/* ---- cache.c ---- */

/* A loop that has watchers of a cache. */
typedef struct kc__store_watch_audience {
    kc__store_watch_hub *hub;
    size_t watchers;
} kc__store_watch_audience;

struct kc__watch_cache {
    kc__store *store;
    kc_str prefix;               /* Stored behind the struct. */
    size_t number;               /* Index among all caches; reused. */
    kc_ref refs;                 /* One is of the table of caches. */
    bool permanent;              /* Lives as long as the store; guarded by store.naming. */
    kc__cow_tree *tree;          /* Written by the committer. */
    _Atomic uint64_t changed_at; /* Revision of the last published change. */
    bool changed;                /* Committer only: the tree has unpublished changes. */
    kc__store_ring ring;
    kc__store_snapshot_cache snapshots;
    uint64_t forgotten; /* Committer only: the part of counts.replaced that has left the ring. */
    kc_dlist holds;     /* Guarded by store.holding. */
    KC_VEC(kc__store_watch_audience) audience; /* Guarded by store.joining. */
    kc__encryption_resource resource;          /* Selects the encryption of its values. */
    const void *kind;                          /* For the functions of opts.format. */
    kc_map lossy;                              /* Of stored_value.c; the replica's thread only. */
    _Atomic size_t n_unreadable;               /* Entries of `unreadable`. */
    kc_map unreadable; /* Guarded by store.forms: key to kc__store_unreadable. */
    /* Objects up to this revision were stored under an earlier encryption configuration. */
    _Atomic uint64_t stale_until;
    _Atomic size_t n_stale; /* Entries of `stale_keys`. */
    kc_map stale_keys;      /* Guarded by store.forms: keys whose stored form is stale. */
};

kc__watch_cache *kc__watch_cache_new(kc__store *store, kc_str prefix, size_t number);
/* Frees what it has, and drops the table's reference: who still has one may only drop it. */
void kc__watch_cache_discard(kc__watch_cache *cache);

/* ---- caches.c ---- */

/* As kc__store_watch_cache, without a reference. Committer only. */
kc__watch_cache *kc__store_find_cache(kc__store *store, kc_str prefix);
/* The next cache, beginning with *at = 0; NULL after the last. Committer only. */
kc__watch_cache *kc__store_next_cache(kc__store *store, size_t *at);
/* Frees the caches that nothing needs. Committer only. */
void kc__store_free_unused_caches(kc__store *store);

/* ---- store_metrics.c ---- */

/* All NULL without a metrics registry. */
typedef struct kc__store_metrics {
    kc_histogram *took, *changes;
    kc_counter *conflicts, *failures, *recoveries;
    kc_gauge *events, *event_bytes, *snapshots, *snapshot_bytes, *watch_caches;
    kc_gauge *inbox_bytes; /* Of a replica. */
    kc_counter *inbox_waits;
    kc_counter *ended_readers, *expired_pages, *past_reads, *past_refused;
} kc__store_metrics;

int kc__store_metrics_init(kc__store_metrics *ret_metrics, kc_metrics *registry, kc_error *err);

/* A change in progress: applied to the tree, not yet published. */
typedef struct kc__store_change {
    kc__watch_cache *cache;
    kc__store_event *event;
} kc__store_change;

/* ---- recover.c: recovery from a batch of unknown outcome ---- */

typedef struct kc__store_recovery {
    bool open; /* A batch has an unknown outcome and the storage can resolve it. */
    KC_VEC(kc__store_change) changes; /* Its changes, with references; currently undone. */
    int64_t next, delay; /* When to query the storage again, and the backoff after that. */
} kc__store_recovery;

/* ---- store.c ---- */

struct kc__store {
    kc__store_opts opts; /* With defaults filled in. */
    kc__storage *storage;
    _Atomic uint64_t revision; /* All changes up to it are visible. Advanced under `joining`. */
    uint64_t oldest;           /* Rings of new caches begin after it. Guarded by naming. */

    KC_VEC(kc__store *) others; /* Stores of other storages; constant while open, as the next. */
    kc_map elsewhere;           /* Prefix of a resource to the other store that has it. */
    size_t n_taken;             /* Storages of overrides that a store has taken over. */

    kc_mutex naming;                     /* Guards the next two fields. */
    kc_map caches;                       /* By prefix. */
    KC_VEC(kc__watch_cache *) by_number; /* NULL: the number is free. */

    kc_mutex queue; /* Guards the next five fields. */
    kc_cond submitted;
    kc__store_write *first, *last; /* Linked by `next`. */
    size_t unfinished;             /* Submitted writes whose `done` has not returned. */
    bool closing;

    kc_mutex joining; /* Guards the next field, all audiences, and the advance of `revision`. */
    KC_VEC(kc__store_watch_hub *) hubs;

    kc_mutex forms; /* Guards the stale keys and the unreadable objects of all caches. */

    kc_mutex holding; /* Guards the next two fields and the holds of all caches. */
    kc_dlist holds;
    size_t n_holds;
    _Atomic bool squeezed; /* Memory is short: revoke all holds. */
    /* Committer only, as the next: the possible cost of the changes since the last check. */
    uint64_t unmeasured;
    size_t held_bytes;

    kc_mutex health_mutex; /* Guards the next three fields. */
    kc_error health_error; /* Error of the last commit; zero if it succeeded. */
    int64_t failed_since;  /* When it failed. */
    bool outcome_unknown;  /* The state of the storage is unknown: no write works until it is
                              resolved. */

    kc_thread *committer;              /* Or the thread of the replica. */
    struct kc__store_replica *replica; /* Of a shared storage; NULL: it is exclusive. */
    kc__store_recent recent;           /* Committer only. */
    kc__store_recovery recovery;       /* Committer only. */
    kc__store_metrics metrics;
};

/* As kc__store_open; NULL: makes its own metrics. */
kc__store *kc__store_open_with(const kc__store_opts *opts, const kc__store_metrics *metrics,
                               kc_error *err);

/* Records the result of a commit; NULL: it succeeded, or the storage has recovered. */
void kc__store_set_health(kc__store *store, const kc_error *health_error);
/* The same for good: the storage and the store differ. */
void kc__store_set_inconsistent(kc__store *store, const kc_error *health_error);
bool kc__store_is_failed(kc__store *store, kc_error *ret_error);
void kc__store_error_copy(kc_error *to, const kc_error *from);

/* ---- overrides.c ---- */

/* Opens the stores of the overrides. */
int kc__store_overrides_open(kc__store *store, kc_error *err);
void kc__store_overrides_close(kc__store *store);
void kc__store_overrides_done(kc__store *store);
/* Whether the objects with this prefix are in the store itself. */
bool kc__store_owns(const kc__store *store, kc_str prefix);

/* ---- store_load.c ---- */

/* Fills the trees and the rings from the storage. */
int kc__store_load(kc__store *store, kc_error *err);
/* The cache that a stored key belongs to, created if necessary; NULL on error. */
kc__watch_cache *kc__store_cache_of_key(kc__store *store, kc_str stored_key, kc_error *err);
static inline kc_str kc__store_key_in(const kc__watch_cache *cache, kc_str stored_key)
{
    return kc_str_sub(stored_key, cache->prefix.n, stored_key.n);
}

/* ---- load_history.c ---- */

/* Fills the rings; the trees have the objects at state->revision. Of a shared storage: as far as
 * the history can be read. */
int kc__store_load_history(kc__store *store, const kc__storage_state *state, kc_error *err);

/* ---- committer.c ---- */

/* The committer's thread function: returns when the store is closed and every write is finished. */
void kc__store_committer_run(void *store);
/* Moves as many writes as fit into one batch out of the queue, which must be locked. */
void kc__store_take_writes(kc__store *store, kc__store_batch *batch);
/* Drops expired events; sweeps cached snapshots and measures holds from time to time: `swept` is
 * when it last did. */
void kc__store_sweep(kc__store *store, int64_t *swept);
/* How long the thread may wait until it sweeps. */
int64_t kc__store_sweep_interval(const kc__store *store);
/* Reports that `n` writes are finished. Any thread. */
void kc__store_finished(kc__store *store, size_t n);

/* ---- batch.c ---- */

struct kc__store_batch {
    kc__store *store;
    uint64_t revision; /* The store's revision after the changes so far. */
    KC_VEC(kc__store_write *) writes;
    KC_VEC(kc__store_change) changes;
    KC_VEC(kc__storage_op) ops; /* One per change. */
    KC_VEC(kc__storage_result) results;
    KC_VEC(kc__watch_cache *) changed;
    kc_arena keys;
    kc__encryption_config *encryption; /* Encrypts the values of this batch. NULL: none. */
    KC_VEC(kc_buf) sealed;             /* Those values. */
    size_t heap_room;                  /* Bytes of objects that the heap was grown for. */
};

void kc__store_batch_done(kc__store_batch *batch);
/* Decides, stores and publishes the batch and notifies the hubs; sets the result of every write.
 * Clears everything but the writes. */
void kc__store_batch_run(kc__store_batch *batch);

/* Applies a change to the tree of its cache; takes over the reference. Readers do not see it until
 * it is published. */
void kc__store_batch_change(kc__store_batch *batch, kc__watch_cache *cache, kc__store_event *event);
/* Publishes the changes of the batch, which are complete up to a revision, and clears it. */
void kc__store_batch_publish(kc__store_batch *batch, uint64_t revision);
/* Publishes trees that were changed without events: all watchers expire. */
void kc__store_batch_replace(kc__store_batch *batch, uint64_t revision);

/* ---- stored_form.c: the encrypted form of objects ---- */

/* An object whose stored value cannot be decrypted or decoded. */
typedef struct kc__store_unreadable {
    char *key;  /* As in the storage. */
    char *text; /* Why. */
} kc__store_unreadable;

/* Registers for changes of the encryption configuration; `stop` ends that. */
void kc__store_forms_start(kc__store *store);
void kc__store_forms_stop(kc__store *store);
void kc__store_forms_done(kc__watch_cache *cache);

/* Decrypts a loaded value: *ret_plain is a part of `value` or of `out`. KC_INTERNAL: unreadable. */
int kc__store_form_open(kc__watch_cache *cache, kc_str stored_key, kc_str value, kc_buf *out,
                        kc_str *ret_plain, bool *ret_stale, kc_error *err);
/* The value to store, owned by the batch. */
int kc__store_form_seal(kc__store_batch *batch, kc__watch_cache *cache, kc_str stored_key,
                        kc_str plain, kc_str *ret_value, kc_error *err);
/* Begins and ends the use of an encryption configuration by a batch. */
void kc__store_forms_begin(kc__store_batch *batch);
void kc__store_forms_end(kc__store_batch *batch);
/* Records that an object cannot be read, and logs it; that it can, or is gone. */
void kc__store_form_is_unreadable(kc__watch_cache *cache, kc_str stored_key, const kc_error *why);
void kc__store_form_is_readable(kc__watch_cache *cache, kc_str key);
/* Forgets what is unreadable, before everything is read again. */
void kc__store_form_reset(kc__watch_cache *cache);
/* Records that the form of an object is stale. While loading. */
void kc__store_form_is_stale(kc__watch_cache *cache, kc_str key);
/* A replica has read a value of this key: whether its form is stale. */
void kc__store_form_read(kc__watch_cache *cache, kc_str key, bool stale);
/* The change was stored with the batch's configuration. Committer only. */
void kc__store_form_stored(const kc__store_batch *batch, const kc__store_change *change);

/* ---- stored_value.c: the form of objects before encryption ---- */

void kc__store_values_done(kc__watch_cache *cache);
/* The object of a decrypted value, which is the latest one of its key, with its revision. NULL on
 * error. Replica, or while loading. */
kc_object *kc__store_value_read(kc__watch_cache *cache, kc_str stored_key, kc_str plain,
                                uint64_t revision, kc_error *err);
/* The same for a value that may have been replaced since. Any thread. */
kc_object *kc__store_value_read_past(kc__watch_cache *cache, kc_str stored_key, kc_str plain,
                                     uint64_t revision, kc_error *err);
/* The value of an object that this server writes to a shared storage: *ret_plain is a part of the
 * object or of `out`. Replica only. */
int kc__store_value_write(kc__watch_cache *cache, kc_str key, const kc_object *object, kc_buf *out,
                          kc_str *ret_plain, kc_error *err);
/* Whether the last value that was read of an object has fields which the object lacks; and that the
 * object is gone. Replica only. */
bool kc__store_value_is_lossy(const kc__watch_cache *cache, kc_str key);
void kc__store_value_deleted(kc__watch_cache *cache, kc_str key);

/* ---- recover.c ---- */

/* Called when the storage does not know whether the batch's changes are stored, before they are
 * undone. */
void kc__store_recovery_begin(kc__store_batch *batch);
/* Queries the storage if it is time, which may end the recovery. Call it between batches. */
void kc__store_recovery_resolve(kc__store_batch *batch);
/* When to query next; KC_FOREVER if no recovery is in progress. */
int64_t kc__store_recovery_deadline(const kc__store *store);
void kc__store_recovery_done(kc__store_recovery *recovery);

/* ---- complete.c ---- */

/* Posts each write to its loop, where `done` runs, in order. */
void kc__store_complete_writes(kc__store_batch *batch);

/* ---- hub.c ---- */

typedef struct kc__store_watch_list {
    kc_dlist watchers;
    kc_str key; /* Stored behind the struct. */
} kc__store_watch_list;

/* The watchers of one cache on one loop. */
typedef struct kc__store_watch_section {
    kc_dlist all;        /* Watchers of the whole resource, or of an unusual prefix. */
    kc_map by_namespace; /* "default/" to a kc__store_watch_list. */
    kc_map by_key;
} kc__store_watch_section;

struct kc__store_watch_hub {
    kc_ref refs; /* Held by the store, each watcher and each task in flight. */
    kc__store *store;
    kc__loop *loop;
    /* The last revision of which an event was, or is about to be, posted. Written under
     * store.joining, before the store's revision. */
    _Atomic uint64_t posted;
    bool marked; /* Committer only. */

    /* Loop's thread only: */
    uint64_t delivered; /* The watchers have received everything up to this revision. */
    KC_VEC(kc__store_watch_section *) sections; /* By the number of the cache; NULL: no watchers. */
    kc_dlist waking;                            /* Watchers whose `ready` is to be called. */
    kc__loop_task wake_more;                    /* Calls the next of them. */
    bool waking_more;                           /* That task is posted. */
    KC_VEC(kc__loop_task *) awaiting;           /* Posted after the next delivery. */
};

/* The hub of a loop, created if necessary, with a reference. */
kc__store_watch_hub *kc__store_watch_hub_of(kc__store *store, kc__loop *loop);
kc__store_watch_hub *kc__store_watch_hub_unref(kc__store_watch_hub *hub);
/* The hub's watchers have received every event up to this revision. On the loop's thread. */
uint64_t kc__store_watch_hub_revision(kc__store_watch_hub *hub);
/* Adds the watcher to the hub if it has missed no event so far; it then receives every later
 * event. */
bool kc__store_watch_hub_join(kc__store_watch_hub *hub, kc__store_watcher *watcher);
void kc__store_watch_hub_leave(kc__store_watch_hub *hub, kc__store_watcher *watcher);
/* Advances the store's revision to the batch's and posts its events to loops with watchers.
 * Committer only. */
void kc__store_watch_hubs_notify(kc__store *store, const kc__store_batch *batch);
/* Events up to a revision are lost: advances the store's revision to it; all watchers expire.
 * Committer only. */
void kc__store_watch_hubs_expire(kc__store *store, uint64_t revision);

/* ---- watcher.c ---- */

typedef enum kc__store_watcher_state {
    KC__STORE_WATCHER_BEHIND, /* Reads the ring; receives nothing while in the hub's list. */
    KC__STORE_WATCHER_LIVE,   /* Receives events from the hub. */
    KC__STORE_WATCHER_EXPIRED,
} kc__store_watcher_state;

struct kc__store_watcher {
    kc__store_watch_hub *hub;
    kc__watch_cache *cache;
    kc__store_watcher_state phase;
    kc_dlist_link link;         /* In a list of its section, since it was live. */
    kc__store_watch_list *list; /* That list, if it is of a namespace or a key. */
    kc_dlist_link waking;
    bool waiting; /* The owner received EMPTY. */
    bool listed;  /* It is in a list of its section. */
    /* Every selected event up to this revision is returned or queued. */
    uint64_t position;
    uint64_t joined_at; /* The position when it joined: the hub may still offer older events. */
    kc__store_event **queue; /* `few`, or an allocated array. */
    kc__store_event *few[4];
    size_t first, n, room; /* As in a ring. */
    size_t bytes;          /* Bytes of the queued events. */
    size_t max_queued, max_bytes;
    void (*ready)(void *user);
    void *user;
    kc__store_key_filter interest; /* Its strings are stored behind the struct. */
};

/* Queues an event that the watcher selects. Called by its hub. */
void kc__store_watcher_offer(kc__store_watcher *watcher, const kc__store_event *event);
/* Events are lost: the watcher returns what is queued, then EXPIRED. Called by its hub. */
void kc__store_watcher_expire(kc__store_watcher *watcher);

#endif
