/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h: a local copy of a server's objects by kind, listed once and then watched.
 *
 *     kc_auto(kc_cache) *cache = kc_cache_new(&(kc_cache_opts){.client = client});
 *     kc_cache_start(cache, err);
 *     kc_auto(kc_object) *pod = kc_cache_get(cache, &kc_kind_pod, KC_KEY("default", "web"), err);
 *
 * Cached objects are constant and reference-counted. A reader gets a reference, never a copy; the
 * object does not change while the cache moves on. One cache serves all readers of a kind, whether
 * they read whole objects, generated types or only metadata.
 *
 * An informer caches one kind. Its reflector lists and watches the kind and fills a queue with
 * changes in the server's order; one thread applies them to the cache store and calls the event
 * handlers. An informer starts with its first user, counts its users, and stops with the last.
 *
 * Read your writes: a client bound to the cache (kc_cache_client) reads what it has written, or
 * something newer, however late the watch is. The cache keeps the server's response in an overlay
 * until the watch has delivered that revision.
 *
 * All functions are thread-safe.
 */
#ifndef KC_CACHE_H
#define KC_CACHE_H

#include "kc/client.h"

typedef struct kc_cache kc_cache;
typedef struct kc_informer kc_informer;

/* Replaces an object from the server before it is cached, for example to drop fields that no reader
 * needs. Takes the reference and returns one. Must not fail and must not change the key. Called
 * once for each received object, on any thread, possibly several at a time. */
typedef kc_object *kc_transform_fn(kc_object *object, void *user);
/* Removes managedFields: the default. */
kc_object *kc_transform_strip_managed_fields(kc_object *object, void *user);
/* Leaves objects unchanged. */
kc_object *kc_transform_none(kc_object *object, void *user);

/* What is cached of a kind. Zero: all objects, whole. */
typedef struct kc_cache_kind_opts {
    const kc_kind *kind;
    const char *const *namespaces; /* End with NULL. Defaults to the cache's. */
    const char *labels, *fields;   /* Selectors. */
    kc_transform_fn *transform;    /* Defaults to the cache's. */
    void *transform_user;
    bool metadata_only; /* Fetch and cache only metadata. */
} kc_cache_kind_opts;

typedef struct kc_cache_opts {
    kc_client *client;
    const char *const *namespaces; /* End with NULL. Defaults to all. */
    kc_transform_fn *transform;    /* Defaults to kc_transform_strip_managed_fields, which leaves
                                    * objects alone that are shared with a server in this process. */
    void *transform_user;
    const kc_cache_kind_opts *kinds; /* Per-kind exceptions. Copied. */
    size_t n_kinds;
    /* Period of resyncs, which call event handlers again for every object. 0: never. */
    int64_t resync;
    bool fail_on_missing; /* Reads of a kind without an informer fail. By default they start one. */
    int64_t sync_timeout; /* Time a read waits for the first list. Defaults to 2 min. */
    int64_t list_deadline; /* Time after which an unfinished streaming list is replaced by a plain
                            * list. Defaults to 30 s. */
    int64_t watch_stall_timeout; /* Time without any event, even a bookmark, after which a watch
                                  * counts as stalled and is restarted. Defaults to 5 min. */
    bool plain_lists;            /* Never use streaming lists. */
    const kc_clock *clock;       /* Defaults to the client's. */
    kc_rand *rand;               /* Parent generator; split. Defaults to the system's. */
    kc_log *log;                 /* Defaults to silence. */
    kc_metrics *metrics;         /* Defaults to none. */
} kc_cache_opts;

kc_cache *kc_cache_new(const kc_cache_opts *opts);
/* Starts the existing informers; later ones start at once. */
int kc_cache_start(kc_cache *cache, kc_error *err);
/* Waits until every existing informer has synced. False at the deadline (of the cache's clock) or
 * on cancellation. */
bool kc_cache_wait_synced(kc_cache *cache, int64_t deadline, kc_cancel *cancel);
/* Ends all informers; blocks until their last listener has returned. Reads still see what was
 * kept. */
void kc_cache_stop(kc_cache *cache);
/* Stops and frees the cache. All event handlers must have been removed; its informers and clients
 * must not be used afterwards. NULL is allowed; returns NULL. */
kc_cache *kc_cache_free(kc_cache *cache);
KC_AUTO_DEFINE(kc_cache, kc_cache_free)

/* ---- reading ---- */

/*
 * Returns the object (the caller's reference), or NULL with KC_NOT_FOUND. Blocks until the kind's
 * first list is complete; KC_TIMEOUT names the obstacle. KC_BAD_REQUEST for a namespace that is not
 * cached; KC_SERVICE_UNAVAILABLE before the cache was started.
 */
kc_object *kc_cache_get(kc_cache *cache, const kc_kind *kind, kc_key key, kc_error *err);
/*
 * Lists objects of one revision, unordered. The cache looks up candidates by `index` and `value`,
 * else by the first selected field that has an index, else by namespace; it compares the remaining
 * conditions, reading each field at the path of its name. Honours `limit`; there is no
 * continuation.
 */
int kc_cache_list(kc_cache *cache, const kc_kind *kind, const kc_list_opts *opts,
                  kc_object_list *ret, kc_error *err);
/* A client handle whose reads come from this cache and see its own writes. The caller owns one
 * reference; do not use the handle after the cache is freed. */
kc_client *kc_cache_client(kc_cache *cache);

/* ---- indexes ---- */

/* Calls `emit` for each value under which the object is to be found: the same for the same object,
 * at any time. Runs on a thread of the cache, and on that of a client that has written one. */
typedef void kc_index_emit(kc_str value, void *to);
typedef void kc_index_fn(const kc_object *object, kc_index_emit *emit, void *to, void *user);
/* Call before the kind's informer starts: KC_CONFLICT afterwards, or when the name is taken. */
int kc_cache_add_index(kc_cache *cache, const kc_kind *kind, const char *name, kc_index_fn *fn,
                       void *user, kc_error *err);
/* Indexes by the text at a path: after kc_cache_add_path_index(cache, &kc_kind_pod,
 * "spec.nodeName", err), list with .index = "spec.nodeName". */
int kc_cache_add_path_index(kc_cache *cache, const kc_kind *kind, const char *path, kc_error *err);

/* ---- informers ---- */

/* The informer of a kind, started if the cache is started. Each call adds one user; release it. The
 * last release stops the informer and blocks until its thread has ended. Remove the event handlers
 * first, and never release from within one. */
kc_informer *kc_cache_informer(kc_cache *cache, const kc_kind *kind, kc_error *err);
/* Metadata only. Shares the informer of whole objects if one exists. */
kc_informer *kc_cache_metadata_informer(kc_cache *cache, const kc_kind *kind, kc_error *err);
kc_informer *kc_informer_release(kc_informer *informer);
KC_AUTO_DEFINE(kc_informer, kc_informer_release)

/* True when the first list is cached and the event handlers registered before it have been called.
 */
bool kc_informer_has_synced(const kc_informer *informer);
bool kc_informer_wait_synced(kc_informer *informer, int64_t deadline, kc_cancel *cancel);
/* The newest resourceVersion that the cache reflects completely; 0 before the first list. */
uint64_t kc_informer_revision(const kc_informer *informer);
/* The error of the last attempt to list or watch; false if it succeeded. */
bool kc_informer_last_error(const kc_informer *informer, kc_error *ret);
const kc_kind *kc_informer_kind(const kc_informer *informer);
size_t kc_informer_count(const kc_informer *informer);

/* A change of an object. `old` is NULL for an add; for a delete, `object` is the last known state.
 * Both are borrowed: take a reference to keep one. */
typedef struct kc_change {
    const kc_object *old, *object;
    bool initial;       /* An add from the first list (also for a late event handler). */
    bool resync;        /* An update without a change. */
    bool state_unknown; /* A delete that the watch missed: `object` may be older than the last
                         * state. */
} kc_change;

/* On a thread of the cache, one change after the other, in the order of the server. Must not block:
 * it delays every other listener of the kind, and other kinds: the cache has few threads. (Reading
 * from the cache is fine.) */
typedef struct kc_event_handler_ops {
    void (*added)(const kc_change *change, void *user);
    void (*updated)(const kc_change *change, void *user);
    void (*deleted)(const kc_change *change, void *user);
    void (*synced)(void *user); /* Called after the initial adds. Each may be NULL. */
} kc_event_handler_ops;

typedef struct kc_event_handler kc_event_handler;
/* Registers an event handler. It first receives the cached objects as adds. `resync` is its period
 * (0: the cache's, -1: never). `ops` must live as long as the event handler. */
kc_event_handler *kc_informer_add_handler(kc_informer *informer, const kc_event_handler_ops *ops,
                                          void *user, int64_t resync);
bool kc_event_handler_has_synced(const kc_event_handler *listener);
/* After it returns, no function of the event handler runs or will run. Not from within one. NULL is
 * allowed; returns NULL. */
kc_event_handler *kc_event_handler_remove(kc_event_handler *listener);
KC_AUTO_DEFINE(kc_event_handler, kc_event_handler_remove)

/* ---- health ---- */

/* Returns 0 when no informer is stalled, else an error that names one. For /readyz. */
int kc_cache_check(kc_cache *cache, kc_error *err);

#endif
