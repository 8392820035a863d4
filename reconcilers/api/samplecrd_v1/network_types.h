/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network_types.h: a kind whose objects stand for something outside of the cluster.
 *
 * Its definition is published twice: as v1beta1 without a schema, and as v1 made of this file. Only
 * the second has a status; so its reconciler has to do without one.
 */
#ifndef KC_RECONCILERS_NETWORK_TYPES_H
#define KC_RECONCILERS_NETWORK_TYPES_H

#include "kc/api.h"

/// NetworkSpec is what is wanted.
typedef struct network_spec {
    /// The addresses it has: 192.168.0.0/16, fd00:7::/64.
    /// +kubebuilder:validation:MaxLength=64
    char *cidr;
    /// The one of them that leads out of it. Defaults to none.
    /// +optional
    /// +kubebuilder:validation:MaxLength=64
    char *gateway;
} network_spec;

/// NetworkStatus is what the network service has of it.
typedef struct network_status {
    /// Whether the service has it as the spec says.
    bool ready;
    /// Why not.
    /// +optional
    char *message;
    /// The generation of the object that this tells of.
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
