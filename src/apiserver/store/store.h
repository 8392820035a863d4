/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h: the store: all objects in memory for reads, and in a storage for durability. It consists
 * of the committer and the watch caches.
 *
 *     I/O loops ── kc__store_submit ──▶ committer ── one batch ──▶ storage (durable)
 *         ▲                                 │
 *         │                                 ├─ publishes each resource's tree, then the revision
 *         ├────────── write->done ──────────┤
 *         └── events to the loops' hubs ────┘            (watch.h)
 *
 * A watch cache (kc__watch_cache) is a copy-on-write tree of a resource's objects and a ring of its
 * recent events. A read takes a snapshot, in O(1), on any thread, and never waits for a writer. A
 * write is a compare-and-swap submitted to the single committer thread, which drains its queue,
 * commits it as one batch, and only then publishes it. A write that `done` reports as stored is
 * durable and visible.
 *
 * A storage that other servers write to as well (shared, storage.h) is fed differently: each group
 * of writes is a transaction, and the caches follow the storage's watch (replica_internal.h).
 *
 * Keys of the store are "namespace/name" or "name"; the storage prepends the resource's prefix.
 */
#ifndef KC_APISERVER_STORE_H
#define KC_APISERVER_STORE_H

#include "apiserver/storage/encryption/encryption.h"
#include "apiserver/storage/storage.h"
#include "apiserver/store/cow_tree.h"
#include "http/loop/loop.h"
#include "kc/log.h"
#include "kc/metrics.h"
#include "kc/thread_pool.h"

typedef struct kc__store kc__store;
typedef struct kc__watch_cache kc__watch_cache;

/*
 * The form of values in the storage, for a storage that other programs use, too. `kind` is the
 * result of `kind_of` for the key prefix of the resource: constant data. NULL: the prefix is that
 * of no resource, but of data of another program, which need not be readable. Any thread.
 */
typedef struct kc__store_format {
    const void *(*kind_of)(kc_str prefix);
    /* The object of a value, which may also be the JSON of the object. Sets *ret_lossy if the value
     * has fields that the object lacks. NULL on error. */
    kc_object *(*decode)(const void *kind, kc_str value, bool *ret_lossy, kc_error *err);
    /* Appends the value of an object. `older` is the lossy value that it replaces, whose additional
     * fields it gets; empty: none. Returns 0 or negative. */
    int (*encode)(const void *kind, const kc_object *object, kc_str older, kc_buf *out,
                  kc_error *err);
} kc__store_format;

/* Resources that are in another storage than the others. */
typedef struct kc__store_override {
    kc__storage *storage;   /* Already open; shared. The store closes it. */
    const kc_str *prefixes; /* Of their keys. Must outlive the store, as the array itself. */
    size_t n_prefixes;
} kc__store_override;

typedef struct kc__store_opts {
    kc__storage *storage;  /* Already open; the store closes it. */
    const kc_clock *clock; /* Defaults to the system clock. */
    kc_log *log;
    kc_metrics *metrics;
    /* Limits of all rings together; events beyond either are dropped. Default to 5 minutes and 128
     * MiB (bytes that only a ring references). */
    int64_t event_age;
    size_t event_bytes;
    /* Limit of the events that are older than `settle_age`, so that a burst of writes does not hold
     * its memory for minutes. Default to 45 s, which is longer than the interval of bookmarks, and
     * 4 MiB. */
    int64_t settle_age;
    size_t settled_bytes;
    size_t max_batch; /* Maximum number of operations per commit. Defaults to 512. */
    /* Budget for old snapshots that list pages and slow readers hold, in addition to what the rings
     * hold: beyond it the oldest holds are revoked. Defaults to 128 MiB. */
    size_t snapshot_bytes;
    struct kc__memory_account *memory; /* Accounts for those snapshots. Defaults to none. */
    /* Encrypts values at rest; must outlive the store. Defaults to none: an encrypted value in the
     * storage is then unreadable. */
    kc__encryption *encryption;
    /* The form in which a shared storage is written, and any storage may be. Defaults to none: a
     * value is the JSON of the object, and others are unreadable. */
    const kc__store_format *format;
    /* The resource of a key prefix, which selects its encryption. Defaults to the prefix itself. */
    kc__encryption_resource (*resource_of)(kc_str prefix);
    /* Called on the committer's thread when the storage and the store differ: no write succeeds any
     * more until the store is opened again. Must not call the store. Defaults to nothing. */
    void (*inconsistent)(void *user, const kc_error *err);
    void *user; /* Of `inconsistent`. */
    /* Resources in other storages; `storage` must be shared, too. Defaults to none. */
    const kc__store_override *overrides;
    size_t n_overrides;
    /* Prefixes of the only resources of this store; other keys of the storage are ignored. Defaults
     * to all. */
    const kc_str *only;
    size_t n_only;
} kc__store_opts;

/* Loads everything and starts the committer. Objects and events of resources whose cache is
 * requested later (kc__store_watch_cache) are loaded too. NULL on error; the storage is then closed
 * as well. */
kc__store *kc__store_open(const kc__store_opts *opts, kc_error *err);
/* Commits all submitted writes, calls every `done`, closes the storage. The loops must still run
 * and watchers must be stopped. Not from a loop's thread. NULL is allowed; returns NULL. */
kc__store *kc__store_close(kc__store *store);

/* The watch cache of a resource, created by the first call. The prefix is that of its keys in the
 * storage ("/registry/pods/"), in the form by which stored keys are mapped to their resource
 * (storage/stored_key.h). Lives as long as the store. Any thread. */
kc__watch_cache *kc__store_watch_cache(kc__store *store, kc_str prefix);
/* The same with a reference, for a resource that can be deleted: the cache lives until no
 * reference, object, recent event or list page of it is left. The store may be closed before the
 * reference is dropped. Any thread. */
kc__watch_cache *kc__store_watch_cache_ref(kc__store *store, kc_str prefix);
kc__watch_cache *kc__watch_cache_ref(kc__watch_cache *cache);
kc__watch_cache *kc__watch_cache_unref(kc__watch_cache *cache);
KC_AUTO_DEFINE(kc__watch_cache, kc__watch_cache_unref)

/* The revision up to which all changes are visible. Any thread. */
uint64_t kc__store_revision(const kc__store *store);
/* Whether writes work: 0, or the reason why not: the last one failed a few seconds ago, or none can
 * succeed until the store is opened again. A shared storage is probed meanwhile, so that repeated
 * calls notice a failure even if no request needs the storage. For /readyz. Any thread. */
int kc__store_health(kc__store *store, kc_error *err);

/* The store of a watch cache, and its revision: another one if the resource is stored elsewhere
 * (kc__store_opts.overrides). Any thread. */
kc__store *kc__watch_cache_store(const kc__watch_cache *cache);
uint64_t kc__watch_cache_revision(const kc__watch_cache *cache);
/* Whether the cache is in another storage than the resources of `store`: writes of both cannot be
 * one group. */
bool kc__store_is_elsewhere(const kc__store *store, const kc__watch_cache *cache);

/* ---- shared storage ---- */

/* Whether other servers write to the storage, too: a read from memory may then miss a write that
 * another server has acknowledged, unless a sync precedes it. Any thread. */
bool kc__store_is_shared(const kc__store *store);

/*
 * Waits until the store shows every write that any server acknowledged before the call: what
 * precedes a linearizable read. Only for a shared storage; with an exclusive one every read is
 * linearizable. The caller embeds it in the state of the request, until `done`.
 */
typedef struct kc__store_sync kc__store_sync;
struct kc__store_sync {
    kc__loop *loop; /* The loop on which `done` runs. */
    void (*done)(kc__store_sync *sync);
    /* Set before `done`: the storage did not answer, or the store did not catch up in time. The
     * caller releases it. */
    kc_error error;

    /* Private: */
    kc__store *store;
    uint64_t revision;
    int64_t deadline;
    kc__loop_task task;
    kc__store_sync *next;
};

/* Any thread; does not block. */
void kc__store_sync_start(kc__store *store, kc__store_sync *sync);

/*
 * Reads the state of a resource at a revision that its recent events do not reach from the storage,
 * so that kc__watch_cache_snapshot_at finds it for a while. Only for a shared storage. The caller
 * embeds it in the state of the request, until `done`.
 */
typedef struct kc__store_storage_read kc__store_storage_read;
struct kc__store_storage_read {
    kc__watch_cache *cache;
    uint64_t revision;
    kc__loop *loop; /* The loop on which `done` runs. */
    void (*done)(kc__store_storage_read *read);
    /* Set before `done`. KC_EXPIRED: the storage does not have that revision either. The caller
     * releases it. */
    kc_error error;

    /* Private: */
    kc_job job;
    kc__loop_task task;
};

/* Any thread; does not block. */
void kc__store_storage_read_start(kc__store_storage_read *read);
/* Whether kc__watch_cache_snapshot_at has this revision, as far as it is not in the future. */
bool kc__watch_cache_reaches(kc__watch_cache *cache, uint64_t revision);

/* ---- reading; any thread ---- */

/* The object with a reference, or NULL if the key does not exist. */
kc_object *kc__watch_cache_get(kc__watch_cache *cache, kc_str key);

/* The latest snapshot, and the revision up to which it is complete: at least the value of
 * kc__store_revision before the call. No object in the snapshot is newer. */
kc__cow_snapshot *kc__watch_cache_snapshot(kc__watch_cache *cache, uint64_t *ret_revision);

/*
 * The snapshot at exactly `revision`. KC_EXPIRED if the recent events do not reach back that far,
 * KC_TIMEOUT ("Too large resource version") if the revision is in the future. Undoes the events
 * since, so its cost is linear in their number; list pages therefore keep their snapshot
 * (kc__watch_cache_keep).
 */
kc__cow_snapshot *kc__watch_cache_snapshot_at(kc__watch_cache *cache, uint64_t revision,
                                              kc_error *err);
/* Keeps a snapshot under a revision for a while, so that the next page finds it in O(1). The least
 * recently used one is dropped first. */
void kc__watch_cache_keep(kc__watch_cache *cache, uint64_t revision, kc__cow_snapshot *snapshot);

/*
 * Registers a snapshot that its owner reads at the pace of a client. When such snapshots exceed
 * their budget, the oldest holds are revoked: `revoked` runs on the loop's thread, and the owner
 * drops its snapshot. Release it on the loop's thread, revoked or not.
 */
typedef struct kc__store_hold kc__store_hold;
kc__store_hold *kc__watch_cache_hold(kc__watch_cache *cache, const kc__cow_snapshot *snapshot,
                                     kc__loop *loop, void (*revoked)(void *user), void *user);
/* NULL is allowed; returns NULL. `revoked` is not called afterwards. */
kc__store_hold *kc__store_hold_release(kc__store_hold *hold);
/* Bytes that dropping the snapshot would free, as last measured by the committer. Any thread. 0 for
 * NULL. */
size_t kc__store_hold_bytes(kc__store_hold *hold);
/* Revokes all holds that cost memory, asynchronously, because memory is short. Any thread. */
void kc__store_revoke_holds(kc__store *store);

/* Increases with every change of the resource, before its event is delivered; for caches derived
 * from stored objects. Costs one load. */
uint64_t kc__watch_cache_changed_at(const kc__watch_cache *cache);

/*
 * Unreadable objects: their stored value cannot be decrypted or decoded. They are in no tree, and
 * creating one of their name is a conflict. Returns a negative result, and the error to respond
 * with (500, as in kube-apiserver), if the object `key` is unreadable, or one whose key begins with
 * `prefix`; else 0. Costs one load if no object of the resource is unreadable.
 */
int kc__watch_cache_check_readable(const kc__watch_cache *cache, kc_str key, kc_error *err);
int kc__watch_cache_check_all_readable(const kc__watch_cache *cache, kc_str prefix, kc_error *err);

/* Whether the stored form of an object at this revision is not the one that encryption would write
 * now: an update must then be stored, even if it changes nothing. */
bool kc__watch_cache_is_stale(kc__watch_cache *cache, kc_str key, uint64_t revision);

/* The oldest revision from which events are complete: a watch may start there. */
uint64_t kc__watch_cache_oldest(kc__watch_cache *cache);

/* ---- writing ---- */

typedef struct kc__store_write kc__store_write;

/* One write. Must live until `done` was called; the caller embeds it in the state of the
 * request. */
struct kc__store_write {
    kc__watch_cache *cache;
    kc__storage_verb verb;
    kc_str key;
    uint64_t expected; /* As in kc__storage_op. */
    int64_t ttl;       /* As in kc__storage_op. */
    const kc_object
        *object;    /* Put: the object to store; the commit sets its resourceVersion. Delete: the
                       object that the DELETED event shows, NULL for the last state. */
    kc__loop *loop; /* The loop on which `done` runs. */
    void (*done)(kc__store_write *write);
    /*
     * Called by the committer instead of reporting a conflict with a stored object: sets `object`
     * to what is to be stored instead of `current` and returns true. False: the conflict stays.
     * Must not block; may be called several times. Writers that only add to an object use it, so
     * that many of them succeed in one batch. Defaults to none.
     */
    bool (*rebase)(kc__store_write *write, const kc_object *current);

    /* Set before `done`: */
    kc__storage_outcome outcome;
    kc_object *result;  /* Stored: the object with its new revision (delete: as the event shows it).
                           Conflict: the current object, or NULL. The caller drops the reference. */
    uint64_t revision;  /* The store's revision when the write was decided. */
    kc_error error;     /* Refused: why. Either the storage failed, and the write must not be
                           acknowledged; or the storage does not accept such a key or value
                           (KC_INVALID). The caller releases it. */
    kc__loop_task task; /* Private. */
    kc__store_write *next; /* Private. */
    bool joined;           /* Private: belongs to the group of the previous write. */
};

/* Submits a write, to the store of its cache. Any thread; does not block. */
void kc__store_submit(kc__store *store, kc__store_write *write);

/*
 * Submits 1 to KC__STORAGE_MAX_GROUP writes that are stored all or none: an object with its quota,
 * or with the allocation of its addresses. Their keys must differ, and they must have the same loop
 * and be of one storage (kc__store_is_elsewhere).
 * `done` runs for each, in order. If one is not stored, the others get the outcome
 * KC__STORAGE_SKIPPED, without a result; other groups of the same commit are not affected. Any
 * thread; does not block; the caller keeps the array.
 */
void kc__store_submit_group(kc__store *store, kc__store_write *const *writes, size_t n);

#endif
