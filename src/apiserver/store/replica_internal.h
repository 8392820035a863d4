/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_internal.h: the store over a shared storage: one that other servers write to as well.
 *
 *     kc__store_submit ─▶ replica_send.c ── a transaction per group ──▶ storage
 *                                                                        │  │
 *     done ◀── once applied up to R ◀── outcome, decided at revision R ──┘  │
 *                                                                           │
 *     trees, rings, hubs ◀── replica_apply.c ◀── events of all servers ─────┘
 *
 *     kc__store_sync ─▶ replica_sync.c ── one query for many readers: the revision R ──▶ storage
 *     done ◀── once applied up to R
 *
 * The trees change only by events of the storage's watch, in revision order, of all writers. A
 * write is acknowledged once the trees contain it, so a client reads its own writes from this
 * server.
 *
 * Threads. Callbacks of the storage put what arrives into the inbox, under store.queue; the
 * replica's thread, which takes the place of the committer, does everything else. It has no part in
 * a read that finds the trees up to date: the reader's thread sends the query, and the storage's
 * completes it.
 */
#ifndef KC_APISERVER_REPLICA_INTERNAL_H
#define KC_APISERVER_REPLICA_INTERNAL_H

#include "apiserver/store/store_internal.h"

/* Bytes of events in the inbox, beyond which the storage's thread waits. */
#define KC__STORE_INBOX_BYTES ((size_t)64 << 20)

typedef struct kc__store_replica kc__store_replica;

/* A change that the storage has reported. Key and value are behind the struct. */
typedef struct kc__store_arrival {
    struct kc__store_arrival *next;
    kc__storage_verb verb;
    uint64_t revision;
    kc_str key, value;
} kc__store_arrival;

/* Writes that are stored together or not at all. */
typedef struct kc__store_replica_group {
    kc_dlist_link link; /* In the list of its state: waiting, decided, settling. */
    kc__store *store;
    size_t n;
    kc__store_write **writes;
    kc__storage_op *ops;
    kc_object **deleted; /* The last state of each object that was deleted; with a reference. */
    bool started;
    unsigned attempts;
    /* That the values are encrypted with; with a reference. NULL: they are not. */
    kc__encryption_config *encryption;
    kc_arena arena; /* Owns the arrays and the text of the operations. */
    kc__storage_submission submission;
} kc__store_replica_group;

/* What has arrived since the thread last looked. Guarded by store.queue. */
typedef struct kc__store_replica_inbox {
    kc__store_arrival *first, *last;        /* Linked by `next`. */
    uint64_t complete;                      /* Every event up to this revision has arrived. */
    kc_dlist decided;                       /* Groups. */
    kc__store_sync *first_sync, *last_sync; /* Readers that the next query is for. */
    kc__store_sync *behind;                 /* Readers whose revision the trees had not reached. */
    uint64_t queried;                       /* The highest such revision; 0: none. */
    bool probed;                            /* A probe of the storage was requested. */
    bool expired;                           /* The watch has ended: events are lost. */
} kc__store_replica_inbox;

struct kc__store_replica {
    kc__store *store;
    kc__storage_watch *watch;
    kc__store_replica_inbox inbox;
    size_t arrived_bytes; /* Of the inbox. Guarded by store.queue, as the next two. */
    bool discarding;      /* What arrives is not needed: everything is read again. */
    bool querying;        /* A query is in flight. */
    kc_cond taken;        /* The inbox was emptied. */

    /* Of the thread that sends the query, and then of the one that completes it: */
    kc__storage_query query;
    kc__store_sync *served; /* Readers that the query is for. */

    /* The replica's thread only: */
    kc__store_replica_inbox taken_inbox;
    kc__store_batch batch;
    kc_map sent;             /* Stored key to the group that writes it now. */
    kc_dlist waiting;        /* Groups with a key that another group writes, in order of arrival. */
    kc_dlist settling;       /* Decided groups that wait until the trees have caught up. */
    size_t in_flight;        /* Submissions whose `done` has not run. */
    kc__store_sync *syncing; /* Readers that wait until the trees have caught up. */
    int64_t next_progress;   /* When to request progress; KC_FOREVER: no request waits. */
    uint64_t wanted;         /* The highest revision that a request waits for. */
    int64_t
        next_probe; /* When to query the revision of the storage, whether or not a request waits. */

    kc_thread_pool *storage_read; /* Reads older states (storage_read.c). */
};

/* ---- replica.c ---- */

int kc__store_replica_start(kc__store *store, kc_error *err);
/* The thread's function. */
void kc__store_replica_run(void *store);
kc__store_replica *kc__store_replica_free(kc__store_replica *replica);
/* Wakes the thread. With store.queue locked. */
void kc__store_replica_wake(kc__store_replica *replica);

/* ---- storage_read.c ---- */

kc_thread_pool *kc__store_storage_read_pool(const kc_clock *clock);

/* ---- replica_apply.c ---- */

/* Callbacks of the storage's watch; `user` is the replica. */
int kc__store_replica_arrive(const kc__storage_event *event, void *user);
void kc__store_replica_progress(uint64_t revision, void *user);
void kc__store_replica_expire(const kc_error *err, void *user);
/* Applies and publishes what has arrived. */
void kc__store_replica_apply(kc__store_replica *replica);
/* Reads everything again, after events were lost. */
int kc__store_replica_reload(kc__store_replica *replica, kc_error *err);
void kc__store_arrivals_free(kc__store_arrival *first);

/* ---- replica_send.c ---- */

/* Sends the writes of the batch, or has them wait for others with the same keys. */
void kc__store_replica_send(kc__store_replica *replica);
/* Completes the groups whose outcome the trees show; moves their writes to the batch. */
void kc__store_replica_settle(kc__store_replica *replica);
/* The write of a sent group that put exactly this value; NULL: another server did. Sets whether its
 * encryption is not the current one any more. */
const kc__store_write *kc__store_replica_sent_write(const kc__store_replica *replica, kc_str key,
                                                    kc_str value, bool *ret_stale);

/* An event shows that this object, under a stored key, was deleted. */
void kc__store_replica_deleted(kc__store_replica *replica, kc_str key, const kc_object *object);

/* ---- replica_sync.c ---- */

/* Asks for the health of the storage if that is due; completes readers that are caught up. */
void kc__store_replica_sync(kc__store_replica *replica);
/* Queries the revision of the storage as a probe: the result becomes the health of the store. One
 * query at a time. Any thread. */
void kc__store_replica_probe(kc__store_replica *replica);
void kc__store_replica_want(kc__store_replica *replica, uint64_t revision);

#endif
