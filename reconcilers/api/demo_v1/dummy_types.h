/* SPDX-License-Identifier: Apache-2.0 */
/* dummy_types.h: a minimal kind: its status follows its spec. */
#ifndef KC_RECONCILERS_DUMMY_TYPES_H
#define KC_RECONCILERS_DUMMY_TYPES_H

#include "kc/api.h"

/// DummySpec is the desired state of a dummy.
typedef struct dummy_spec {
    /// Delay before the status follows the spec.
    /// +optional
    kc_duration_field transition_defer;
    /// Value to copy to the status.
    /// +optional
    char *data;
} dummy_spec;

/// DummyStatus is the observed state of a dummy.
typedef struct dummy_status {
    /// Value of spec.data after the delay.
    /// +optional
    char *data;
    /// Time at which the status will follow the spec; absent once it has.
    /// +optional
    kc_timestamp due_time;
    /// Generation that the controller last observed.
    /// +optional
    int64_t observed_generation;
} dummy_status;

/// Dummy checks that a control plane works.
/// +kubebuilder:object:root=true
/// +kubebuilder:subresource:status
/// +kubebuilder:resource:path=dummies,singular=dummy
/// +kc:resource:catalog=demo,controller=generic
/// +kubebuilder:printcolumn:name=Data,type=string,JSONPath=.status.data
/// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
typedef struct dummy {
    kc_object_meta metadata;
    /// +optional
    dummy_spec spec;
    /// +optional
    dummy_status status;
} dummy;

#endif
