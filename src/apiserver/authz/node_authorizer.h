/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_authorizer.h: the mode Node: what a node (node_identity.h) may do.
 *
 * A node reads the objects that the pods on it refer to, its own Node, lease and CSINode, and what
 * carries its name; a graph of pods and volumes follows the store (node_graph.h). What a node may
 * write is limited further by the admission plugin NodeRestriction. All other resources are the
 * same for all nodes: the rules of the ClusterRole system:node.
 */
#ifndef KC_APISERVER_AUTHZ_NODE_AUTHORIZER_H
#define KC_APISERVER_AUTHZ_NODE_AUTHORIZER_H

#include "apiserver/authz/authz.h"

typedef struct kc__authz_node kc__authz_node;

typedef struct kc__authz_node_opts {
    struct kc__store *store;
    struct kc__memory_account *memory; /* Accounts for the graph. Defaults to none. */
    kc_metrics *metrics;               /* Defaults to none. */
} kc__authz_node_opts;

/* Reads all pods and volumes. NULL if a metric cannot be registered. */
kc__authz_node *kc__authz_node_new(const kc__authz_node_opts *opts, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__authz_node *kc__authz_node_free(kc__authz_node *node);
KC_AUTO_DEFINE(kc__authz_node, kc__authz_node_free)

/* KC__AUTHZ_ALLOW, or KC__AUTHZ_NO_OPINION with the reason of Kubernetes, if it has one, appended
 * to `reason`, which may be NULL. Any thread. */
kc__authz_decision kc__authz_node_authorize(kc__authz_node *node, const kc__authz_attributes *a,
                                            kc_buf *reason);

/* Whether a decision may take more than a millisecond, because many pods or volumes have changed
 * since the last one. Any thread. */
bool kc__authz_node_takes_long(kc__authz_node *node, const kc__user *user);

#endif
