/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle.h: what the files of this controller share. */
#ifndef KC_CONTROLLERS_LIFECYCLE_H
#define KC_CONTROLLERS_LIFECYCLE_H

#include "api/core_v1/zz_generated.h"
#include "kc/controller.h"
#include "kc/controllers.h"
#include "nodelifecycle/nodes.h"

#define KC__LIFECYCLE_NOT_READY   "node.kubernetes.io/not-ready"
#define KC__LIFECYCLE_UNREACHABLE "node.kubernetes.io/unreachable"
#define KC__LIFECYCLE_NO_SCHEDULE "NoSchedule"
#define KC__LIFECYCLE_NO_EXECUTE  "NoExecute"

typedef struct kc__lifecycle_controller {
    kc__lifecycle_nodes nodes;
    kc_cache *cache;
    kc_recorder *recorder;
    kc_histogram *duration;
    /* Registrations of node_watch.c. */
    kc_informer *informers[3];
    kc_event_handler *listeners[3];
} kc__lifecycle_controller;

/* Watches nodes, their leases and pods: node_watch.c. */
kc_source *kc__lifecycle_node_watch(kc__lifecycle_controller *lifecycle);

/* ---- health.c ---- */

kc_node_condition *kc__lifecycle_node_condition(const kc_cluster_node *node, const char *type);
/* Sets the conditions of a lost node to Unknown. False if Ready was Unknown already. */
bool kc__lifecycle_node_mark_lost(kc_cluster_node *node, kc_time now);

/* ---- node_taints.c ---- */

bool kc__lifecycle_has_taint(const kc_cluster_node *node, const char *key, const char *effect);
/* Adds the taints that the node's conditions require and removes the others; of the two NoExecute
 * taints the node gets `no_execute` (NULL: neither). True if something changed. */
bool kc__lifecycle_node_set_taints(kc_cluster_node *node, const char *no_execute, kc_time now);
/* Copies the values of labels to their deprecated names. True if something changed. */
bool kc__lifecycle_node_set_labels(kc_cluster_node *node);

/* Marks the pods of a node that is not ready as not ready: lost_pods.c. */
int kc__lifecycle_mark_pods_not_ready(kc_context *ctx, kc_str node, kc_error *err);

/* Deletes pods that do not tolerate a NoExecute taint of their node: taint_eviction.c. */
int kc__lifecycle_taint_eviction_setup(kc_manager *manager, const kc_controllers_opts *opts,
                                       kc_error *err);

#endif
