/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.c: which resource has which columns.
 *
 * By the name under which a resource is stored, so that all versions of it, and events of both
 * groups, share a line. What has no line has a name and an age.
 *
 * To give a kind columns of its own: a kc__columns in a file of its family (columns_core.c), its
 * name in columns_internal.h, a line in the table below, at its place.
 */
#include "apiserver/printing/columns_internal.h"

static const kc__column name_and_age[] = {KC__NAME_COLUMN, KC__AGE_COLUMN};
static const kc__columns usual = {.list = name_and_age, .n = KC_COUNT(name_and_age)};

/* What Kubernetes itself has no columns for. */
static const kc__column name_and_time[] = {
    KC__NAME_COLUMN,
    {.name = "Created At",
     .type = "date",
     .description = KC__CREATED_TEXT,
     .cell = kc__cell_created},
};
static const kc__columns plain = {
    .list = name_and_time, .n = KC_COUNT(name_and_time), .null_when_empty = true};

/* Sorted by name. */
static const struct columns_line {
    const char *storage;
    const kc__columns *columns;
} lines[] = {
    {"admissionregistration.k8s.io/mutatingwebhookconfigurations", &kc__webhook_columns},
    {"admissionregistration.k8s.io/validatingadmissionpolicies", &kc__admission_policy_columns},
    {"admissionregistration.k8s.io/validatingadmissionpolicybindings", &kc__policy_binding_columns},
    {"admissionregistration.k8s.io/validatingwebhookconfigurations", &kc__webhook_columns},
    {"apiextensions.k8s.io/customresourcedefinitions", &plain},
    {"apps/controllerrevisions", &kc__revision_columns},
    {"apps/daemonsets", &kc__daemon_set_columns},
    {"apps/deployments", &kc__deployment_columns},
    {"apps/replicasets", &kc__replica_set_columns},
    {"apps/statefulsets", &kc__stateful_set_columns},
    {"autoscaling/horizontalpodautoscalers", &kc__autoscaler_columns},
    {"batch/cronjobs", &kc__cron_job_columns},
    {"batch/jobs", &kc__job_columns},
    {"certificates.k8s.io/certificatesigningrequests", &kc__signing_request_columns},
    {"coordination.k8s.io/leases", &kc__lease_columns},
    {"core/configmaps", &kc__config_map_columns},
    {"core/endpoints", &kc__endpoints_columns},
    {"core/events", &kc__event_columns},
    {"core/limitranges", &plain},
    {"core/namespaces", &kc__namespace_columns},
    {"core/nodes", &kc__node_columns},
    {"core/persistentvolumeclaims", &kc__claim_columns},
    {"core/persistentvolumes", &kc__volume_columns},
    {"core/pods", &kc__pod_columns},
    {"core/podtemplates", &kc__pod_template_columns},
    {"core/replicationcontrollers", &kc__replica_set_columns},
    {"core/resourcequotas", &kc__quota_columns},
    {"core/secrets", &kc__secret_columns},
    {"core/serviceaccounts", &kc__service_account_columns},
    {"core/services", &kc__service_columns},
    {"discovery.k8s.io/endpointslices", &kc__endpoint_slice_columns},
    {"flowcontrol.apiserver.k8s.io/flowschemas", &kc__flow_schema_columns},
    {"flowcontrol.apiserver.k8s.io/prioritylevelconfigurations", &kc__priority_level_columns},
    {"networking.k8s.io/ingressclasses", &kc__ingress_class_columns},
    {"networking.k8s.io/ingresses", &kc__ingress_columns},
    {"networking.k8s.io/networkpolicies", &kc__network_policy_columns},
    {"node.k8s.io/runtimeclasses", &kc__runtime_class_columns},
    {"policy/poddisruptionbudgets", &kc__budget_columns},
    {"rbac.authorization.k8s.io/clusterrolebindings", &kc__binding_columns},
    {"rbac.authorization.k8s.io/clusterroles", &plain},
    {"rbac.authorization.k8s.io/rolebindings", &kc__binding_columns},
    {"rbac.authorization.k8s.io/roles", &plain},
    {"scheduling.k8s.io/priorityclasses", &kc__priority_class_columns},
    {"storage.k8s.io/csidrivers", &kc__csi_driver_columns},
    {"storage.k8s.io/csinodes", &kc__csi_node_columns},
    {"storage.k8s.io/csistoragecapacities", &plain},
    {"storage.k8s.io/storageclasses", &kc__storage_class_columns},
    {"storage.k8s.io/volumeattachments", &kc__attachment_columns},
};

static int compare(const void *storage, const void *line)
{
    return strcmp(storage, ((const struct columns_line *)line)->storage);
}

const kc__columns *kc__columns_of(const kc__resource *resource)
{
    if (resource->columns)
        return resource->columns;
    if (!resource->storage)
        return &usual;
    const struct columns_line *line =
        bsearch(resource->storage, lines, KC_COUNT(lines), sizeof(lines[0]), compare);
    return line ? line->columns : &usual;
}
