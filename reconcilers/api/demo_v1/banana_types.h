/* SPDX-License-Identifier: Apache-2.0 */
/* banana_types.h: a kind whose objects go through phases; a sample of its machine's status. */
#ifndef KC_RECONCILERS_BANANA_TYPES_H
#define KC_RECONCILERS_BANANA_TYPES_H

#include "kc/api.h"

/// BananaSpec is what is wanted.
typedef struct banana_spec {
    /// Where it comes from.
    /// +kubebuilder:validation:MinLength=1
    char *source;
    /// Where it goes.
    /// +kubebuilder:validation:MinLength=1
    char *dest;
    /// Stops it where it is.
    /// +optional
    bool paused;
} banana_spec;

/// BananaStatus is how far it is.
typedef struct banana_status {
    /// The phase it is in: Init, Migrate, Success or Fail.
    /// +optional
    char *phase;
    /// What is known of each phase.
    /// +optional
    /// +kubebuilder:validation:Schemaless
    /// +kubebuilder:validation:Type=object
    /// +kubebuilder:pruning:PreserveUnknownFields
    kc_raw state;
    /// What people did with it.
    /// +optional
    /// +kubebuilder:validation:Schemaless
    /// +kubebuilder:pruning:PreserveUnknownFields
    kc_raw audit;
} banana_status;

/// Banana is moved from one place to another.
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
