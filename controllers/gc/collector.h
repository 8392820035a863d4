/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collector.h: the parts of the garbage collector, and who calls whom:
 *
 *     discovery ──▶ monitors.c ── informers ──▶ graph ── uids ──▶ two queues
 *                                                                  │
 *     server ◀── operations.c ◀── delete_worker.c, release_worker.c ◀┘
 *
 * garbage_collector.c puts them together.
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

/* What the server has for a type. */
typedef struct kc__gc_resource {
    const kc_kind *kind; /* Lives as long as the manager's client. */
    bool merges_only;    /* Strategic patches are refused: a custom resource. */
} kc__gc_resource;

/* An informer that feeds the graph. */
typedef struct kc__gc_monitor {
    kc__gc *gc;
    const kc_kind *kind;
    char *type;
    kc_informer *informer;
    kc_listener *listener;
    int64_t since;
    int missed; /* Discoveries in a row that did not show its resource. */
} kc__gc_monitor;

typedef enum kc__gc_queue { KC__GC_DELETE, KC__GC_RELEASE, KC__GC_QUEUES } kc__gc_queue;

struct kc__gc {
    kc_cache *cache;
    kc_recorder *recorder;
    const kc_clock *clock;
    kc_metrics *metrics;
    kc_metrics_hook hook; /* Sets these when somebody looks: */
    kc_gauge *nodes, *edges, *bytes;
    kc_counter *sync_errors;
    kc__gc_absents absents;
    /* Guards the rest. Under it only the locks of queues, of the recorder and of informers. */
    kc_mutex mutex;
    kc__gc_graph *graph;
    kc_queue *queues[KC__GC_QUEUES];   /* NULL while nobody works on them. */
    kc_map kinds;                      /* What the server has, or had, by type: kinds.c. */
    KC_VEC(kc__gc_monitor *) monitors; /* Changed by one thread, kc__gc_monitor_resources'. */
    bool discovered;
};

/* ---- monitors.c ---- */

/* Asks what resources there are, and starts and stops monitors. A reconciler; its key does not
 * matter. */
kc_result kc__gc_monitor_resources(kc_context *ctx, const kc_request *request, kc_error *err);
/* Every resource there is has been listed; one that cannot be is waited for only so long. Then the
 * graph has all dependents of an owner. */
bool kc__gc_sees_all(kc__gc *gc);
void kc__gc_stop_monitors(kc__gc *gc);

/* ---- kinds.c ---- */

char *kc__gc_type_of(const kc_kind *kind);
/* False when the server does not have it. With the mutex not held. */
bool kc__gc_resource_of(kc__gc *gc, kc_str type, kc__gc_resource *ret);
void kc__gc_note_merges_only(kc__gc *gc, kc_str type);
/* The next four: with the mutex held. What is served is told now by kc__gc_serve, all of it or, if
 * not complete, what is known of it. */
void kc__gc_serve_anew(kc__gc *gc, bool complete);
void kc__gc_serve(kc__gc *gc, const kc_kind *kind);
/* True when a kind is served that was not before kc__gc_serve_anew. */
bool kc__gc_serves_more(const kc__gc *gc);
void kc__gc_kinds_done(kc__gc *gc);

/* ---- operations.c: what is done at the server ---- */

/* Its metadata, from the server itself. */
kc_object *kc__gc_get(kc_context *ctx, const kc_kind *kind, const kc__gc_identity *what,
                      kc_error *err);
/* Deletes it, if it still is what the item says: KC_CONFLICT when its owners have changed. What is
 * gone already is success. */
int kc__gc_delete(kc_context *ctx, const kc_kind *kind, const kc__gc_item *item,
                  const char *propagation, kc_error *err);
/* Takes a finalizer off. */
int kc__gc_remove_finalizer(kc_context *ctx, const kc_kind *kind, const kc__gc_item *item,
                            kc_str finalizer, kc_error *err);
/* Removes the references to owners of these uids (the keys of a map). */
int kc__gc_remove_refs(kc_context *ctx, const kc__gc_resource *resource, const kc__gc_item *item,
                       const kc_map *uids, kc_error *err);
/* Lets none of its references block its owner's deletion any more; the item then says so. */
int kc__gc_unblock(kc_context *ctx, const kc__gc_resource *resource, kc__gc_item *item,
                   kc_error *err);

/* ---- the workers ---- */

/* The key's name is a uid; its namespace is there for turns to be taken. */
kc_result kc__gc_attempt_to_delete(kc_context *ctx, const kc_request *request, kc_error *err);
/* The key's namespace is the uid of an owner and its name that of a dependent; or its name is that
 * of the owner, whose dependents have all been released. */
kc_result kc__gc_attempt_to_release(kc_context *ctx, const kc_request *request, kc_error *err);

#endif
