/* SPDX-License-Identifier: Apache-2.0 */
/* at_types.h: a command that runs once at a given time. */
#ifndef KC_RECONCILERS_AT_TYPES_H
#define KC_RECONCILERS_AT_TYPES_H

#include "kc/api.h"

/// AtSpec is the command and the time to run it.
typedef struct at_spec {
    /// Time in UTC: 2006-01-02T15:04:05Z. A time in the past means now.
    kc_timestamp schedule;
    /// Shell command.
    /// +kubebuilder:validation:MinLength=1
    char *command;
} at_spec;

/// AtStatus is the observed state of an At.
typedef struct at_status {
    /// PENDING until the time is reached, RUNNING until the pod has terminated, then DONE.
    /// +optional
    /// +kubebuilder:validation:Enum=PENDING;RUNNING;DONE
    char *phase;
    /// Name of the pod that runs the command. The controller creates it only once.
    /// +optional
    char *pod;
} at_status;

/// At runs a command once at a given time.
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
