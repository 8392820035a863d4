/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.h: the storage contract. A backend stores keys and values durably and is a const table of
 * functions; tests/include/storage_contract.h runs the same tests over the exclusive backends, file
 * and memory. etcd, which is shared, has tests of its own.
 *
 *     kc__storage *storage = NULL;
 *     kc__storage_open(kc__storage_backend_named("file"), &(kc__storage_opts){.location = dir},
 *                     &storage, err);
 *     kc__storage_list(storage, &(kc__storage_list_opts){.prefix = KC_STR("/registry/pods/")},
 *                     add_pod, pods, &state, err);
 *     kc__storage_commit(storage, ops, n, results, &revision, err);
 *
 * Keys are 1 to KC__STORAGE_MAX_KEY bytes without NUL, ordered by bytes. Values are any bytes, up
 * to KC__STORAGE_MAX_VALUE.
 *
 * Revision: one number for the whole store. A new store has KC__STORAGE_FIRST. Each stored change
 * gets a greater number than those before it; only the changes of one group may share a number. An
 * exclusive backend gives each change the next number. Revisions never repeat and never decrease,
 * across crashes too. The revision of a value is kept beside the value, not in it.
 *
 * Durability: when commit returns 0, its changes survive a kill and a power cut.
 *
 * History: recent changes are kept, so that a watch can resume after a restart. History is complete
 * after the revision `compacted`; a request that needs an older change fails with KC_EXPIRED.
 *
 * Threads: one thread at a time calls commit, compact, recover and close (the committer). Any
 * thread calls the other functions, beside them. Callbacks borrow their arguments for the duration
 * of the call and must not call the storage: a commit may wait until a callback has returned. All
 * functions block on the medium.
 */
#ifndef KC_APISERVER_STORAGE_H
#define KC_APISERVER_STORAGE_H

#include "kc/buf.h"
#include "kc/clock.h"
#include "kc/error.h"
#include "kc/log.h"
#include "kc/metrics.h"

#define KC__STORAGE_MAX_KEY   ((size_t)1000)
#define KC__STORAGE_MAX_VALUE ((size_t)16 << 20)
/* Maximum number of operations of one group. */
#define KC__STORAGE_MAX_GROUP ((size_t)64)

/* The revision of a store that has never stored a change. */
#define KC__STORAGE_FIRST UINT64_C(1)

/* Expectations of an operation besides "the value has this revision". */
#define KC__STORAGE_ABSENT UINT64_C(0) /* The key must not exist. */
#define KC__STORAGE_ANY    UINT64_MAX  /* No expectation. */

typedef enum kc__storage_verb { KC__STORAGE_PUT, KC__STORAGE_DELETE } kc__storage_verb;

/* One conditional change. Borrows its strings. */
typedef struct kc__storage_op {
    kc__storage_verb verb;
    kc_str key;
    uint64_t expected; /* A revision, KC__STORAGE_ABSENT or KC__STORAGE_ANY. */
    kc_str value;      /* Of a put. */
    /* Of a put: a shared backend deletes the key after so many seconds, or a little later. Defaults
     * to never; an exclusive backend ignores it. */
    int64_t ttl;
    bool frees;  /* A put on the way to a deletion: may use the room reserved for deletions. */
    bool joined; /* Belongs to the group of the previous operation. Defaults to a new group. */
} kc__storage_op;

typedef enum kc__storage_outcome {
    KC__STORAGE_STORED,
    KC__STORAGE_CONFLICT, /* The expectation did not hold, or the key to delete did not exist. */
    KC__STORAGE_REFUSED,  /* kc__storage_op_problem or kc__storage_group_problem says why. */
    KC__STORAGE_SKIPPED,  /* Another operation of the group was not stored. */
} kc__storage_outcome;

typedef struct kc__storage_result {
    kc__storage_outcome outcome;
    /* Stored: the revision of this change. Conflict: the revision of the key, 0 for none. */
    uint64_t revision;
} kc__storage_result;

/* A live key. */
typedef struct kc__storage_entry {
    kc_str key, value;
    uint64_t revision;
} kc__storage_entry;

/* A stored change. */
typedef struct kc__storage_event {
    kc__storage_verb verb;
    uint64_t revision;
    kc_str key;
    kc_str value;               /* Of a put. */
    uint64_t previous_revision; /* 0: the key did not exist. */
    kc_str previous_value;      /* The replaced or deleted value. */
} kc__storage_event;

typedef struct kc__storage_state {
    uint64_t revision;  /* Of the latest change; of a list: the revision it shows. */
    uint64_t compacted; /* History is complete after this revision. */
    bool more;          /* Of a list: `limit` left keys out. */
} kc__storage_state;

/* A return value other than 0 stops the walk, which returns that value. */
typedef int kc__storage_entry_fn(const kc__storage_entry *entry, void *user);
typedef int kc__storage_event_fn(const kc__storage_event *event, void *user);

typedef struct kc__storage_list_opts {
    kc_str prefix;     /* Keys that begin with this. Defaults to all. */
    kc_str after;      /* Only keys after this one: the last key of the previous page. */
    uint64_t revision; /* The state at this revision. Defaults to the latest. */
    size_t limit;      /* Defaults to no limit. */
} kc__storage_list_opts;

typedef struct kc__storage_watch kc__storage_watch;

typedef struct kc__storage_watch_opts {
    kc_str prefix;  /* Keys that begin with this; copied. Defaults to all. */
    uint64_t since; /* Events after this revision. */
    bool previous;  /* A shared backend may omit the previous value of events otherwise. */
    /* Receives the events, in revision order. A return value other than 0 ends the watch. */
    kc__storage_event_fn *event;
    /* Every event up to `revision` has been delivered. May be NULL. */
    void (*progress)(uint64_t revision, void *user);
    /* A shared backend has no events up to this revision any more. Called before the watch fails
     * with KC_EXPIRED. May be NULL. */
    void (*compacted)(uint64_t revision, void *user);
    /* The storage could not read an event; the watch has ended. May be NULL. */
    void (*failed)(const kc_error *err, void *user);
    void *user;
} kc__storage_watch_opts;

/*
 * One group on its way to a shared backend. The caller keeps it until `done`, which runs once, on a
 * thread of the backend, and must not block.
 */
typedef struct kc__storage_submission {
    const kc__storage_op *ops; /* One group. */
    size_t n_ops;
    void (*done)(struct kc__storage_submission *submission);

    /* Set before `done`: */
    kc__storage_result *results; /* The caller's, one per operation. */
    /* The revision of the store when the group was decided: the outcome is explained by the changes
     * up to it. */
    uint64_t revision;
    /* No result is set. KC_SERVICE_UNAVAILABLE: nothing was stored. Any other reason: the outcome
     * is unknown, and only a watch will tell. The caller releases it. */
    kc_error error;
    struct kc__storage_submission *next; /* Private. */
} kc__storage_submission;

/* A query of the current revision of a shared backend. As a submission. */
typedef struct kc__storage_query {
    void (*done)(struct kc__storage_query *query);
    uint64_t revision; /* At least that of every change acknowledged before the query. */
    kc_error error;    /* The query failed. The caller releases it. */
} kc__storage_query;

typedef struct kc__storage_opts {
    /* Backend `file`: a directory, created with mode 0700 if its parent exists. */
    const char *location;
    /* Open a store that exists; KC_NOT_FOUND if there is none. Defaults to creating it. */
    bool existing;
    const kc_clock *clock; /* Timestamps history. Defaults to the system clock. */
    /* History older than this may be dropped. Defaults to 5 minutes. */
    int64_t history_age;
    /* Limits beyond which younger history is dropped too. Default to 256 MiB and no limit. */
    uint64_t history_bytes, history_events;
    uint64_t max_bytes; /* Maximum size of the store. Defaults to no limit. */
    kc_log *log;        /* Logs migrations and recoveries. Defaults to none. */
    /* Registers the metrics of the backend; must outlive the store. Defaults to none. */
    kc_metrics *metrics;
    /* Backend-specific options: file_backend.h, memory_backend.h, etcd_backend.h. Default to
     * NULL. */
    const struct kc__storage_file_opts *file;
    struct kc__storage_memory *memory;
    const struct kc__storage_etcd_opts *etcd;
} kc__storage_opts;

/* Backends embed this as their first member. */
typedef struct kc__storage {
    const struct kc__storage_backend *backend;
    const char *root; /* What replaces the root "/registry/" of keys outside. Defaults to it. */
} kc__storage;

typedef struct kc__storage_backend {
    const char *name;
    /* The store outlives the process. */
    bool durable;
    /* No other process changes the store while it is open, and revisions are consecutive: the
     * caller can predict the revision of each change and publish its own commits. A backend that is
     * not exclusive is shared: it reports all changes, including the caller's, only through
     * watches, and has the functions `submit`, `query` and `request_progress`. */
    bool exclusive;

    /* Opens or creates a store; migrates an older layout. A store that is in use elsewhere
     * (KC_CONFLICT), foreign or of a newer layout (KC_INVALID) or damaged (KC_STORE_READ_ERROR) is
     * refused and left unchanged. */
    int (*open)(const kc__storage_opts *opts, kc__storage **ret_storage, kc_error *err);

    /* Appends the value of a key to `ret_value` (NULL: not needed). *ret_revision is 0 if the key
     * does not exist. */
    int (*get)(kc__storage *storage, kc_str key, kc_buf *ret_value, uint64_t *ret_revision,
               kc_error *err);

    /* Calls `each` (NULL: only checks) for the live keys in order, all at one revision. KC_EXPIRED:
     * that revision is compacted. KC_BAD_REQUEST: it is in the future. */
    int (*list)(kc__storage *storage, const kc__storage_list_opts *opts, kc__storage_entry_fn *each,
                void *user, kc__storage_state *ret_state, kc_error *err);

    /*
     * Commits a batch. Consecutive `joined` operations form a group; a group is stored as a whole
     * or not at all. Groups run in order, each on the result of the previous ones, and a group that
     * fails does not affect the others. The keys of a group differ. Everything that is stored
     * becomes durable at once or, after a crash, not at all. Sets a result for each operation, and
     * the revision of the store.
     *
     * Negative: the medium failed, no result is set and no operation may be acknowledged. Either
     * nothing was stored and the next commit may succeed (KC_SERVICE_UNAVAILABLE: no room); or the
     * outcome is unknown (KC_INTERNAL), and commits fail until `recover` succeeds or the store is
     * opened again.
     *
     * A backend reserves room for batches in which all operations delete or are marked `frees`:
     * they succeed when others fail for lack of room.
     */
    int (*commit)(kc__storage *storage, const kc__storage_op *ops, size_t n_ops,
                  kc__storage_result *ret_results, uint64_t *ret_revision, kc_error *err);

    /*
     * Delivers every event after `since`: past ones on this thread, before the call returns; later
     * ones on the backend's thread. An exclusive backend delivers the events of a commit before
     * that commit returns, on its thread. KC_EXPIRED: history does not reach back to `since`. If
     * `event` stops the delivery of past events, the call returns its return value and no watch is
     * created.
     */
    int (*watch)(kc__storage *storage, const kc__storage_watch_opts *opts,
                 kc__storage_watch **ret_watch, kc_error *err);
    /* A shared backend reconnects by itself; it calls `failed` only if events are lost
     * (KC_EXPIRED). It calls `progress` whenever all events of a revision are delivered. `event`
     * may block, to slow the backend down. Past events, too, arrive on its thread. */
    /* No callback runs afterwards. Not from a callback. */
    void (*unwatch)(kc__storage *storage, kc__storage_watch *watch);

    /* Drops the history up to `revision`; history is then complete after that revision. A revision
     * that was already dropped is not an error, a future one is (KC_BAD_REQUEST). */
    int (*compact)(kc__storage *storage, uint64_t revision, kc_error *err);

    /* Raises the revision without a change, and drops the history up to it: the next change gets a
     * number above `revision`, and older revisions are expired. For a store that replaces another
     * one, whose clients must not see a revision again. A revision that is not above the latest
     * changes nothing. No watch may be open. NULL for a backend that cannot do so. */
    int (*advance)(kc__storage *storage, uint64_t revision, kc_error *err);

    /* The current state; includes every commit that returned before the call. The minimum revision
     * of a linearizable read. */
    int (*progress)(kc__storage *storage, kc__storage_state *ret_state, kc_error *err);

    /* After a commit of unknown outcome: reads from the medium what is stored. 0: the revision says
     * whether the last batch is stored, and commits work again. Negative: still unknown; may be
     * retried. NULL for a backend whose outcomes are always known. */
    int (*recover)(kc__storage *storage, uint64_t *ret_revision, kc_error *err);

    /* Shared backends only; any thread; none of them blocks. */
    void (*submit)(kc__storage *storage, kc__storage_submission *submission);
    void (*query)(kc__storage *storage, kc__storage_query *query);
    /* Asks for a call of `progress` once the watch has delivered every event up to `revision`. */
    void (*request_progress)(kc__storage *storage, kc__storage_watch *watch, uint64_t revision);

    /* All watches must be stopped, and all submissions and queries done. */
    void (*close)(kc__storage *storage);
} kc__storage_backend;

/* ---- storage_backends.c: the only file that names all backends ---- */

/* The backend "file", "memory" or "etcd", or NULL. */
const kc__storage_backend *kc__storage_backend_named(const char *name);
/* The i-th backend; NULL after the last. */
const kc__storage_backend *kc__storage_backend_at(size_t i);

/* ---- storage.c ---- */

/*
 * The name of a key outside of this program, which is the data that ciphers authenticate with its
 * value: another program that reads the value knows no other name. `key` itself, or in `room`.
 */
kc_str kc__storage_outside_key(const kc__storage *storage, kc_str key, kc_buf *room);

/* Why an operation violates the limits of a store, as a sentence without its key; NULL if it does
 * not. */
const char *kc__storage_op_problem(const kc__storage_op *op);
/* The same for a group as a whole. */
const char *kc__storage_group_problem(const kc__storage_op *ops, size_t n_ops);
/* The size of the group that begins at ops[0], at most n_ops. */
size_t kc__storage_group_size(const kc__storage_op *ops, size_t n_ops);

/* Lists every live key: a list without options. */
int kc__storage_load(kc__storage *storage, kc__storage_entry_fn *each, void *user,
                     kc__storage_state *ret_state, kc_error *err);
/* Delivers every event after `since` up to the latest: a watch that ends there. Exclusive backends
 * only. */
int kc__storage_history(kc__storage *storage, uint64_t since, kc__storage_event_fn *each,
                        void *user, kc_error *err);

/* ---- storage_history.c ---- */

typedef struct kc__storage_history_opts {
    uint64_t since, up_to;      /* Events after the one, up to and including the other. */
    int64_t timeout;            /* For all of them. */
    const kc_clock *clock;      /* Defaults to the system clock. */
    kc__storage_event_fn *each; /* Not on this thread, but only during the call. */
    void *user;
} kc__storage_history_opts;

/* Past events of a shared backend, with their previous values. KC_EXPIRED: sets *ret_compacted to
 * the revision after which history is complete. KC_TIMEOUT: not all of them arrived. Blocks. */
int kc__storage_shared_history(kc__storage *storage, const kc__storage_history_opts *opts,
                               uint64_t *ret_compacted, kc_error *err);

/* ---- wrappers of the table's functions ---- */

static inline int kc__storage_open(const kc__storage_backend *backend, const kc__storage_opts *opts,
                                   kc__storage **ret_storage, kc_error *err)
{
    return backend->open(opts, ret_storage, err);
}

static inline int kc__storage_get(kc__storage *storage, kc_str key, kc_buf *ret_value,
                                  uint64_t *ret_revision, kc_error *err)
{
    return storage->backend->get(storage, key, ret_value, ret_revision, err);
}

static inline int kc__storage_list(kc__storage *storage, const kc__storage_list_opts *opts,
                                   kc__storage_entry_fn *each, void *user,
                                   kc__storage_state *ret_state, kc_error *err)
{
    return storage->backend->list(storage, opts, each, user, ret_state, err);
}

static inline int kc__storage_commit(kc__storage *storage, const kc__storage_op *ops, size_t n_ops,
                                     kc__storage_result *ret_results, uint64_t *ret_revision,
                                     kc_error *err)
{
    return storage->backend->commit(storage, ops, n_ops, ret_results, ret_revision, err);
}

static inline int kc__storage_watch_start(kc__storage *storage, const kc__storage_watch_opts *opts,
                                          kc__storage_watch **ret_watch, kc_error *err)
{
    return storage->backend->watch(storage, opts, ret_watch, err);
}

/* NULL is allowed. Returns NULL. */
static inline kc__storage_watch *kc__storage_watch_stop(kc__storage *storage,
                                                        kc__storage_watch *watch)
{
    if (watch)
        storage->backend->unwatch(storage, watch);
    return NULL;
}

static inline int kc__storage_compact(kc__storage *storage, uint64_t revision, kc_error *err)
{
    return storage->backend->compact(storage, revision, err);
}

static inline int kc__storage_advance(kc__storage *storage, uint64_t revision, kc_error *err)
{
    if (!storage->backend->advance)
        return kc_error_set(err, KC_INVALID, "the storage \"%s\" cannot raise its revision",
                            storage->backend->name);
    return storage->backend->advance(storage, revision, err);
}

static inline int kc__storage_progress(kc__storage *storage, kc__storage_state *ret_state,
                                       kc_error *err)
{
    return storage->backend->progress(storage, ret_state, err);
}

static inline int kc__storage_recover(kc__storage *storage, uint64_t *ret_revision, kc_error *err)
{
    if (!storage->backend->recover)
        return kc_error_set(err, KC_INTERNAL, "the store must be reopened");
    return storage->backend->recover(storage, ret_revision, err);
}

static inline void kc__storage_submit(kc__storage *storage, kc__storage_submission *submission)
{
    storage->backend->submit(storage, submission);
}

static inline void kc__storage_query_start(kc__storage *storage, kc__storage_query *query)
{
    storage->backend->query(storage, query);
}

static inline void kc__storage_request_progress(kc__storage *storage, kc__storage_watch *watch,
                                                uint64_t revision)
{
    storage->backend->request_progress(storage, watch, revision);
}

/* NULL is allowed. Returns NULL. */
static inline kc__storage *kc__storage_close(kc__storage *storage)
{
    if (storage)
        storage->backend->close(storage);
    return NULL;
}
KC_AUTO_DEFINE(kc__storage, kc__storage_close)

#endif
