/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collector.h: the files of the garbage collector and their calls:
 *
 *     discovery ──▶ monitors.c ── informers ──▶ graph ── uids ──▶ two queues
 *                                                                  │
 *     server ◀── operations.c ◀── delete_worker.c, release_worker.c ◀┘
 *
 * garbage_collector.c connects them.
 */
#ifndef KC_CONTROLLERS_GC_COLLECTOR_H
#define KC_CONTROLLERS_GC_COLLECTOR_H

#include "gc/absent.h"
#include "gc/graph.h"

#include "kc/cache.h"
#include "kc/reconcile.h"
#include "kc/recorder.h"
#include "kc/source.h"

typedef struct kc__gc kc__gc;

/* The resource that serves a type. */
typedef struct kc__gc_resource {
    const kc_kind *kind; /* Valid as long as the manager's client. */
    bool merges_only;    /* The resource is a custom resource and refuses strategic merge
                          * patches. */
} kc__gc_resource;

/* An informer that feeds the graph. */
typedef struct kc__gc_monitor {
    kc__gc *gc;
    const kc_kind *kind;
    char *type;
    kc_informer *informer;
    kc_event_handler *listener;
    int64_t since;
    int missed; /* Number of discoveries without its resource, with no deletions left to deliver. */
} kc__gc_monitor;

typedef enum kc__gc_queue { KC__GC_DELETE, KC__GC_RELEASE, KC__GC_QUEUES } kc__gc_queue;

struct kc__gc {
    kc_cache *cache;
    kc_recorder *recorder;
    const kc_clock *clock;
    kc_metrics *metrics;
    kc_metrics_hook hook; /* Sets these when metrics are collected: */
    kc_gauge *nodes, *edges, *bytes;
    kc_counter *sync_errors;
    kc__gc_absents absents;
    /* Guards the rest. Holders take only the locks of queues, of the recorder and of informers. */
    kc_mutex mutex;
    kc__gc_graph *graph;
    kc_queue *queues[KC__GC_QUEUES];   /* NULL while no worker runs. */
    kc_map kinds;                      /* The served resources, past and present, by type:
                                        * kinds.c. */
    KC_VEC(kc__gc_monitor *) monitors; /* Changed only by the thread of kc__gc_monitor_resources. */
    bool discovered;
};

/* ---- monitors.c ---- */

/* Discovers resources and starts and stops monitors. A reconciler; it ignores its key. */
kc_result kc__gc_monitor_resources(kc_context *ctx, const kc_request *request, kc_error *err);
/* Waits until every resource has been listed, so that the graph has all dependents of each owner.
 * The wait for a resource that cannot be listed has a limit. */
bool kc__gc_has_synced(kc__gc *gc);
void kc__gc_stop_monitors(kc__gc *gc);

/* ---- kinds.c ---- */

char *kc__gc_type_of(const kc_kind *kind);
/* False if the server does not serve the type. The caller must not hold the mutex. */
bool kc__gc_resource_of(kc__gc *gc, kc_str type, kc__gc_resource *ret);
void kc__gc_note_merges_only(kc__gc *gc, kc_str type);
/* The next four need the mutex. kc__gc_resources_add reports each served resource: all of them, or,
 * if discovery was incomplete, those that are known. */
void kc__gc_resources_begin(kc__gc *gc, bool complete);
void kc__gc_resources_add(kc__gc *gc, const kc_kind *kind);
/* True if a kind is served that was not served before kc__gc_resources_begin. */
bool kc__gc_resources_have_new(const kc__gc *gc);
void kc__gc_kinds_done(kc__gc *gc);

/* ---- operations.c: requests to the server ---- */

/* Reads the object's metadata from the server. */
kc_object *kc__gc_get(kc_context *ctx, const kc_kind *kind, const kc__gc_identity *what,
                      kc_error *err);
/* Deletes the object if it is still as in the item: KC_CONFLICT if its owners have changed. An
 * object that is gone already counts as success. */
int kc__gc_delete(kc_context *ctx, const kc_kind *kind, const kc__gc_item *item,
                  const char *propagation, kc_error *err);
/* Removes a finalizer. */
int kc__gc_remove_finalizer(kc_context *ctx, const kc_kind *kind, const kc__gc_item *item,
                            kc_str finalizer, kc_error *err);
/* Removes the owner references with these uids (the keys of a map). */
int kc__gc_remove_refs(kc_context *ctx, const kc__gc_resource *resource, const kc__gc_item *item,
                       const kc_map *uids, kc_error *err);
/* Sets blockOwnerDeletion to false in all its references; updates the item. */
int kc__gc_unblock(kc_context *ctx, const kc__gc_resource *resource, kc__gc_item *item,
                   kc_error *err);

/* ---- the workers ---- */

/* The key's name is a uid; the key's namespace only serves the fair queue. */
kc_result kc__gc_attempt_to_delete(kc_context *ctx, const kc_request *request, kc_error *err);
/* The key's namespace is the uid of an owner and its name the uid of a dependent; or its name is
 * the uid of an owner whose dependents have all been released. */
kc_result kc__gc_attempt_to_release(kc_context *ctx, const kc_request *request, kc_error *err);

#endif
