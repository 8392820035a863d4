/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_internal.h: the columns that are defined per kind, for the table of columns.c, and the
 * words in which they are written.
 */
#ifndef KC_APISERVER_COLUMNS_INTERNAL_H
#define KC_APISERVER_COLUMNS_INTERNAL_H

#include "apiserver/printing/table.h"

/* As the API's reference describes the members of metadata. */
#define KC__NAME_TEXT                                                                             \
    "Name must be unique within a namespace. Is required when creating resources, although some " \
    "resources may allow a client to request the generation of an appropriate name "              \
    "automatically. Name is primarily intended for creation idempotence and configuration "       \
    "definition. Cannot be updated. More info: "                                                  \
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
#define KC__CREATED_TEXT                                                                    \
    "CreationTimestamp is a timestamp representing the server time when this object was "   \
    "created. It is not guaranteed to be set in happens-before order across separate "      \
    "operations. Clients may not set this value. It is represented in RFC3339 form and is " \
    "in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "            \
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"

#define KC__TEXT_COLUMN(title, of, text) \
    {.name = title, .type = "string", .description = text, .cell = of}
#define KC__WIDE_COLUMN(title, of, text) \
    {.name = title, .type = "string", .description = text, .priority = 1, .cell = of}
#define KC__NAME_COLUMN            \
    {.name = "Name",               \
     .type = "string",             \
     .format = "name",             \
     .description = KC__NAME_TEXT, \
     .cell = kc__cell_name}
#define KC__AGE_COLUMN KC__TEXT_COLUMN("Age", kc__cell_age, KC__CREATED_TEXT)

/* The value at a path; a number; and the same for wide output. */
#define KC__PATH_COLUMN(title, at, without, text) \
    {.name = title, .type = "string", .description = text, .path = at, .otherwise = without}
#define KC__COUNT_COLUMN(title, of, at, text) \
    {.name = title, .type = of, .description = text, .path = at, .counts = true}
#define KC__WIDE_PATH_COLUMN(title, at, without, text) \
    {.name = title,                                    \
     .type = "string",                                 \
     .description = text,                              \
     .priority = 1,                                    \
     .path = at,                                       \
     .otherwise = without}

#define KC__COLUMNS(of) {.list = of, .n = KC_COUNT(of)}

/* cells_common.c: texts for cells, as people know them from kubectl. */
/* "a=b,c=d", or "<none>". */
void kc__put_labels(kc_buf *out, const kc_value *labels);
/* A LabelSelector as text, or "<none>". */
void kc__put_selector(kc_buf *out, const kc_value *selector);
/* Members of all in a list, "a,b". */
void kc__put_joined(kc_buf *out, const kc_value *list, const char *member, const char *separator);
/* Whether a condition has the status True. */
bool kc__condition_is_true(const kc_value *conditions, const char *type);

/* columns_core.c */
extern const kc__columns kc__config_map_columns, kc__secret_columns, kc__namespace_columns,
    kc__service_account_columns, kc__lease_columns;
/* columns_event.c */
extern const kc__columns kc__event_columns;
/* columns_pod.c */
extern const kc__columns kc__pod_columns, kc__pod_template_columns;
/* columns_workload.c */
extern const kc__columns kc__deployment_columns, kc__replica_set_columns, kc__stateful_set_columns,
    kc__daemon_set_columns;
/* columns_job.c */
extern const kc__columns kc__job_columns, kc__cron_job_columns;
/* columns_service.c */
extern const kc__columns kc__service_columns, kc__endpoints_columns, kc__ingress_columns,
    kc__ingress_class_columns, kc__network_policy_columns;
/* columns_node.c */
extern const kc__columns kc__node_columns;
/* columns_slice.c */
extern const kc__columns kc__endpoint_slice_columns, kc__runtime_class_columns,
    kc__csi_node_columns;
/* columns_storage.c */
extern const kc__columns kc__volume_columns, kc__claim_columns, kc__storage_class_columns;
/* columns_policy.c */
extern const kc__columns kc__binding_columns, kc__priority_class_columns, kc__webhook_columns,
    kc__quota_columns, kc__budget_columns, kc__autoscaler_columns;
/* columns_system.c */
extern const kc__columns kc__csi_driver_columns, kc__attachment_columns, kc__flow_schema_columns,
    kc__priority_level_columns, kc__signing_request_columns, kc__admission_policy_columns,
    kc__policy_binding_columns, kc__revision_columns;

#endif
