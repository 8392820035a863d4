/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_internal.h: what the files of the backend `etcd` share.
 */
#ifndef KC_APISERVER_STORAGE_ETCD_INTERNAL_H
#define KC_APISERVER_STORAGE_ETCD_INTERNAL_H

#include "apiserver/storage/etcd/etcd_backend.h"
#include "base/periodic.h"
#include "etcd/etcd.h"
#include "kc/thread.h"

/* What a server knows of the compaction that all share. */
typedef struct kc__storage_etcd_compactor {
    int64_t clock;    /* The version of the key that counts compactions. */
    int64_t revision; /* The latest one interval ago; 0: unknown. */
} kc__storage_etcd_compactor;

/* The lease that new keys with one time to live get. */
typedef struct kc__storage_etcd_lease {
    struct kc__storage_etcd *storage;
    int64_t ttl;     /* In seconds; 0: not used yet. */
    int64_t id;      /* 0: none. */
    int64_t expires; /* At the earliest; monotonic. */
    size_t n_keys;
    bool granting;                   /* A new one is being granted, … */
    int64_t asked;                   /* … since then. */
    kc__storage_submission *waiting; /* For it; linked by `next`. */
} kc__storage_etcd_lease;

/* More than a server has different times to live: those of Events, and of its own address. */
enum { KC__STORAGE_ETCD_LEASES = 4 };

typedef struct kc__storage_etcd_leases {
    const kc_clock *clock;
    kc_mutex mutex; /* Guards the leases. */
    kc__storage_etcd_lease items[KC__STORAGE_ETCD_LEASES];
} kc__storage_etcd_leases;

typedef struct kc__storage_etcd {
    kc__storage base;
    kc__etcd *client;
    char *prefix; /* With a slash at its end. */
    kc_log *log;
    kc__periodic *periodic; /* Its thread runs the compactor. */
    kc__storage_etcd_compactor compactor;
    kc__storage_etcd_leases leases;
    void (*advanced)(uint64_t revision, uint64_t goal, void *user); /* May be NULL. */
    void *advanced_user;
} kc__storage_etcd;

static inline kc__storage_etcd *kc__storage_etcd_of(kc__storage *storage)
{
    return kc_container_of(storage, kc__storage_etcd, base);
}

/* ---- etcd_backend.c ---- */

/* The key in etcd of a key of the storage, and back. The latter is empty if the key does not have
 * the prefix. In the arena, unless both are the same. */
kc_str kc__storage_etcd_key(const kc__storage_etcd *s, kc_str key, kc_arena *arena);
kc_str kc__storage_etcd_own_key(const kc__storage_etcd *s, kc_str key, kc_arena *arena);
/* The error of a reply whose code is not OK. */
int kc__storage_etcd_error(const kc__etcd_reply *reply, kc_error *err);
int kc__storage_etcd_progress(kc__storage *storage, kc__storage_state *ret_state, kc_error *err);
int kc__storage_etcd_compact(kc__storage *storage, uint64_t revision, kc_error *err);

/* ---- etcd_advance.c ---- */

int kc__storage_etcd_advance(kc__storage *storage, uint64_t revision, kc_error *err);

/* ---- etcd_commit.c ---- */

int kc__storage_etcd_commit(kc__storage *storage, const kc__storage_op *ops, size_t n_ops,
                            kc__storage_result *ret_results, uint64_t *ret_revision, kc_error *err);
void kc__storage_etcd_submit(kc__storage *storage, kc__storage_submission *submission);
/* Sends the submission; its keys that expire get the lease. 0: it has none. */
void kc__storage_etcd_send(kc__storage_etcd *s, kc__storage_submission *submission, int64_t lease);
/* The longest time to live of a group; 0: its keys do not expire. */
int64_t kc__storage_etcd_ttl(const kc__storage_op *ops, size_t n);

/* ---- etcd_compactor.c ---- */

/* One interval of the compactor; `user` is the kc__storage_etcd. Blocks. */
void kc__storage_etcd_run_compactor(void *user);

/* ---- etcd_lease.c ---- */

/* The lease of keys with a time to live, in seconds. 0: the submission is sent when there is one,
 * or fails. */
int64_t kc__storage_etcd_lease_for(kc__storage_etcd *s, int64_t ttl,
                                   kc__storage_submission *submission);
/* The same, and blocks. */
int kc__storage_etcd_lease_now(kc__storage_etcd *s, int64_t ttl, int64_t *ret_id, kc_error *err);
/* etcd does not know this lease any more: the next key gets another one. */
void kc__storage_etcd_lease_lost(kc__storage_etcd *s, int64_t id);

/* ---- etcd_watch.c ---- */

int kc__storage_etcd_watch(kc__storage *storage, const kc__storage_watch_opts *opts,
                           kc__storage_watch **ret_watch, kc_error *err);
void kc__storage_etcd_unwatch(kc__storage *storage, kc__storage_watch *watch);
void kc__storage_etcd_request_progress(kc__storage *storage, kc__storage_watch *watch,
                                       uint64_t revision);

#endif
