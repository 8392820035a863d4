/* SPDX-License-Identifier: Apache-2.0 */
/* robot_types.h: a kind, written as structs. `kc generate` makes all else of it. */
#ifndef EXAMPLE_ROBOT_TYPES_H
#define EXAMPLE_ROBOT_TYPES_H

#include "kc/api.h"

/// RobotSpec is what is wanted of a robot.
typedef struct robot_spec {
    /// What people call it.
    /// +kubebuilder:validation:MinLength=1
    char *nickname;
    /// How many arms it has.
    /// +kubebuilder:validation:Minimum=0
    /// +kubebuilder:validation:Maximum=8
    /// +kubebuilder:default=2
    int32_t *arms;
} robot_spec;

/// RobotPhase says how far it is.
typedef enum robot_phase {
    ROBOT_PHASE_NONE,
    ROBOT_PHASE_BUILT,
} robot_phase;

/// RobotStatus is what there is of it.
typedef struct robot_status {
    /// +optional
    robot_phase phase;
    /// +optional
    int32_t arms;
} robot_status;

/// Robot is something that works for people.
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
