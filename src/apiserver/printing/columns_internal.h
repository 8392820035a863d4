/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_internal.h: declarations of the columns per kind, for the table in columns.c, and macros
 * to define them.
 */
#ifndef KC_APISERVER_COLUMNS_INTERNAL_H
#define KC_APISERVER_COLUMNS_INTERNAL_H

#include "apiserver/printing/table.h"

/* The descriptions of metadata members in the API reference. */
#define KC__PRINT_NAME_TEXT                                                                       \
    "Name must be unique within a namespace. Is required when creating resources, although some " \
    "resources may allow a client to request the generation of an appropriate name "              \
    "automatically. Name is primarily intended for creation idempotence and configuration "       \
    "definition. Cannot be updated. More info: "                                                  \
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
#define KC__PRINT_CREATED_TEXT                                                              \
    "CreationTimestamp is a timestamp representing the server time when this object was "   \
    "created. It is not guaranteed to be set in happens-before order across separate "      \
    "operations. Clients may not set this value. It is represented in RFC3339 form and is " \
    "in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "            \
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"

#define KC__PRINT_TEXT_COLUMN(title, of, text) \
    {.name = title, .type = "string", .description = text, .cell = of}
#define KC__PRINT_WIDE_COLUMN(title, of, text) \
    {.name = title, .type = "string", .description = text, .priority = 1, .cell = of}
#define KC__PRINT_NAME_COLUMN            \
    {.name = "Name",                     \
     .type = "string",                   \
     .format = "name",                   \
     .description = KC__PRINT_NAME_TEXT, \
     .cell = kc__print_cell_name}
#define KC__PRINT_AGE_COLUMN \
    KC__PRINT_TEXT_COLUMN("Age", kc__print_cell_age, KC__PRINT_CREATED_TEXT)

/* A column with the value at a path; with a number; and the same for wide output. */
#define KC__PRINT_PATH_COLUMN(title, at, without, text) \
    {.name = title, .type = "string", .description = text, .path = at, .fallback = without}
#define KC__PRINT_COUNT_COLUMN(title, of, at, text) \
    {.name = title, .type = of, .description = text, .path = at, .counts = true}
#define KC__PRINT_WIDE_PATH_COLUMN(title, at, without, text) \
    {.name = title,                                          \
     .type = "string",                                       \
     .description = text,                                    \
     .priority = 1,                                          \
     .path = at,                                             \
     .fallback = without}

#define KC__PRINT_COLUMNS(of) {.list = of, .n = KC_COUNT(of)}

/* cells_common.c: texts of cells, as printed by kubectl. */
/* "a=b,c=d", or "<none>". */
void kc__print_append_labels(kc_buf *out, const kc_value *labels);
/* A LabelSelector as text, or "<none>". */
void kc__print_append_selector(kc_buf *out, const kc_value *selector);
/* A member of every list element: "a,b". */
void kc__print_append_joined(kc_buf *out, const kc_value *list, const char *member,
                             const char *separator);
/* Whether a condition has the status True. */
bool kc__print_condition_is_true(const kc_value *conditions, const char *type);

/* columns_core.c */
extern const kc__print_columns kc__print_config_map_columns, kc__print_secret_columns,
    kc__print_namespace_columns, kc__print_service_account_columns, kc__print_lease_columns;
/* columns_device.c */
extern const kc__print_columns kc__print_resource_claim_columns, kc__print_resource_slice_columns,
    kc__print_ip_address_columns, kc__print_service_cidr_columns,
    kc__print_attributes_class_columns, kc__print_api_service_columns;
/* columns_event.c */
extern const kc__print_columns kc__print_event_columns;
/* columns_pod.c */
extern const kc__print_columns kc__print_pod_columns, kc__print_pod_template_columns;
/* columns_workload.c */
extern const kc__print_columns kc__print_deployment_columns, kc__print_replica_set_columns,
    kc__print_stateful_set_columns, kc__print_daemon_set_columns;
/* columns_job.c */
extern const kc__print_columns kc__print_job_columns, kc__print_cron_job_columns;
/* columns_service.c */
extern const kc__print_columns kc__print_service_columns, kc__print_endpoints_columns,
    kc__print_ingress_columns, kc__print_ingress_class_columns, kc__print_network_policy_columns;
/* columns_node.c */
extern const kc__print_columns kc__print_node_columns;
/* columns_slice.c */
extern const kc__print_columns kc__print_endpoint_slice_columns, kc__print_runtime_class_columns,
    kc__print_csi_node_columns;
/* columns_storage.c */
extern const kc__print_columns kc__print_volume_columns, kc__print_claim_columns,
    kc__print_storage_class_columns;
/* columns_policy.c */
extern const kc__print_columns kc__print_binding_columns, kc__print_priority_class_columns,
    kc__print_webhook_columns, kc__print_quota_columns, kc__print_budget_columns,
    kc__print_autoscaler_columns;
/* columns_system.c */
extern const kc__print_columns kc__print_csi_driver_columns, kc__print_attachment_columns,
    kc__print_flow_schema_columns, kc__print_priority_level_columns,
    kc__print_signing_request_columns, kc__print_admission_policy_columns,
    kc__print_mutating_policy_columns, kc__print_policy_binding_columns, kc__print_revision_columns;

#endif
