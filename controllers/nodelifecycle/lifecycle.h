/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle.h: what the files of this controller share. */
#ifndef KC_CONTROLLERS_LIFECYCLE_H
#define KC_CONTROLLERS_LIFECYCLE_H

#include "api/core_v1/zz_generated.h"
#include "kc/controller.h"
#include "nodelifecycle/nodes.h"

#define KC__NOT_READY   "node.kubernetes.io/not-ready"
#define KC__UNREACHABLE "node.kubernetes.io/unreachable"
#define KC__NO_SCHEDULE "NoSchedule"
#define KC__NO_EXECUTE  "NoExecute"

typedef struct kc__lifecycle {
    kc__nodes nodes;
    kc_cache *cache;
    kc_recorder *recorder;
    kc_histogram *duration;
    /* Of node_watch.c, while it watches. */
    kc_informer *informers[3];
    kc_listener *listeners[3];
} kc__lifecycle;

/* Nodes, their leases and pods, watched: node_watch.c. */
kc_source *kc__node_watch(kc__lifecycle *lifecycle);

/* ---- health.c ---- */

kc_node_condition *kc__node_condition(const kc_cluster_node *node, const char *type);
/* Says in the conditions that the node is not heard of. False when Ready said so already. */
bool kc__node_lose(kc_cluster_node *node, kc_time now);

/* ---- node_taints.c ---- */

bool kc__has_taint(const kc_cluster_node *node, const char *key, const char *effect);
/* Gives the node the taints its conditions ask for, and takes away those they do not; of the two
 * that drive pods away it gets `no_execute` (NULL: neither). True if something changed. */
bool kc__node_set_taints(kc_cluster_node *node, const char *no_execute, kc_time now);
/* Older names of labels get the values of the newer ones. True if something changed. */
bool kc__node_set_labels(kc_cluster_node *node);

/* Pods of a node that is not ready are not ready: lost_pods.c. */
int kc__mark_pods_not_ready(kc_context *ctx, kc_str node, kc_error *err);

/* Deletes pods that do not tolerate the taints of their node: taint_eviction.c. */
int kc__taint_eviction_setup(kc_manager *manager, int workers, kc_error *err);

#endif
