/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h: who owns whom.
 *
 *     node ──edge──▶ node        an owner reference: from the dependent to its owner
 *
 * Nodes are objects, by their uid. One is
 *
 *     seen      an informer has it;
 *     virtual   somebody refers to it, nobody has seen it: to be looked up at the server;
 *     doubted   it was seen, and its informer says that it was deleted: to be looked up too, since
 *               an informer may keep only what a selector names, and then says that of what
 *               leaves it;
 *     gone      the server does not have it, but somebody still refers to it.
 *
 * So every edge ends at a node, and what is neither seen nor referred to is not here. An owner
 * reference names its owner: kind and name, in the dependent's own namespace unless the owner has
 * none. A name that is not the owner's is no proof of anything: such an edge counts only after the
 * server was asked about that very name.
 *
 * The graph asks nobody and waits for nothing. What a change calls for it says at once, through the
 * functions of kc__gc_sink, which must not come back into the graph. Not for several threads at a
 * time: its user has the lock.
 */
#ifndef KC_CONTROLLERS_GC_GRAPH_H
#define KC_CONTROLLERS_GC_GRAPH_H

#include "gc/words.h"

#include "kc/list.h"
#include "kc/meta.h"

typedef struct kc__gc_graph kc__gc_graph;
typedef struct kc__gc_node kc__gc_node;

/* An object as others name it. `type` is "apps/v1 Deployment": apiVersion and kind. */
typedef struct kc__gc_identity {
    kc_str type, ns, name, uid;
} kc__gc_identity;

/* The apiVersion and kind of a type. */
void kc__gc_type_parts(kc_str type, kc_str *ret_version, kc_str *ret_kind);

typedef struct kc__gc_sink {
    /* It may have to be deleted, or its deletion may go on, or it may not exist at all. */
    void (*look)(const kc__gc_identity *what, void *user);
    /* The owner is being deleted and its dependents are to be released: this one, or, with an empty
     * uid, the last one has been. */
    void (*release)(kc_str owner, kc_str dependent, void *user);
    /* A dependent refers to an object of another namespace, or, having none itself, to one that has
     * one. */
    void (*complain)(const kc__gc_identity *dependent, const kc__gc_identity *owner, void *user);
    void *user;
} kc__gc_sink;

kc__gc_graph *kc__gc_graph_new(const kc__gc_sink *sink);
/* NULL is allowed; returns NULL. */
kc__gc_graph *kc__gc_graph_free(kc__gc_graph *graph);
KC_AUTO_DEFINE(kc__gc_graph, kc__gc_graph_free)

/* ---- what happens ---- */

/* An informer of `type` has it, new or changed. */
void kc__gc_saw(kc__gc_graph *graph, kc_str type, const kc_object *object);
/* An informer says that it was deleted. Whoever depends on it is not looked at before
 * kc__gc_absent. */
void kc__gc_lost(kc__gc_graph *graph, kc_str uid);
/* The server does not have it: there is nothing by this name, or it has another uid. */
void kc__gc_absent(kc__gc_graph *graph, const kc__gc_identity *what);
/* The server has it, by this name, though no informer has told us. */
void kc__gc_exists(kc__gc_graph *graph, const kc__gc_identity *what);
/* Nobody watches objects of this type any more: those that were seen are virtual now. */
void kc__gc_unwatched(kc__gc_graph *graph, kc_str type);

/* Says again all that is not done yet: for who did not listen before. */
void kc__gc_say_again(kc__gc_graph *graph);
/* Says again what could not be decided (kc__gc_tried): more kinds are known now. */
void kc__gc_reconsider(kc__gc_graph *graph);

/* ---- looking ---- */

/* What is known of an owner reference without asking the server. */
typedef enum kc__gc_standing {
    KC__GC_UNSURE,  /* Ask. */
    KC__GC_SOLID,   /* The owner is there. */
    KC__GC_WAITING, /* It is there, being deleted, and waits for its dependents to go. */
    KC__GC_ABSENT,  /* It is not there any more. */
    KC__GC_FOREIGN, /* It is (or was) in a namespace where this dependent can have no owner. */
} kc__gc_standing;

typedef struct kc__gc_ref {
    kc_str type, name, uid;
    bool blocks;
    kc__gc_standing standing;
} kc__gc_ref;

/* A node as it was at a moment. */
typedef struct kc__gc_item {
    kc__gc_identity id;
    uint64_t revision;        /* Its resourceVersion; 0 if that is no number. */
    bool seen, doubted, gone; /* None of them: virtual. */
    bool deleted;             /* It has a deletionTimestamp. */
    bool waits;               /* And waits for its dependents to go. */
    bool releases;            /* And waits for them to be released. */
    bool orphan_finalizer;    /* Its finalizers, whether or not it is being deleted. */
    bool foreground_finalizer;
    size_t n_dependents;
    size_t n_blocking;      /* Of those, how many hold up its deletion. */
    bool a_dependent_waits; /* One of them `waits`. */
    kc__gc_ref *refs;
    size_t n_refs;
} kc__gc_item;

/* False when there is no such node. The item is the arena's. */
bool kc__gc_look_up(const kc__gc_graph *graph, kc_str uid, kc_arena *arena, kc__gc_item *ret);
/* Whether it is being deleted and its dependents are to be released. */
bool kc__gc_releases(const kc__gc_graph *graph, kc_str uid);
/* Nothing could be decided: how often that was so before, in a row, since it was last seen. */
unsigned kc__gc_tried(kc__gc_graph *graph, kc_str uid);

/* Nodes, edges, and the bytes they take. */
typedef struct kc__gc_size {
    size_t nodes, edges, bytes;
} kc__gc_size;
kc__gc_size kc__gc_graph_size(const kc__gc_graph *graph);

#endif
