/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h: what a server has, kept here: objects of a kind, listed once, then watched.
 *
 *     kc_auto(kc_cache) *cache = kc_cache_new(&(kc_cache_opts){.client = client});
 *     kc_cache_start(cache, err);
 *     kc_auto(kc_object) *pod = kc_cache_get(cache, &kc_kind_pod, KC_KEY("default", "web"), err);
 *
 * Objects in a cache are constant and counted: readers get a reference, never a copy, and what they
 * hold stays as it is while the cache goes on. One cache serves everybody who reads a kind: as
 * objects, through generated types, or metadata alone.
 *
 * A kind is kept by an informer: a reflector (list, then watch, again and again) fills a queue of
 * changes in the order of the server; one thread applies them to the store and tells the listeners.
 * Informers start when somebody first asks, are counted, and stop when the last user has left.
 *
 * Reads after writes: a client bound to the cache (kc_cache_client) reads what it has written, or
 * something newer, however late the watch is: the server's answer stands in the cache's place until
 * the watch has come as far.
 *
 * Any thread may call any function.
 */
#ifndef KC_CACHE_H
#define KC_CACHE_H

#include "kc/client.h"

typedef struct kc_cache kc_cache;
typedef struct kc_informer kc_informer;

/* Gives another object in place of one that came from the server, before it is kept: without what
 * nobody reads. Takes the reference and returns one; must not fail, and must leave the key. It runs
 * once for each object that comes, on any thread, several at a time. */
typedef kc_object *kc_transform(kc_object *object, void *user);
/* Without managedFields: the default. */
kc_object *kc_transform_strip_managed_fields(kc_object *object, void *user);
/* As it came. */
kc_object *kc_transform_none(kc_object *object, void *user);

/* What of a kind is kept. Zero: all of it. */
typedef struct kc_cache_kind_opts {
    const kc_kind *kind;
    const char *const *namespaces; /* End with NULL. Defaults to the cache's. */
    const char *labels, *fields;   /* Selectors. */
    kc_transform *transform;       /* Defaults to the cache's. */
    void *transform_user;
    bool metadata_only; /* Only metadata is fetched and kept. */
} kc_cache_kind_opts;

typedef struct kc_cache_opts {
    kc_client *client;
    const char *const *namespaces; /* End with NULL. Defaults to all. */
    kc_transform *transform;       /* Defaults to kc_transform_strip_managed_fields. */
    void *transform_user;
    const kc_cache_kind_opts *kinds; /* Exceptions. Copied. */
    size_t n_kinds;
    int64_t resync;        /* Tells listeners again about everything, so often. 0: never. */
    bool fail_on_missing;  /* Reads of a kind that has no informer fail; else they start one. */
    int64_t sync_timeout;  /* How long a read waits for the first list. Defaults to 2 min. */
    int64_t list_deadline; /* A streamed list that has not ended by then is asked for as a plain
                            * list. Defaults to 30 s. */
    int64_t stall;    /* A watch on which nothing, not even a bookmark, came for so long is made
                       * anew and counts as stalled. Defaults to 5 min. */
    bool plain_lists; /* Never ask for streamed lists. */
    const kc_clock *clock; /* Defaults to the client's. */
    kc_rand *rand;         /* Split from. Defaults to the system's. */
    kc_log *log;           /* Defaults to silence. */
    kc_metrics *metrics;   /* Defaults to none. */
} kc_cache_opts;

kc_cache *kc_cache_new(const kc_cache_opts *opts);
/* Informers that were asked for begin; later ones begin at once. */
int kc_cache_start(kc_cache *cache, kc_error *err);
/* Until every informer there is has synced. False at the deadline (of its clock) or when cancelled.
 */
bool kc_cache_wait_synced(kc_cache *cache, int64_t deadline, kc_cancel *cancel);
/* Ends all informers; blocks until their threads have ended. Reads still see what was kept. */
void kc_cache_stop(kc_cache *cache);
/* Stops and frees it. Its listeners have been removed; informers and clients of it are not used any
 * more. NULL is allowed; returns NULL. */
kc_cache *kc_cache_free(kc_cache *cache);
KC_AUTO_DEFINE(kc_cache, kc_cache_free)

/* ---- reading ---- */

/*
 * The object (the caller's reference), or NULL with KC_NOT_FOUND. Waits for the kind's first list:
 * KC_TIMEOUT says what is in its way. KC_BAD_REQUEST for a namespace that is not kept;
 * KC_SERVICE_UNAVAILABLE before the cache was started.
 */
kc_object *kc_cache_get(kc_cache *cache, const kc_kind *kind, kc_key key, kc_error *err);
/*
 * In no order; all of one moment. `index` and `value`, else the first field that has an index, else
 * the namespace are looked up; the rest is compared, fields at the paths they are named by. `limit`
 * is honoured; a list cannot be continued.
 */
int kc_cache_list(kc_cache *cache, const kc_kind *kind, const kc_list_opts *opts, kc_objects *ret,
                  kc_error *err);
/* A handle to the client whose reads come from this cache, and which reads its own writes. The
 * caller's (one reference); not used any more when the cache is freed. */
kc_client *kc_cache_client(kc_cache *cache);

/* ---- indexes ---- */

/* Calls `emit` for each value under which the object is to be found: the same for the same object,
 * at any time. Runs on the informer's thread, and on that of a client that has written one. */
typedef void kc_index_emit(kc_str value, void *to);
typedef void kc_index_fn(const kc_object *object, kc_index_emit *emit, void *to, void *user);
/* Before the kind's informer starts: KC_CONFLICT afterwards, or when the name is taken. */
int kc_cache_index(kc_cache *cache, const kc_kind *kind, const char *name, kc_index_fn *fn,
                   void *user, kc_error *err);
/* By the text at a path: kc_cache_index_path(cache, &kc_kind_pod, "spec.nodeName", err) is found
 * with .index = "spec.nodeName". */
int kc_cache_index_path(kc_cache *cache, const kc_kind *kind, const char *path, kc_error *err);

/* ---- informers ---- */

/* The informer of a kind, started if the cache is. Each call counts one user; release it. The last
 * one to do so ends it and waits for that: its listeners were removed before, and none of them may
 * be the one that releases. */
kc_informer *kc_cache_informer(kc_cache *cache, const kc_kind *kind, kc_error *err);
/* Metadata alone: shares the informer of whole objects where there is one. */
kc_informer *kc_cache_metadata_informer(kc_cache *cache, const kc_kind *kind, kc_error *err);
kc_informer *kc_informer_release(kc_informer *informer);
KC_AUTO_DEFINE(kc_informer, kc_informer_release)

/* The first list is in the store, and listeners that were there then have been told. */
bool kc_informer_synced(const kc_informer *informer);
bool kc_informer_wait_synced(kc_informer *informer, int64_t deadline, kc_cancel *cancel);
/* The resourceVersion up to which the store shows everything; 0 before the first list. */
uint64_t kc_informer_revision(const kc_informer *informer);
/* What the last attempt to list or watch failed with; false if it did not. */
bool kc_informer_failure(const kc_informer *informer, kc_error *ret);
const kc_kind *kc_informer_kind(const kc_informer *informer);
size_t kc_informer_count(const kc_informer *informer);

/* What happened. `old` is NULL for an add, `object` is the last known state for a delete. Both are
 * borrowed: take a reference to keep one. */
typedef struct kc_change {
    const kc_object *old, *object;
    bool initial;       /* An add from the first list (also for a late listener). */
    bool resync;        /* An update where nothing has changed. */
    bool state_unknown; /* A delete that was missed: `object` may be older than the last state. */
} kc_change;

/* On the informer's thread, one change after the other, in the order of the server. Must not block:
 * it delays every other listener of the kind. */
typedef struct kc_listener_ops {
    void (*added)(const kc_change *change, void *user);
    void (*updated)(const kc_change *change, void *user);
    void (*deleted)(const kc_change *change, void *user);
    void (*synced)(void *user); /* After the first adds. May be NULL, as the others. */
} kc_listener_ops;

typedef struct kc_listener kc_listener;
/* From now on; what is there already comes first, as adds. `resync`: so often (0: the cache's, -1:
 * never). `ops` lives as long as the listener. */
kc_listener *kc_informer_listen(kc_informer *informer, const kc_listener_ops *ops, void *user,
                                int64_t resync);
bool kc_listener_synced(const kc_listener *listener);
/* After it none of its functions runs or will. Not from within one. NULL is allowed; returns NULL.
 */
kc_listener *kc_listener_remove(kc_listener *listener);
KC_AUTO_DEFINE(kc_listener, kc_listener_remove)

/* ---- health ---- */

/* 0 when no informer is stalled; else an error that names one, for /readyz. */
int kc_cache_check(kc_cache *cache, kc_error *err);

#endif
