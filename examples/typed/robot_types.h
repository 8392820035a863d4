/* SPDX-License-Identifier: Apache-2.0 */
/* robot_types.h: a kind, written as structs. `kc generate` generates everything else from it. */
#ifndef EXAMPLE_ROBOT_TYPES_H
#define EXAMPLE_ROBOT_TYPES_H

#include "kc/api.h"

/// RobotSpec is the desired state of a robot.
typedef struct robot_spec {
    /// Display name of the robot.
    /// +kubebuilder:validation:MinLength=1
    char *nickname;
    /// Number of arms.
    /// +kubebuilder:validation:Minimum=0
    /// +kubebuilder:validation:Maximum=8
    /// +kubebuilder:default=2
    int32_t *arms;
} robot_spec;

/// RobotPhase is the phase of a robot.
typedef enum robot_phase {
    ROBOT_PHASE_NONE,
    ROBOT_PHASE_BUILT,
} robot_phase;

/// RobotStatus is the observed state of a robot.
typedef struct robot_status {
    /// +optional
    robot_phase phase;
    /// +optional
    int32_t arms;
} robot_status;

/// Robot is a machine with arms.
/// +kubebuilder:object:root=true
/// +kubebuilder:subresource:status
/// +kc:resource:catalog=machines,controller=generic
/// +kubebuilder:printcolumn:name=Arms,type=integer,JSONPath=.status.arms
typedef struct robot {
    kc_object_meta metadata;
    robot_spec spec;
    robot_status status;
} robot;

#endif
