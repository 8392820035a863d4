/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_workload.c: columns of Deployments, ReplicaSets, ReplicationControllers, StatefulSets and
 * DaemonSets.
 */
#include "apiserver/printing/columns_internal.h"

static void cell_ready(kc_buf *out, kc__print_row *row)
{
    kc_buf_printf(out, "\"%lld/%lld\"",
                  (long long)kc_value_as_i64_or(kc__print_row_at(row, "status.readyReplicas"), 0),
                  (long long)kc_value_as_i64_or(kc__print_row_at(row, "spec.replicas"), 0));
}

static void workload_cell_containers(kc_buf *out, kc__print_row *row)
{
    kc__print_append_joined(out, kc__print_row_at(row, "spec.template.spec.containers"), "name",
                            ",");
}

static void workload_cell_images(kc_buf *out, kc__print_row *row)
{
    kc__print_append_joined(out, kc__print_row_at(row, "spec.template.spec.containers"), "image",
                            ",");
}

/* A LabelSelector or, for ReplicationControllers, plain labels. */
static void workload_cell_selector(kc_buf *out, kc__print_row *row)
{
    const kc_value *selector = kc__print_row_at(row, "spec.selector");
    bool full = kc_value_get(selector, "matchLabels") || kc_value_get(selector, "matchExpressions");
    if (full || !kc_value_len(selector))
        kc__print_append_selector(out, selector);
    else
        kc__print_append_labels(out, selector);
}

static void cell_node_selector(kc_buf *out, kc__print_row *row)
{
    kc__print_append_labels(out, kc__print_row_at(row, "spec.template.spec.nodeSelector"));
}

#define CONTAINERS                                                \
    KC__PRINT_WIDE_COLUMN("Containers", workload_cell_containers, \
                          "Names of each container in the template.")
#define IMAGES                                            \
    KC__PRINT_WIDE_COLUMN("Images", workload_cell_images, \
                          "Images referenced by each container in the template.")
#define SELECTOR \
    KC__PRINT_WIDE_COLUMN("Selector", workload_cell_selector, "Label selector of the pods.")

static const kc__print_column deployment[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Ready", cell_ready, "Number of the pod with ready state"),
    KC__PRINT_COUNT_COLUMN("Up-to-date", "string", "status.updatedReplicas",
                           "Number of pods with the current template."),
    KC__PRINT_COUNT_COLUMN("Available", "string", "status.availableReplicas",
                           "Number of pods ready for at least minReadySeconds."),
    KC__PRINT_AGE_COLUMN,
    CONTAINERS,
    IMAGES,
    SELECTOR,
};
const kc__print_columns kc__print_deployment_columns = KC__PRINT_COLUMNS(deployment);

static const kc__print_column replica_set[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_COUNT_COLUMN("Desired", "integer", "spec.replicas", "Desired number of pods."),
    KC__PRINT_COUNT_COLUMN("Current", "integer", "status.replicas", "Observed number of pods."),
    KC__PRINT_COUNT_COLUMN("Ready", "integer", "status.readyReplicas", "Number of ready pods."),
    KC__PRINT_AGE_COLUMN,
    CONTAINERS,
    IMAGES,
    SELECTOR,
};
const kc__print_columns kc__print_replica_set_columns = KC__PRINT_COLUMNS(replica_set);

static const kc__print_column stateful_set[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Ready", cell_ready, "Number of the pod with ready state"),
    KC__PRINT_AGE_COLUMN,
    CONTAINERS,
    IMAGES,
};
const kc__print_columns kc__print_stateful_set_columns = KC__PRINT_COLUMNS(stateful_set);

static const kc__print_column daemon_set[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_COUNT_COLUMN("Desired", "integer", "status.desiredNumberScheduled",
                           "Number of nodes that should run the pod."),
    KC__PRINT_COUNT_COLUMN("Current", "integer", "status.currentNumberScheduled",
                           "Number of these nodes that run the pod."),
    KC__PRINT_COUNT_COLUMN("Ready", "integer", "status.numberReady",
                           "Number of nodes whose pod is ready."),
    KC__PRINT_COUNT_COLUMN("Up-to-date", "integer", "status.updatedNumberScheduled",
                           "Number of nodes whose pod has the current template."),
    KC__PRINT_COUNT_COLUMN("Available", "integer", "status.numberAvailable",
                           "Number of nodes whose pod is ready for at least minReadySeconds."),
    KC__PRINT_TEXT_COLUMN("Node Selector", cell_node_selector, "Label selector of the nodes."),
    KC__PRINT_AGE_COLUMN,
    CONTAINERS,
    IMAGES,
    SELECTOR,
};
const kc__print_columns kc__print_daemon_set_columns = KC__PRINT_COLUMNS(daemon_set);
