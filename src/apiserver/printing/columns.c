/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.c: the table of columns by resource.
 *
 * The key is the name under which a resource is stored, so that all versions of it, and events of
 * both groups, share a row. A resource without a row has a name and an age.
 *
 * To define columns for a kind: a kc__print_columns in a file of its family (columns_core.c), its
 * declaration in columns_internal.h, and a row in the table below, in sorted order.
 */
#include "apiserver/printing/columns_internal.h"

static const kc__print_column name_and_age[] = {KC__PRINT_NAME_COLUMN, KC__PRINT_AGE_COLUMN};
static const kc__print_columns usual = {.list = name_and_age, .n = KC_COUNT(name_and_age)};

/* For resources for which Kubernetes itself has no columns. */
static const kc__print_column name_and_time[] = {
    KC__PRINT_NAME_COLUMN,
    {.name = "Created At",
     .type = "date",
     .description = KC__PRINT_CREATED_TEXT,
     .cell = kc__print_cell_created},
};
static const kc__print_columns plain = {
    .list = name_and_time, .n = KC_COUNT(name_and_time), .null_when_empty = true};

/* Sorted by name. */
static const struct columns_line {
    const char *storage;
    const kc__print_columns *columns;
} lines[] = {
    {"admissionregistration.k8s.io/mutatingadmissionpolicies", &kc__print_mutating_policy_columns},
    {"admissionregistration.k8s.io/mutatingadmissionpolicybindings",
     &kc__print_policy_binding_columns},
    {"admissionregistration.k8s.io/mutatingwebhookconfigurations", &kc__print_webhook_columns},
    {"admissionregistration.k8s.io/validatingadmissionpolicies",
     &kc__print_admission_policy_columns},
    {"admissionregistration.k8s.io/validatingadmissionpolicybindings",
     &kc__print_policy_binding_columns},
    {"admissionregistration.k8s.io/validatingwebhookconfigurations", &kc__print_webhook_columns},
    {"apiextensions.k8s.io/customresourcedefinitions", &plain},
    {"apiregistration.k8s.io/apiservices", &kc__print_api_service_columns},
    {"apps/controllerrevisions", &kc__print_revision_columns},
    {"apps/daemonsets", &kc__print_daemon_set_columns},
    {"apps/deployments", &kc__print_deployment_columns},
    {"apps/replicasets", &kc__print_replica_set_columns},
    {"apps/statefulsets", &kc__print_stateful_set_columns},
    {"autoscaling/horizontalpodautoscalers", &kc__print_autoscaler_columns},
    {"batch/cronjobs", &kc__print_cron_job_columns},
    {"batch/jobs", &kc__print_job_columns},
    {"certificates.k8s.io/certificatesigningrequests", &kc__print_signing_request_columns},
    {"coordination.k8s.io/leases", &kc__print_lease_columns},
    {"core/configmaps", &kc__print_config_map_columns},
    {"core/endpoints", &kc__print_endpoints_columns},
    {"core/events", &kc__print_event_columns},
    {"core/limitranges", &plain},
    {"core/namespaces", &kc__print_namespace_columns},
    {"core/nodes", &kc__print_node_columns},
    {"core/persistentvolumeclaims", &kc__print_claim_columns},
    {"core/persistentvolumes", &kc__print_volume_columns},
    {"core/pods", &kc__print_pod_columns},
    {"core/podtemplates", &kc__print_pod_template_columns},
    {"core/replicationcontrollers", &kc__print_replica_set_columns},
    {"core/resourcequotas", &kc__print_quota_columns},
    {"core/secrets", &kc__print_secret_columns},
    {"core/serviceaccounts", &kc__print_service_account_columns},
    {"core/services", &kc__print_service_columns},
    {"discovery.k8s.io/endpointslices", &kc__print_endpoint_slice_columns},
    {"flowcontrol.apiserver.k8s.io/flowschemas", &kc__print_flow_schema_columns},
    {"flowcontrol.apiserver.k8s.io/prioritylevelconfigurations", &kc__print_priority_level_columns},
    {"networking.k8s.io/ingressclasses", &kc__print_ingress_class_columns},
    {"networking.k8s.io/ingresses", &kc__print_ingress_columns},
    {"networking.k8s.io/ipaddresses", &kc__print_ip_address_columns},
    {"networking.k8s.io/networkpolicies", &kc__print_network_policy_columns},
    {"networking.k8s.io/servicecidrs", &kc__print_service_cidr_columns},
    {"node.k8s.io/runtimeclasses", &kc__print_runtime_class_columns},
    {"policy/poddisruptionbudgets", &kc__print_budget_columns},
    {"rbac.authorization.k8s.io/clusterrolebindings", &kc__print_binding_columns},
    {"rbac.authorization.k8s.io/clusterroles", &plain},
    {"rbac.authorization.k8s.io/rolebindings", &kc__print_binding_columns},
    {"rbac.authorization.k8s.io/roles", &plain},
    {"resource.k8s.io/resourceclaims", &kc__print_resource_claim_columns},
    {"resource.k8s.io/resourceslices", &kc__print_resource_slice_columns},
    {"scheduling.k8s.io/priorityclasses", &kc__print_priority_class_columns},
    {"storage.k8s.io/csidrivers", &kc__print_csi_driver_columns},
    {"storage.k8s.io/csinodes", &kc__print_csi_node_columns},
    {"storage.k8s.io/csistoragecapacities", &plain},
    {"storage.k8s.io/storageclasses", &kc__print_storage_class_columns},
    {"storage.k8s.io/volumeattachments", &kc__print_attachment_columns},
    {"storage.k8s.io/volumeattributesclasses", &kc__print_attributes_class_columns},
};

static int compare_column_rows(const void *storage, const void *line)
{
    return strcmp(storage, ((const struct columns_line *)line)->storage);
}

const kc__print_columns *kc__print_columns_of(const kc__resource *resource)
{
    if (resource->columns)
        return resource->columns;
    if (!resource->storage)
        return &usual;
    const struct columns_line *line =
        bsearch(resource->storage, lines, KC_COUNT(lines), sizeof(lines[0]), compare_column_rows);
    return line ? line->columns : &usual;
}
