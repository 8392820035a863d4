/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.h: where the server keeps its objects for good. A contract, and a const table of
 * functions for each backend that fulfils it; tests/include/storage_contract.h holds every backend
 * to what is written here.
 *
 *     kc_storage *storage = NULL;
 *     if (kc_storage_open(&kc_storage_file, &(kc_storage_opts){.location = folder}, &storage, err))
 *         …
 *     kc_storage_load(storage, add_to_tree, tree, &state, err);
 *     kc_storage_commit(storage, ops, n, results, &revision, err);
 *
 * A store maps keys to values. Keys are 1 to KC_STORAGE_MAX_KEY bytes without NUL, ordered by
 * bytes; values are any bytes, up to KC_STORAGE_MAX_VALUE of them.
 *
 * The revision is one number for the whole store. A new store stands at KC_STORAGE_FIRST; every
 * change that is stored gets the next one, so an event is named by its revision alone. Revisions
 * never repeat and never decrease, across crashes too. The revision of a value is kept beside it,
 * not in it.
 *
 * Durable means durable: when a commit returns 0, what it stored survives a kill and a power cut.
 *
 * Recent changes are kept as history, so that a watch can go on after a restart. History is asked
 * for "since" a revision: all changes after it. It is complete since `compacted` and everything
 * later; since anything earlier it is KC_EXPIRED.
 *
 * Threads: commit, compact and close are called by one thread at a time (the committer). Load and
 * history may run on any threads beside them; each sees one consistent state. Their callbacks
 * borrow what they are given for the duration of the call and must not call the store: a commit may
 * have to wait until they have returned. All functions block on the medium.
 */
#ifndef KC_APISERVER_STORAGE_H
#define KC_APISERVER_STORAGE_H

#include "kc/clock.h"
#include "kc/error.h"

#define KC_STORAGE_MAX_KEY   ((size_t)1000)
#define KC_STORAGE_MAX_VALUE ((size_t)16 << 20)

/* The revision of a store in which nothing was ever stored. */
#define KC_STORAGE_FIRST UINT64_C(1)

/* Expectations of an operation besides "the value has this revision". */
#define KC_STORAGE_ABSENT UINT64_C(0) /* The key must not exist. */
#define KC_STORAGE_ANY    UINT64_MAX  /* Whatever is there, or nothing. */

typedef enum kc_storage_verb { KC_STORAGE_PUT, KC_STORAGE_DELETE } kc_storage_verb;

/* One change, on a condition. Borrows its texts. */
typedef struct kc_storage_op {
    kc_storage_verb verb;
    kc_str key;
    uint64_t expected; /* A revision, KC_STORAGE_ABSENT or KC_STORAGE_ANY. */
    kc_str value;      /* Of a put. */
} kc_storage_op;

typedef enum kc_storage_outcome {
    KC_STORAGE_STORED,
    KC_STORAGE_CONFLICT, /* The expectation did not hold, or there was nothing to delete. */
    KC_STORAGE_REFUSED,  /* kc_storage_op_problem says why. */
} kc_storage_outcome;

typedef struct kc_storage_result {
    kc_storage_outcome outcome;
    /* Stored: the revision of this change. Conflict: the revision the key has, 0 for none. */
    uint64_t revision;
} kc_storage_result;

/* A live key. */
typedef struct kc_storage_entry {
    kc_str key, value;
    uint64_t revision;
} kc_storage_entry;

/* A change of the past. */
typedef struct kc_storage_event {
    kc_storage_verb verb;
    uint64_t revision;
    kc_str key;
    kc_str value;               /* Of a put. */
    uint64_t previous_revision; /* 0: the key did not exist. */
    kc_str previous_value;      /* What the change replaced or deleted. */
} kc_storage_event;

typedef struct kc_storage_state {
    uint64_t revision;  /* Of the latest change. */
    uint64_t compacted; /* History is complete since this revision. */
} kc_storage_state;

/* A return other than 0 stops the walk, which returns it. */
typedef int kc_storage_entry_fn(const kc_storage_entry *entry, void *user);
typedef int kc_storage_event_fn(const kc_storage_event *event, void *user);

typedef struct kc_storage_opts {
    const char *location;  /* Of `file`: a folder, made (mode 0700) if its parent exists. */
    const kc_clock *clock; /* Dates history. Defaults to the real one. */
    /* History older than this may be dropped. Defaults to 5 minutes. */
    int64_t history_age;
    /* Beyond this much even younger history is dropped. Default to 256 MiB, and to no limit. */
    uint64_t history_bytes, history_events;
    /* What the store may grow to. Defaults to no limit. */
    uint64_t max_bytes;
    /* Of `file`: how large it starts. Defaults to 16 MiB, which take no room until used. */
    uint64_t first_bytes;
    /* Of `memory`: what it lies in. Defaults to one of its own, gone when it is closed. */
    struct kc__memory *memory;
} kc_storage_opts;

/* Backends embed this as their first member. */
typedef struct kc_storage {
    const struct kc_storage_backend *backend;
} kc_storage;

typedef struct kc_storage_backend {
    const char *name;

    /* Opens or makes a store. One that is in use elsewhere (KC_CONFLICT), foreign or of a newer
     * layout (KC_INVALID) or damaged (KC_STORE_READ_ERROR) is refused and left as it is. */
    int (*open)(const kc_storage_opts *opts, kc_storage **ret_storage, kc_error *err);

    /* Every live key in order, of one moment, and the state of that moment. */
    int (*load)(kc_storage *storage, kc_storage_entry_fn *each, void *user,
                kc_storage_state *ret_state, kc_error *err);

    /*
     * Runs the operations in their order, each on what the former left: each is stored or fails by
     * itself. All that is stored becomes durable at once or, after a crash, not at all. Fills a
     * result for each operation and the revision of the store after them.
     *
     * Negative: the medium failed, no result is filled and no operation may be acknowledged.
     * Nothing was stored and the next commit may well succeed (KC_SERVICE_UNAVAILABLE: no room);
     * or, when it failed at the very last moment, that is not known (KC_INTERNAL), and then
     * everything fails until the store is opened again.
     */
    int (*commit)(kc_storage *storage, const kc_storage_op *ops, size_t n_ops,
                  kc_storage_result *ret_results, uint64_t *ret_revision, kc_error *err);

    /* Every change after `since`, in order, up to the latest; none when `since` is the latest or
     * beyond. KC_EXPIRED when the history does not reach back so far. */
    int (*history)(kc_storage *storage, uint64_t since, kc_storage_event_fn *each, void *user,
                   kc_error *err);

    /* Drops the history up to `revision`: it is then complete since that one. What was dropped
     * before is no error, a revision that is still to come is (KC_BAD_REQUEST). */
    int (*compact)(kc_storage *storage, uint64_t revision, kc_error *err);

    void (*close)(kc_storage *storage);
} kc_storage_backend;

/* Why an operation is outside of what a store takes, or NULL: a sentence without its key. For
 * backends, and for who wants to tell a client. */
const char *kc_storage_op_problem(const kc_storage_op *op);

/* ---- the table's functions, called by name ---- */

static inline int kc_storage_open(const kc_storage_backend *backend, const kc_storage_opts *opts,
                                  kc_storage **ret_storage, kc_error *err)
{
    return backend->open(opts, ret_storage, err);
}

static inline int kc_storage_load(kc_storage *storage, kc_storage_entry_fn *each, void *user,
                                  kc_storage_state *ret_state, kc_error *err)
{
    return storage->backend->load(storage, each, user, ret_state, err);
}

static inline int kc_storage_commit(kc_storage *storage, const kc_storage_op *ops, size_t n_ops,
                                    kc_storage_result *ret_results, uint64_t *ret_revision,
                                    kc_error *err)
{
    return storage->backend->commit(storage, ops, n_ops, ret_results, ret_revision, err);
}

static inline int kc_storage_history(kc_storage *storage, uint64_t since, kc_storage_event_fn *each,
                                     void *user, kc_error *err)
{
    return storage->backend->history(storage, since, each, user, err);
}

static inline int kc_storage_compact(kc_storage *storage, uint64_t revision, kc_error *err)
{
    return storage->backend->compact(storage, revision, err);
}

/* NULL is allowed. Returns NULL. */
static inline kc_storage *kc_storage_close(kc_storage *storage)
{
    if (storage)
        storage->backend->close(storage);
    return NULL;
}
KC_AUTO_DEFINE(kc_storage, kc_storage_close)

#endif
