/* SPDX-License-Identifier: Apache-2.0 */
/* banana_types.h: a kind with a phase machine; a sample of the status of the machine. */
#ifndef KC_RECONCILERS_BANANA_TYPES_H
#define KC_RECONCILERS_BANANA_TYPES_H

#include "kc/api.h"

/// BananaSpec is the desired state of a banana.
typedef struct banana_spec {
    /// Place from which the banana is moved.
    /// +kubebuilder:validation:MinLength=1
    char *source;
    /// Place to which the banana is moved.
    /// +kubebuilder:validation:MinLength=1
    char *dest;
    /// Pauses the phase machine.
    /// +optional
    bool paused;
} banana_spec;

/// BananaStatus is the observed state of a banana.
typedef struct banana_status {
    /// Current phase: Init, Migrate, Success or Fail.
    /// +optional
    char *phase;
    /// State of each phase.
    /// +optional
    /// +kubebuilder:validation:Schemaless
    /// +kubebuilder:validation:Type=object
    /// +kubebuilder:pruning:PreserveUnknownFields
    kc_raw state;
    /// Actions of users.
    /// +optional
    /// +kubebuilder:validation:Schemaless
    /// +kubebuilder:pruning:PreserveUnknownFields
    kc_raw audit;
} banana_status;

/// Banana is an object that is moved from one place to another.
/// +kubebuilder:object:root=true
/// +kubebuilder:subresource:status
/// +kc:resource:catalog=demo,controller=phase-machine
/// +kubebuilder:printcolumn:name=Source,type=string,JSONPath=.spec.source
/// +kubebuilder:printcolumn:name=Dest,type=string,JSONPath=.spec.dest
/// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=.status.phase
/// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
typedef struct banana {
    kc_object_meta metadata;
    banana_spec spec;
    /// +optional
    banana_status status;
} banana;

#endif
