/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robot_types.h: a kind that owns a deployment. Its published definition has no status: what is
 * written there is pruned, and changes nothing.
 */
#ifndef KC_RECONCILERS_ROBOT_TYPES_H
#define KC_RECONCILERS_ROBOT_TYPES_H

#include "kc/api.h"

/// RobotSpec is what is wanted.
typedef struct robot_spec {
    /// What its deployment is called.
    char *deployment_name;
    /// How many pods it has.
    /// +kubebuilder:validation:Minimum=1
    /// +kubebuilder:validation:Maximum=10
    int32_t replicas;
} robot_spec;

/// Robot is a deployment of its own.
/// +kubebuilder:object:root=true
/// +kc:resource:catalog=machines,controller=generic
typedef struct robot {
    kc_object_meta metadata;
    robot_spec spec;
} robot;

#endif
