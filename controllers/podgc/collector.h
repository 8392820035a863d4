/* SPDX-License-Identifier: Apache-2.0 */
/* collector.h: what the two halves of the collector of pods share. */
#ifndef KC_CONTROLLERS_COLLECTOR_H
#define KC_CONTROLLERS_COLLECTOR_H

#include "common/disruption.h"
#include "kc/controller.h"
#include "kc/map.h"
#include "kc/thread.h"

/* A node that pods are on, and that is not there. */
typedef struct kc__missing {
    char *node;
    int64_t since;
} kc__missing;

typedef struct kc__collector {
    size_t threshold; /* Ended pods that are kept. */
    kc_metric *deleted, *failed;
    kc_mutex mutex; /* Guards missing. */
    kc_map missing; /* To kc__missing, by node. */
} kc__collector;

/* Deletes one, and counts it: `why` as the metrics say it. */
int kc__collect(kc_context *ctx, const kc__collector *collector, const kc_object *pod,
                const char *why, const kc__disruption *how, kc_error *err);

/* Of a kc__collector: when a lead begins, and at its end. */
void kc__forget_missing(void *collector);
/* Pods of nodes that are gone: orphans.c. */
int kc__orphans_setup(kc_manager *manager, kc__collector *collector, int workers, kc_error *err);

#endif
