/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robot_types.h: a kind that owns a deployment. Its published CRD has no status: the server prunes
 * what is written there.
 */
#ifndef KC_RECONCILERS_ROBOT_TYPES_H
#define KC_RECONCILERS_ROBOT_TYPES_H

#include "kc/api.h"

/// RobotSpec is the desired state of a robot.
typedef struct robot_spec {
    /// Name of the deployment.
    char *deployment_name;
    /// Number of pods of the deployment.
    /// +kubebuilder:validation:Minimum=1
    /// +kubebuilder:validation:Maximum=10
    int32_t replicas;
} robot_spec;

/// Robot owns a deployment.
/// +kubebuilder:object:root=true
/// +kc:resource:catalog=machines,controller=generic
typedef struct robot {
    kc_object_meta metadata;
    robot_spec spec;
} robot;

#endif
