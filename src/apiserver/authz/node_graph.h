/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_graph.h: which nodes are related to which objects. Used by node_authorizer.c, which follows
 * the store and guards the graph by a lock; not thread-safe.
 *
 *     node ◀── pod ◀── secret, config map, service account, resource claim
 *     node ◀── pod ◀── volume claim ◀── volume ◀── secret
 *     node ◀── volume attachment, resource slice
 *
 * Each object has the set of nodes that can be reached from it, so a decision costs one lookup,
 * whatever the number of pods that refer to the object.
 */
#ifndef KC_APISERVER_AUTHZ_NODE_GRAPH_H
#define KC_APISERVER_AUTHZ_NODE_GRAPH_H

#include "apiserver/authz/pod_references.h"
#include "kc/map.h"
#include "kc/object.h"

typedef struct kc__authz_graph {
    kc_map vertices; /* Of graph_vertex, by type, namespace and name. */
    kc_map reaches;  /* Of graph_reach, by object and node. */
    size_t bytes;    /* Memory of all entries, estimated. */
} kc__authz_graph;

void kc__authz_graph_done(kc__authz_graph *graph);

/* Set or, with NULL, remove an object. The key is its key in the store. */
void kc__authz_graph_set_pod(kc__authz_graph *graph, kc_str key, const kc_object *pod);
void kc__authz_graph_set_volume(kc__authz_graph *graph, kc_str key, const kc_object *volume);
void kc__authz_graph_set_attachment(kc__authz_graph *graph, kc_str key,
                                    const kc_object *attachment);
void kc__authz_graph_set_slice(kc__authz_graph *graph, kc_str key, const kc_object *slice);

/* Whether an object is related to a node. The namespace is empty for objects of the cluster. */
bool kc__authz_graph_relates(const kc__authz_graph *graph, kc__authz_object_type type, kc_str ns,
                             kc_str name, kc_str node);

#endif
