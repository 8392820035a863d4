/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_workload.c: columns of Deployments, ReplicaSets, ReplicationControllers, StatefulSets and
 * DaemonSets.
 */
#include "apiserver/printing/columns_internal.h"

static void cell_ready(kc_buf *out, kc__row *row)
{
    kc_buf_printf(out, "\"%lld/%lld\"",
                  (long long)kc_as_i64_or(kc__row_at(row, "status.readyReplicas"), 0),
                  (long long)kc_as_i64_or(kc__row_at(row, "spec.replicas"), 0));
}

static void cell_containers(kc_buf *out, kc__row *row)
{
    kc__put_joined(out, kc__row_at(row, "spec.template.spec.containers"), "name", ",");
}

static void cell_images(kc_buf *out, kc__row *row)
{
    kc__put_joined(out, kc__row_at(row, "spec.template.spec.containers"), "image", ",");
}

/* A LabelSelector, or as ReplicationControllers have it, labels. */
static void cell_selector(kc_buf *out, kc__row *row)
{
    const kc_value *selector = kc__row_at(row, "spec.selector");
    bool full = kc_get(selector, "matchLabels") || kc_get(selector, "matchExpressions");
    if (full || !kc_len(selector))
        kc__put_selector(out, selector);
    else
        kc__put_labels(out, selector);
}

static void cell_node_selector(kc_buf *out, kc__row *row)
{
    kc__put_labels(out, kc__row_at(row, "spec.template.spec.nodeSelector"));
}

#define CONTAINERS KC__WIDE_COLUMN("Containers", cell_containers, "The names of the containers.")
#define IMAGES     KC__WIDE_COLUMN("Images", cell_images, "The images of the containers.")
#define SELECTOR   KC__WIDE_COLUMN("Selector", cell_selector, "Which pods are its own.")

static const kc__column deployment[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Ready", cell_ready, "How many of the pods are ready."),
    KC__COUNT_COLUMN("Up-to-date", "string", "status.updatedReplicas",
                     "How many pods are of the present template."),
    KC__COUNT_COLUMN("Available", "string", "status.availableReplicas",
                     "How many pods have been ready for long enough."),
    KC__AGE_COLUMN,
    CONTAINERS,
    IMAGES,
    SELECTOR,
};
const kc__columns kc__deployment_columns = KC__COLUMNS(deployment);

static const kc__column replica_set[] = {
    KC__NAME_COLUMN,
    KC__COUNT_COLUMN("Desired", "integer", "spec.replicas", "How many pods there shall be."),
    KC__COUNT_COLUMN("Current", "integer", "status.replicas", "How many pods there are."),
    KC__COUNT_COLUMN("Ready", "integer", "status.readyReplicas", "How many pods are ready."),
    KC__AGE_COLUMN,
    CONTAINERS,
    IMAGES,
    SELECTOR,
};
const kc__columns kc__replica_set_columns = KC__COLUMNS(replica_set);

static const kc__column stateful_set[] = {
    KC__NAME_COLUMN, KC__TEXT_COLUMN("Ready", cell_ready, "How many of the pods are ready."),
    KC__AGE_COLUMN,  CONTAINERS,
    IMAGES,
};
const kc__columns kc__stateful_set_columns = KC__COLUMNS(stateful_set);

static const kc__column daemon_set[] = {
    KC__NAME_COLUMN,
    KC__COUNT_COLUMN("Desired", "integer", "status.desiredNumberScheduled",
                     "On how many nodes it shall run."),
    KC__COUNT_COLUMN("Current", "integer", "status.currentNumberScheduled",
                     "On how many of these it runs."),
    KC__COUNT_COLUMN("Ready", "integer", "status.numberReady", "On how many it is ready."),
    KC__COUNT_COLUMN("Up-to-date", "integer", "status.updatedNumberScheduled",
                     "On how many its pod is of the present template."),
    KC__COUNT_COLUMN("Available", "integer", "status.numberAvailable",
                     "On how many it has been ready for long enough."),
    KC__TEXT_COLUMN("Node Selector", cell_node_selector, "Which nodes it runs on."),
    KC__AGE_COLUMN,
    CONTAINERS,
    IMAGES,
    SELECTOR,
};
const kc__columns kc__daemon_set_columns = KC__COLUMNS(daemon_set);
