/* SPDX-License-Identifier: Apache-2.0 */
/* at_types.h: a command that is run once, at a time. */
#ifndef KC_RECONCILERS_AT_TYPES_H
#define KC_RECONCILERS_AT_TYPES_H

#include "kc/api.h"

/// AtSpec is what is to be run, and when.
typedef struct at_spec {
    /// When, in UTC: 2006-01-02T15:04:05Z. A time that has passed is now.
    kc_timestamp schedule;
    /// What a shell is given.
    /// +kubebuilder:validation:MinLength=1
    char *command;
} at_spec;

/// AtStatus is how far it is.
typedef struct at_status {
    /// PENDING until it is time, RUNNING while its pod has not ended, then DONE.
    /// +optional
    /// +kubebuilder:validation:Enum=PENDING;RUNNING;DONE
    char *phase;
    /// The pod that runs the command, once it was made: it is not made again.
    /// +optional
    char *pod;
} at_status;

/// At runs a command once, at a time.
/// +kubebuilder:object:root=true
/// +kubebuilder:subresource:status
/// +kc:resource:catalog=demo,controller=generic
/// +kubebuilder:printcolumn:name=Schedule,type=string,JSONPath=.spec.schedule
/// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=.status.phase
/// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
typedef struct at {
    kc_object_meta metadata;
    at_spec spec;
    /// +optional
    at_status status;
} at;

#endif
