/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h: the graph of owner references.
 *
 *     node ──edge──▶ node        an owner reference: from the dependent to its owner
 *
 * Nodes are objects by uid. A node is
 *
 *     seen      an informer has observed it;
 *     virtual   a dependent refers to it, and no informer has observed it: look it up on the
 *               server;
 *     doubted   its informer reported a deletion: look it up too, since an informer with a
 *               selector also reports the deletion of objects that stop matching;
 *     gone      the server does not have it, but a dependent still refers to it.
 *
 * So every edge ends at a node, and the graph has no node that is neither seen nor referred to. An
 * owner reference identifies its owner by kind and name, in the dependent's namespace or
 * cluster-scoped. A reference whose name differs from the owner's proves nothing: such an edge
 * counts only after a lookup of that name on the server.
 *
 * The graph sends no requests and never blocks. It reports the consequences of a change at once
 * through the functions of kc__gc_sink, which must not call the graph. Not thread-safe: the caller
 * locks.
 */
#ifndef KC_CONTROLLERS_GC_GRAPH_H
#define KC_CONTROLLERS_GC_GRAPH_H

#include "gc/interner.h"

#include "kc/dlist.h"
#include "kc/meta.h"

typedef struct kc__gc_graph kc__gc_graph;
typedef struct kc__gc_node kc__gc_node;

/* The identity of an object in a reference. `type` is apiVersion and kind: "apps/v1 Deployment". */
typedef struct kc__gc_identity {
    kc_str type, ns, name, uid;
} kc__gc_identity;

/* The apiVersion and kind of a type. */
void kc__gc_type_parts(kc_str type, kc_str *ret_version, kc_str *ret_kind);

typedef struct kc__gc_sink {
    /* The object may have to be deleted, its deletion may proceed, or it may not exist. */
    void (*enqueue)(const kc__gc_identity *what, void *user);
    /* The owner is being deleted with orphan propagation: release this dependent, or, with an empty
     * uid, all dependents have been released. */
    void (*release)(kc_str owner, kc_str dependent, void *user);
    /* A dependent refers to an object of another namespace, or a cluster-scoped dependent refers to
     * a namespaced object. */
    void (*report_invalid_namespace)(const kc__gc_identity *dependent, const kc__gc_identity *owner,
                                     void *user);
    void *user;
} kc__gc_sink;

kc__gc_graph *kc__gc_graph_new(const kc__gc_sink *sink);
/* NULL is allowed; returns NULL. */
kc__gc_graph *kc__gc_graph_free(kc__gc_graph *graph);
KC_AUTO_DEFINE(kc__gc_graph, kc__gc_graph_free)

/* ---- changes ---- */

/* An informer of `type` reports an added or updated object. */
void kc__gc_observe(kc__gc_graph *graph, kc_str type, const kc_object *object);
/* An informer reports a deletion. The dependents are queued only after kc__gc_absent. */
void kc__gc_observe_delete(kc__gc_graph *graph, kc_str uid);
/* The server does not have the object: no object has this name, or it has another uid. */
void kc__gc_absent(kc__gc_graph *graph, const kc__gc_identity *what);
/* The server has the object under this name, though no informer has reported it. */
void kc__gc_exists(kc__gc_graph *graph, const kc__gc_identity *what);
/* The type is not watched any more: its seen nodes become virtual. */
void kc__gc_unwatched(kc__gc_graph *graph, kc_str type);

/* Emits all pending work again, for a sink that was just connected. */
void kc__gc_resend(kc__gc_graph *graph);
/* Emits undecided nodes again (kc__gc_node_attempts): the server serves more kinds now. */
void kc__gc_reconsider(kc__gc_graph *graph);

/* ---- reading ---- */

/* What the graph knows about an owner reference without a request. */
typedef enum kc__gc_owner_state {
    KC__GC_UNSURE,  /* Look it up on the server. */
    KC__GC_SOLID,   /* The owner exists. */
    KC__GC_WAITING, /* The owner exists, is terminating and waits for its dependents. */
    KC__GC_ABSENT,  /* The owner does not exist. */
    KC__GC_FOREIGN, /* The owner is (or was) in a namespace in which this dependent cannot have an
                     * owner. */
} kc__gc_owner_state;

typedef struct kc__gc_ref {
    kc_str type, name, uid;
    bool blocks;
    kc__gc_owner_state owner_state;
} kc__gc_ref;

/* A copy of a node at one moment. */
typedef struct kc__gc_item {
    kc__gc_identity id;
    uint64_t revision;            /* Its resourceVersion; 0 if that is not a number. */
    bool seen, unconfirmed, gone; /* None of the three: virtual. */
    bool deleted;                 /* It has a deletionTimestamp. */
    bool waits;                   /* Terminating in the foreground: waits for its dependents. */
    bool releases;         /* Terminating with orphan propagation: waits for their release. */
    bool orphan_finalizer; /* Its finalizers, also if it is not terminating. */
    bool foreground_finalizer;
    size_t n_dependents;
    size_t n_blocking;      /* The dependents that block its deletion. */
    bool a_dependent_waits; /* One of the dependents `waits`. */
    kc__gc_ref *refs;
    size_t n_refs;
} kc__gc_item;

/* False if the node does not exist. The item is allocated from the arena. */
bool kc__gc_lookup(const kc__gc_graph *graph, kc_str uid, kc_arena *arena, kc__gc_item *ret);
/* Whether it is terminating with orphan propagation. */
bool kc__gc_is_orphaning(const kc__gc_graph *graph, kc_str uid);
/* Records an undecided attempt; returns the number of earlier ones in a row since it was last
 * seen. */
unsigned kc__gc_node_attempts(kc__gc_graph *graph, kc_str uid);

/* Number of nodes and edges, and their memory in bytes. */
typedef struct kc__gc_size {
    size_t nodes, edges, bytes;
} kc__gc_size;
kc__gc_size kc__gc_graph_size(const kc__gc_graph *graph);

#endif
