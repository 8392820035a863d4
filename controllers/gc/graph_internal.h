/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_internal.h: nodes and edges. graph.c makes and joins them, graph_change.c knows what
 * happens to them.
 *
 * Invariants: every edge is in its owner's list; only nodes that are seen have edges of their own
 * (of the others nobody knows the owners); a node that is not seen has dependents, or is about to
 * be freed.
 */
#ifndef KC_CONTROLLERS_GC_GRAPH_INTERNAL_H
#define KC_CONTROLLERS_GC_GRAPH_INTERNAL_H

#include "gc/graph.h"

typedef struct kc__gc_edge {
    kc__gc_node *owner, *dependent;
    kc_link link;             /* In the owner's list. */
    kc__gc_word *type, *name; /* What the dependent calls its owner. */
    bool blocks;              /* blockOwnerDeletion. */
} kc__gc_edge;

typedef enum kc__gc_state {
    KC__GC_VIRTUAL,
    KC__GC_SEEN,
    KC__GC_DOUBTED, /* Its informer says that it is gone. */
    KC__GC_LOST,    /* And so says the server: its name and namespace were surely these. */
    KC__GC_MISSING, /* Never seen, and the server does not have it under this name. */
} kc__gc_state;

/* Small: there is one for each object of a plane. */
struct kc__gc_node {
    kc__gc_word *type, *ns;
    const char *name;   /* Behind the uid, or, of one that was renamed, in memory of its own. */
    kc__gc_edge *edges; /* To its owners, in their order. */
    kc_list dependents; /* Edges that end here. */
    uint64_t revision;
    uint32_t n_edges, n_dependents;
    uint32_t n_blocking; /* Dependents that hold up its deletion. */
    uint32_t uid_n, name_n, text_n;
    uint8_t state; /* kc__gc_state */
    uint8_t tries;
    bool deleted : 1, waits : 1, releases : 1, orphan_finalizer : 1, foreground_finalizer : 1;
    char text[]; /* The uid, then the name. */
};

struct kc__gc_graph {
    kc__gc_sink sink;
    kc_map nodes; /* By uid. */
    kc__gc_words words;
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

/* An object has owners in its own namespace, or without one. */
static inline bool kc__gc_in_reach(const kc__gc_edge *edge)
{
    return !edge->owner->ns || edge->owner->ns == edge->dependent->ns;
}

/* The dependent calls its owner by the name it has; of its kind any version will do. */
bool kc__gc_names_it(const kc__gc_edge *edge);

#define kc__gc_dependents_each(node, edge) \
    kc_list_each (&(node)->dependents, kc__gc_edge, link, edge)

/* Somebody is to look at it. */
static inline void kc__gc_look(const kc__gc_graph *graph, const kc__gc_node *node)
{
    const kc__gc_identity id = kc__gc_identity_of(node);
    graph->sink.look(&id, graph->sink.user);
}

kc__gc_node *kc__gc_find(const kc__gc_graph *graph, kc_str uid);
/* Virtual, without edges. */
kc__gc_node *kc__gc_node_new(kc__gc_graph *graph, const kc__gc_identity *id);
/* Nobody refers to it. */
void kc__gc_node_drop(kc__gc_graph *graph, kc__gc_node *node);
bool kc__gc_is_called(const kc__gc_node *node, const kc__gc_identity *id);
void kc__gc_rename(kc__gc_graph *graph, kc__gc_node *node, const kc__gc_identity *id);

/* An array of edges of one dependent, not joined to their owners yet; joined by kc__gc_join. */
void kc__gc_join(kc__gc_graph *graph, kc__gc_edge *edge);
/* Parts all edges of an array (of n) from their owners and frees it. Owners whose deletion nothing
 * holds up any more are said; those that are not seen, and that nobody refers to, are dropped. */
void kc__gc_part(kc__gc_graph *graph, kc__gc_edge *edges, size_t n);

#endif
