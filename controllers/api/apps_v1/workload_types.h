/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload_types.h: what controllers read and write of deployments and replica sets; see
 * pod_types.h. Templates stay text: they are compared, hashed and copied whole.
 */
#ifndef KC_CONTROLLERS_WORKLOAD_TYPES_H
#define KC_CONTROLLERS_WORKLOAD_TYPES_H

#include "kc/api.h"

typedef struct kc_workload_condition {
    char *type;
    char *status;
    /// +optional
    kc_timestamp last_update_time;
    /// +optional
    kc_timestamp last_transition_time;
    /// +optional
    char *reason;
    /// +optional
    char *message;
} kc_workload_condition;

typedef struct kc_replica_set_spec {
    int32_t *replicas;
    /// +optional
    int32_t min_ready_seconds;
    kc_raw selector;
    kc_raw template;
} kc_replica_set_spec;

typedef struct kc_replica_set_status {
    int32_t replicas;
    /// +optional
    int32_t fully_labeled_replicas;
    /// +optional
    int32_t ready_replicas;
    /// +optional
    int32_t available_replicas;
    int32_t *terminating_replicas;
    /// +optional
    int64_t observed_generation;
    /// +optional
    kc_workload_condition *conditions;
    size_t n_conditions;
} kc_replica_set_status;

/// +kubebuilder:object:root=true
/// +kc:kind=ReplicaSet
typedef struct kc_replica_set {
    kc_object_meta metadata;
    kc_replica_set_spec spec;
    /// +optional
    kc_replica_set_status status;
} kc_replica_set;

typedef struct kc_rolling_update {
    kc_int_or_string *max_unavailable;
    kc_int_or_string *max_surge;
} kc_rolling_update;

typedef struct kc_deployment_strategy {
    /// +optional
    char *type;
    kc_rolling_update *rolling_update;
} kc_deployment_strategy;

typedef struct kc_deployment_spec {
    int32_t *replicas;
    kc_raw selector;
    kc_raw template;
    /// +optional
    kc_deployment_strategy strategy;
    /// +optional
    int32_t min_ready_seconds;
    int32_t *revision_history_limit;
    /// +optional
    bool paused;
    int32_t *progress_deadline_seconds;
} kc_deployment_spec;

typedef struct kc_deployment_status {
    /// +optional
    int64_t observed_generation;
    /// +optional
    int32_t replicas;
    /// +optional
    int32_t updated_replicas;
    /// +optional
    int32_t ready_replicas;
    /// +optional
    int32_t available_replicas;
    /// +optional
    int32_t unavailable_replicas;
    int32_t *terminating_replicas;
    /// +optional
    kc_workload_condition *conditions;
    size_t n_conditions;
    int32_t *collision_count;
} kc_deployment_status;

/// +kubebuilder:object:root=true
/// +kc:kind=Deployment
typedef struct kc_deployment {
    kc_object_meta metadata;
    kc_deployment_spec spec;
    /// +optional
    kc_deployment_status status;
} kc_deployment;

#endif
