/* SPDX-License-Identifier: Apache-2.0 */
/* collector.h: shared by the two halves of the pod garbage collector. */
#ifndef KC_CONTROLLERS_COLLECTOR_H
#define KC_CONTROLLERS_COLLECTOR_H

#include "common/disruption.h"
#include "kc/controller.h"
#include "kc/controllers.h"
#include "kc/map.h"
#include "kc/thread.h"

/* A node that pods refer to and that does not exist. */
typedef struct kc__podgc_missing_node {
    char *node;
    int64_t since;
} kc__podgc_missing_node;

typedef struct kc__podgc_collector {
    size_t threshold; /* Number of terminated pods to keep. */
    kc_metric *deleted, *failed;
    kc_mutex mutex; /* Guards missing. */
    kc_map missing; /* To kc__podgc_missing_node, by node. */
} kc__podgc_collector;

/* Deletes a pod and counts it; `why` is the metric's reason label. */
int kc__podgc_collect(kc_context *ctx, const kc__podgc_collector *collector, const kc_object *pod,
                      const char *why, const kc__common_disruption *how, kc_error *err);

/* On a kc__podgc_collector: called when this process becomes the leader and when it stops. */
void kc__podgc_forget_missing(void *collector);
/* Deletes pods of nodes that do not exist: orphans.c. */
int kc__podgc_orphans_setup(kc_manager *manager, kc__podgc_collector *collector,
                            const kc_controllers_opts *opts, kc_error *err);

#endif
