/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network_types.h: a kind whose objects represent networks outside of the cluster.
 *
 * Its CRD is published twice: as v1beta1 without a schema, and as v1 generated from this file. Only
 * the second has a status, so the reconciler must work without one.
 */
#ifndef KC_RECONCILERS_NETWORK_TYPES_H
#define KC_RECONCILERS_NETWORK_TYPES_H

#include "kc/api.h"

/// NetworkSpec is the desired state of a network.
typedef struct network_spec {
    /// Address range of the network, such as 192.168.0.0/16 or fd00:7::/64.
    /// +kubebuilder:validation:MaxLength=64
    char *cidr;
    /// Gateway address within the range. Defaults to none.
    /// +optional
    /// +kubebuilder:validation:MaxLength=64
    char *gateway;
} network_spec;

/// NetworkStatus is the state of the network in the network service.
typedef struct network_status {
    /// Whether the network in the service matches the spec.
    bool ready;
    /// Reason why the network is not ready.
    /// +optional
    char *message;
    /// Generation to which this status refers.
    /// +optional
    int64_t observed_generation;
} network_status;

/// Network is a network of the network service.
/// +kubebuilder:object:root=true
/// +kubebuilder:subresource:status
/// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, experimental-only"
/// +kc:resource:catalog=networks,controller=generic
/// +kubebuilder:printcolumn:name=CIDR,type=string,JSONPath=.spec.cidr
/// +kubebuilder:printcolumn:name=Gateway,type=string,JSONPath=.spec.gateway
/// +kubebuilder:printcolumn:name=Ready,type=boolean,JSONPath=.status.ready
/// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
typedef struct network {
    kc_object_meta metadata;
    network_spec spec;
    /// +optional
    network_status status;
} network;

#endif
