/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_types.h: what controllers read and write of pods. Fields that are not here survive a write
 * (kc/struct.h), so the structs declare only the fields that the controllers read or write.
 */
#ifndef KC_CONTROLLERS_POD_TYPES_H
#define KC_CONTROLLERS_POD_TYPES_H

#include "kc/api.h"

typedef KC_MAP_OF(kc_quantity_text) kc_resource_list;

typedef struct kc_resources {
    /// +optional
    kc_resource_list limits;
    /// +optional
    kc_resource_list requests;
} kc_resources;

typedef struct kc_key_selector {
    /// +optional
    char *name;
    char *key;
    bool *optional;
} kc_key_selector;

typedef struct kc_field_ref {
    /// +optional
    char *api_version;
    char *field_path;
} kc_field_ref;

typedef struct kc_resource_field_ref {
    /// +optional
    char *container_name;
    char *resource;
    /// +optional
    kc_quantity_text divisor;
} kc_resource_field_ref;

typedef struct kc_env_source {
    kc_field_ref *field_ref;
    kc_resource_field_ref *resource_field_ref;
    kc_key_selector *config_map_key_ref;
    kc_key_selector *secret_key_ref;
} kc_env_source;

typedef struct kc_env_var {
    char *name;
    /// +optional
    char *value;
    kc_env_source *value_from;
} kc_env_var;

typedef struct kc_local_ref {
    /// +optional
    char *name;
    bool *optional;
} kc_local_ref;

typedef struct kc_env_from {
    /// +optional
    char *prefix;
    kc_local_ref *config_map_ref;
    kc_local_ref *secret_ref;
} kc_env_from;

typedef struct kc_container_port {
    /// +optional
    char *name;
    /// +optional
    int32_t host_port;
    int32_t container_port;
    /// +optional
    char *protocol;
    /// +optional
    /// +kc:json=hostIP
    char *host_ip;
} kc_container_port;

typedef struct kc_volume_mount {
    char *name;
    /// +optional
    bool read_only;
    char *mount_path;
    /// +optional
    char *sub_path;
    /// +optional
    char *sub_path_expr;
} kc_volume_mount;

typedef struct kc_exec_action {
    /// +optional
    char **command;
    size_t n_command;
} kc_exec_action;

typedef struct kc_http_header {
    char *name;
    char *value;
} kc_http_header;

typedef struct kc_http_get_action {
    /// +optional
    char *path;
    kc_int_or_string port;
    /// +optional
    char *host;
    /// +optional
    char *scheme;
    /// +optional
    kc_http_header *http_headers;
    size_t n_http_headers;
} kc_http_get_action;

typedef struct kc_tcp_socket_action {
    kc_int_or_string port;
    /// +optional
    char *host;
} kc_tcp_socket_action;

typedef struct kc_sleep_action {
    int64_t seconds;
} kc_sleep_action;

typedef struct kc_probe {
    kc_exec_action *exec;
    kc_http_get_action *http_get;
    kc_tcp_socket_action *tcp_socket;
    /// +optional
    int32_t initial_delay_seconds;
    /// +optional
    int32_t timeout_seconds;
    /// +optional
    int32_t period_seconds;
    /// +optional
    int32_t success_threshold;
    /// +optional
    int32_t failure_threshold;
    int64_t *termination_grace_period_seconds;
} kc_probe;

typedef struct kc_lifecycle_handler {
    kc_exec_action *exec;
    kc_http_get_action *http_get;
    kc_sleep_action *sleep;
} kc_lifecycle_handler;

typedef struct kc_lifecycle {
    kc_lifecycle_handler *post_start;
    kc_lifecycle_handler *pre_stop;
} kc_lifecycle;

typedef struct kc_capabilities {
    /// +optional
    char **add;
    size_t n_add;
    /// +optional
    char **drop;
    size_t n_drop;
} kc_capabilities;

typedef struct kc_security_context {
    kc_capabilities *capabilities;
    int64_t *run_as_user;
    int64_t *run_as_group;
    bool *run_as_non_root;
    bool *read_only_root_filesystem;
    bool *privileged;
} kc_security_context;

typedef struct kc_container {
    char *name;
    /// +optional
    char *image;
    /// +optional
    char **command;
    size_t n_command;
    /// +optional
    char **args;
    size_t n_args;
    /// +optional
    char *working_dir;
    /// +optional
    kc_container_port *ports;
    size_t n_ports;
    /// +optional
    kc_env_from *env_from;
    size_t n_env_from;
    /// +optional
    kc_env_var *env;
    size_t n_env;
    /// +optional
    kc_resources resources;
    char *restart_policy;
    /// +optional
    kc_volume_mount *volume_mounts;
    size_t n_volume_mounts;
    kc_probe *liveness_probe;
    kc_probe *readiness_probe;
    kc_probe *startup_probe;
    kc_lifecycle *lifecycle;
    /// +optional
    char *termination_message_path;
    /// +optional
    char *termination_message_policy;
    kc_security_context *security_context;
} kc_container;

typedef struct kc_key_to_path {
    char *key;
    char *path;
    int32_t *mode;
} kc_key_to_path;

typedef struct kc_config_map_volume {
    /// +optional
    char *name;
    /// +optional
    kc_key_to_path *items;
    size_t n_items;
    int32_t *default_mode;
    bool *optional;
} kc_config_map_volume;

typedef struct kc_secret_volume {
    /// +optional
    char *secret_name;
    /// +optional
    kc_key_to_path *items;
    size_t n_items;
    int32_t *default_mode;
    bool *optional;
} kc_secret_volume;

typedef struct kc_empty_dir_volume {
    /// +optional
    char *medium;
    /// +optional
    kc_quantity_text size_limit;
} kc_empty_dir_volume;

typedef struct kc_host_path_volume {
    char *path;
    char *type;
} kc_host_path_volume;

typedef struct kc_claim_volume {
    char *claim_name;
    /// +optional
    bool read_only;
} kc_claim_volume;

typedef struct kc_downward_file {
    char *path;
    kc_field_ref *field_ref;
    kc_resource_field_ref *resource_field_ref;
    int32_t *mode;
} kc_downward_file;

/// Value of kc_volume.downward_api.
typedef struct kc_downward_volume {
    /// +optional
    kc_downward_file *items;
    size_t n_items;
    int32_t *default_mode;
} kc_downward_volume;

typedef struct kc_secret_projection {
    /// +optional
    char *name;
    /// +optional
    kc_key_to_path *items;
    size_t n_items;
    bool *optional;
} kc_secret_projection;

typedef struct kc_token_projection {
    /// +optional
    char *audience;
    int64_t *expiration_seconds;
    char *path;
} kc_token_projection;

typedef struct kc_projection {
    kc_token_projection *service_account_token;
    kc_config_map_volume *config_map;
    kc_secret_projection *secret;
    /// +kc:json=downwardAPI
    kc_downward_volume *downward_api;
} kc_projection;

/// Value of kc_volume.projected.
typedef struct kc_projected_volume {
    /// +optional
    kc_projection *sources;
    size_t n_sources;
    int32_t *default_mode;
} kc_projected_volume;

typedef struct kc_volume {
    char *name;
    kc_empty_dir_volume *empty_dir;
    kc_host_path_volume *host_path;
    kc_config_map_volume *config_map;
    kc_secret_volume *secret;
    kc_claim_volume *persistent_volume_claim;
    /// Other volume sources, as JSON.
    /// +optional
    kc_raw projected;
    /// +optional
    /// +kc:json=downwardAPI
    kc_raw downward_api;
    /// +optional
    kc_raw ephemeral;
} kc_volume;

typedef struct kc_toleration {
    /// +optional
    char *key;
    /// +optional
    char *operator;
    /// +optional
    char *value;
    /// +optional
    char *effect;
    int64_t *toleration_seconds;
} kc_toleration;

typedef struct kc_selector_requirement {
    char *key;
    char *operator;
    /// +optional
    char **values;
    size_t n_values;
} kc_selector_requirement;

typedef struct kc_label_selector {
    /// +optional
    kc_string_map match_labels;
    /// +optional
    kc_selector_requirement *match_expressions;
    size_t n_match_expressions;
} kc_label_selector;

typedef struct kc_node_selector_term {
    /// +optional
    kc_selector_requirement *match_expressions;
    size_t n_match_expressions;
    /// +optional
    kc_selector_requirement *match_fields;
    size_t n_match_fields;
} kc_node_selector_term;

typedef struct kc_node_selector {
    kc_node_selector_term *node_selector_terms;
    size_t n_node_selector_terms;
} kc_node_selector;

typedef struct kc_preferred_node_term {
    int32_t weight;
    kc_node_selector_term preference;
} kc_preferred_node_term;

typedef struct kc_node_affinity {
    /// +kc:json=requiredDuringSchedulingIgnoredDuringExecution
    kc_node_selector *required;
    /// +optional
    /// +kc:json=preferredDuringSchedulingIgnoredDuringExecution
    kc_preferred_node_term *preferred;
    size_t n_preferred;
} kc_node_affinity;

typedef struct kc_pod_affinity_term {
    kc_label_selector *label_selector;
    /// +optional
    char **namespaces;
    size_t n_namespaces;
    kc_label_selector *namespace_selector;
    char *topology_key;
    /// +optional
    char **match_label_keys;
    size_t n_match_label_keys;
    /// +optional
    char **mismatch_label_keys;
    size_t n_mismatch_label_keys;
} kc_pod_affinity_term;

typedef struct kc_weighted_pod_affinity_term {
    int32_t weight;
    kc_pod_affinity_term pod_affinity_term;
} kc_weighted_pod_affinity_term;

typedef struct kc_pod_affinity {
    /// +optional
    /// +kc:json=requiredDuringSchedulingIgnoredDuringExecution
    kc_pod_affinity_term *required;
    size_t n_required;
    /// +optional
    /// +kc:json=preferredDuringSchedulingIgnoredDuringExecution
    kc_weighted_pod_affinity_term *preferred;
    size_t n_preferred;
} kc_pod_affinity;

typedef struct kc_affinity {
    kc_node_affinity *node_affinity;
    kc_pod_affinity *pod_affinity;
    kc_pod_affinity *pod_anti_affinity;
} kc_affinity;

typedef struct kc_topology_spread {
    int32_t max_skew;
    char *topology_key;
    char *when_unsatisfiable;
    kc_label_selector *label_selector;
    int32_t *min_domains;
    char *node_affinity_policy;
    char *node_taints_policy;
    /// +optional
    char **match_label_keys;
    size_t n_match_label_keys;
} kc_topology_spread;

typedef struct kc_scheduling_gate {
    char *name;
} kc_scheduling_gate;

typedef struct kc_readiness_gate {
    char *condition_type;
} kc_readiness_gate;

typedef struct kc_pod_security_context {
    int64_t *run_as_user;
    int64_t *run_as_group;
    bool *run_as_non_root;
    int64_t *fs_group;
} kc_pod_security_context;

typedef struct kc_pod_spec {
    /// +optional
    kc_volume *volumes;
    size_t n_volumes;
    /// +optional
    kc_container *init_containers;
    size_t n_init_containers;
    kc_container *containers;
    size_t n_containers;
    /// +optional
    char *restart_policy;
    int64_t *termination_grace_period_seconds;
    int64_t *active_deadline_seconds;
    /// +optional
    kc_string_map node_selector;
    /// +optional
    char *service_account_name;
    /// +optional
    char *node_name;
    /// +optional
    bool host_network;
    kc_pod_security_context *security_context;
    /// +optional
    char *hostname;
    /// +optional
    char *subdomain;
    kc_affinity *affinity;
    /// +optional
    char *scheduler_name;
    /// +optional
    kc_toleration *tolerations;
    size_t n_tolerations;
    int32_t *priority;
    /// +optional
    char *priority_class_name;
    char *preemption_policy;
    /// +optional
    kc_readiness_gate *readiness_gates;
    size_t n_readiness_gates;
    /// +optional
    kc_resource_list overhead;
    kc_resources *resources;
    /// +optional
    kc_topology_spread *topology_spread_constraints;
    size_t n_topology_spread_constraints;
    /// +optional
    kc_scheduling_gate *scheduling_gates;
    size_t n_scheduling_gates;
} kc_pod_spec;

typedef struct kc_pod_condition {
    char *type;
    /// +optional
    int64_t observed_generation;
    char *status;
    /// +optional
    kc_timestamp last_probe_time;
    /// +optional
    kc_timestamp last_transition_time;
    /// +optional
    char *reason;
    /// +optional
    char *message;
} kc_pod_condition;

typedef struct kc_container_waiting {
    /// +optional
    char *reason;
    /// +optional
    char *message;
} kc_container_waiting;

typedef struct kc_container_running {
    /// +optional
    kc_timestamp started_at;
} kc_container_running;

typedef struct kc_container_terminated {
    int32_t exit_code;
    /// +optional
    int32_t signal;
    /// +optional
    char *reason;
    /// +optional
    char *message;
    /// +optional
    kc_timestamp started_at;
    /// +optional
    kc_timestamp finished_at;
    /// +optional
    /// +kc:json=containerID
    char *container_id;
} kc_container_terminated;

typedef struct kc_container_state {
    kc_container_waiting *waiting;
    kc_container_running *running;
    kc_container_terminated *terminated;
} kc_container_state;

typedef struct kc_container_status {
    char *name;
    /// +optional
    kc_container_state state;
    /// +optional
    kc_container_state last_state;
    bool ready;
    int32_t restart_count;
    char *image;
    /// +kc:json=imageID
    char *image_id;
    /// +optional
    /// +kc:json=containerID
    char *container_id;
    bool *started;
} kc_container_status;

typedef struct kc_ip_entry {
    char *ip;
} kc_ip_entry;

typedef struct kc_pod_status {
    /// +optional
    int64_t observed_generation;
    /// +optional
    char *phase;
    /// +optional
    kc_pod_condition *conditions;
    size_t n_conditions;
    /// +optional
    char *message;
    /// +optional
    char *reason;
    /// +optional
    char *nominated_node_name;
    /// +optional
    /// +kc:json=hostIP
    char *host_ip;
    /// +optional
    /// +kc:json=hostIPs
    kc_ip_entry *host_ips;
    size_t n_host_ips;
    /// +optional
    /// +kc:json=podIP
    char *pod_ip;
    /// +optional
    /// +kc:json=podIPs
    kc_ip_entry *pod_ips;
    size_t n_pod_ips;
    /// +optional
    kc_timestamp start_time;
    /// +optional
    kc_container_status *init_container_statuses;
    size_t n_init_container_statuses;
    /// +optional
    kc_container_status *container_statuses;
    size_t n_container_statuses;
    /// +optional
    char *qos_class;
} kc_pod_status;

/// +kubebuilder:object:root=true
/// +kc:kind=Pod
typedef struct kc_pod {
    kc_object_meta metadata;
    kc_pod_spec spec;
    /// +optional
    kc_pod_status status;
} kc_pod;

#endif
