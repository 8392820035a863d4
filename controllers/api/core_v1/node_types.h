/* SPDX-License-Identifier: Apache-2.0 */
/* node_types.h: what controllers read and write of nodes; see pod_types.h. (kc_node is a node of a
 * tree: edit.h.) */
#ifndef KC_CONTROLLERS_NODE_TYPES_H
#define KC_CONTROLLERS_NODE_TYPES_H

#include "pod_types.h"

typedef struct kc_taint {
    char *key;
    /// +optional
    char *value;
    char *effect;
    /// +optional
    kc_timestamp time_added;
} kc_taint;

typedef struct kc_node_spec {
    /// +optional
    kc_taint *taints;
    size_t n_taints;
    /// +optional
    bool unschedulable;
    /// +optional
    /// +kc:json=providerID
    char *provider_id;
} kc_node_spec;

typedef struct kc_node_condition {
    char *type;
    char *status;
    /// +optional
    kc_timestamp last_heartbeat_time;
    /// +optional
    kc_timestamp last_transition_time;
    /// +optional
    char *reason;
    /// +optional
    char *message;
} kc_node_condition;

typedef struct kc_node_address {
    char *type;
    char *address;
} kc_node_address;

typedef struct kc_daemon_endpoint {
    /// +kc:json=Port
    int32_t port;
} kc_daemon_endpoint;

typedef struct kc_daemon_endpoints {
    kc_daemon_endpoint *kubelet_endpoint;
} kc_daemon_endpoints;

typedef struct kc_node_info {
    /// +kc:json=machineID
    char *machine_id;
    /// +kc:json=systemUUID
    char *system_uuid;
    /// +kc:json=bootID
    char *boot_id;
    char *kernel_version;
    char *os_image;
    char *container_runtime_version;
    char *kubelet_version;
    char *kube_proxy_version;
    char *operating_system;
    char *architecture;
} kc_node_info;

typedef struct kc_node_status {
    /// +optional
    kc_resource_list capacity;
    /// +optional
    kc_resource_list allocatable;
    /// +optional
    kc_node_condition *conditions;
    size_t n_conditions;
    /// +optional
    kc_node_address *addresses;
    size_t n_addresses;
    kc_daemon_endpoints *daemon_endpoints;
    kc_node_info *node_info;
} kc_node_status;

/// +kubebuilder:object:root=true
/// +kubebuilder:resource:scope=Cluster
/// +kc:kind=Node
typedef struct kc_cluster_node {
    kc_object_meta metadata;
    /// +optional
    kc_node_spec spec;
    /// +optional
    kc_node_status status;
} kc_cluster_node;

#endif
