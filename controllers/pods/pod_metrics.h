/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_metrics.h: the metrics of the pod runner, with the kubelet's names.
 */
#ifndef KC_CONTROLLERS_POD_METRICS_H
#define KC_CONTROLLERS_POD_METRICS_H

#include "kc/metrics.h"

#include "pods/nodes.h"
#include "pods/pod_record.h"

typedef struct kc__pod_metrics {
    kc_metrics *registry;
    kc_metrics_hook hook;
    const kc__pods_nodes *nodes;
    kc_gauge *running;
    kc_counter *started[2]; /* Containers; init containers. */
    kc_counter *not_started[2];
    kc_metric *rejected;
    kc_metric *evicted; /* By the exceeded limit. */
    kc_histogram *start_duration;
    kc_counter *probed[KC__POD_PROBE_TYPES][2]; /* Failed; succeeded. */
} kc__pod_metrics;

/* `registry` may be NULL: then nothing is counted. */
int kc__pod_metrics_init(kc__pod_metrics *m, kc_metrics *registry, const kc__pods_nodes *nodes,
                         kc_error *err);
/* Call before the nodes are freed. */
void kc__pod_metrics_done(kc__pod_metrics *m);

#endif
