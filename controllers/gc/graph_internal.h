/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_internal.h: nodes and edges. graph.c creates and connects them, graph_change.c applies
 * changes.
 *
 * Invariants: every edge is in its owner's list; only seen nodes have edges of their own (the
 * owners of other nodes are unknown); an unseen node has dependents or is about to be freed.
 */
#ifndef KC_CONTROLLERS_GC_GRAPH_INTERNAL_H
#define KC_CONTROLLERS_GC_GRAPH_INTERNAL_H

#include "gc/graph.h"

typedef struct kc__gc_edge {
    kc__gc_node *owner, *dependent;
    kc_dlist_link link;           /* In the owner's list. */
    kc__gc_interned *type, *name; /* The dependent's name for its owner. */
    bool blocks;                  /* blockOwnerDeletion. */
} kc__gc_edge;

typedef enum kc__gc_state {
    KC__GC_VIRTUAL,
    KC__GC_SEEN,
    KC__GC_UNCONFIRMED, /* Its informer has reported a deletion. */
    KC__GC_LOST,        /* The server has confirmed it: name and namespace are verified. */
    KC__GC_MISSING,     /* Never seen, and the server does not have it under this name. */
} kc__gc_state;

/* Kept small: one per object of the cluster. */
struct kc__gc_node {
    kc__gc_interned *type, *ns;
    const char *name;    /* Behind the uid, or, after a rename, allocated separately. */
    kc__gc_edge *edges;  /* To its owners, in their order. */
    kc_dlist dependents; /* Edges that end here. */
    uint64_t revision;
    uint32_t n_edges, n_dependents;
    uint32_t n_blocking; /* Number of dependents that block its deletion. */
    uint32_t uid_n, name_n, text_n;
    uint8_t state; /* kc__gc_state */
    uint8_t tries;
    bool deleted : 1, waits : 1, releases : 1, orphan_finalizer : 1, foreground_finalizer : 1;
    char text[]; /* The uid, then the name. */
};

struct kc__gc_graph {
    kc__gc_sink sink;
    kc_map nodes; /* By uid. */
    kc__gc_interner words;
    size_t n_edges, bytes;
};

static inline kc_str kc__gc_uid(const kc__gc_node *node)
{
    return kc_str_of(node->text, node->uid_n);
}

static inline kc_str kc__gc_name(const kc__gc_node *node)
{
    return kc_str_of(node->name, node->name_n);
}

static inline kc__gc_identity kc__gc_identity_of(const kc__gc_node *node)
{
    return (kc__gc_identity){kc__gc_text(node->type), kc__gc_text(node->ns), kc__gc_name(node),
                             kc__gc_uid(node)};
}

/* An object can have owners in its own namespace and cluster-scoped ones. */
static inline bool kc__gc_edge_scope_is_valid(const kc__gc_edge *edge)
{
    return !edge->owner->ns || edge->owner->ns == edge->dependent->ns;
}

/* The dependent refers to its owner by its current name; any version of the kind matches. */
bool kc__gc_edge_name_matches(const kc__gc_edge *edge);

#define kc__gc_dependents_each(node, edge) \
    kc_dlist_each (&(node)->dependents, kc__gc_edge, link, edge)

/* Emits the node for processing. */
static inline void kc__gc_node_enqueue(const kc__gc_graph *graph, const kc__gc_node *node)
{
    const kc__gc_identity id = kc__gc_identity_of(node);
    graph->sink.enqueue(&id, graph->sink.user);
}

kc__gc_node *kc__gc_find(const kc__gc_graph *graph, kc_str uid);
/* Creates a virtual node without edges. */
kc__gc_node *kc__gc_node_new(kc__gc_graph *graph, const kc__gc_identity *id);
/* No edge ends at the node. */
void kc__gc_node_drop(kc__gc_graph *graph, kc__gc_node *node);
bool kc__gc_node_has_identity(const kc__gc_node *node, const kc__gc_identity *id);
void kc__gc_rename(kc__gc_graph *graph, kc__gc_node *node, const kc__gc_identity *id);

/* Allocates the edges of one dependent, not joined to their owners; kc__gc_join joins them. */
void kc__gc_join(kc__gc_graph *graph, kc__gc_edge *edge);
/* Disconnects an array of n edges from their owners and frees it. Emits the owners whose deletion
 * is no longer blocked; drops unseen owners without references. */
void kc__gc_part(kc__gc_graph *graph, kc__gc_edge *edges, size_t n);

#endif
