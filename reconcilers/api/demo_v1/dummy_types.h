/* SPDX-License-Identifier: Apache-2.0 */
/* dummy_types.h: a kind that does nothing but what every kind does: its status follows its spec. */
#ifndef KC_RECONCILERS_DUMMY_TYPES_H
#define KC_RECONCILERS_DUMMY_TYPES_H

#include "kc/api.h"

/// DummySpec is what is wanted.
typedef struct dummy_spec {
    /// How long the status waits before it follows.
    /// +optional
    kc_duration_field transition_defer;
    /// What the status is to say.
    /// +optional
    char *data;
} dummy_spec;

/// DummyStatus is what there is.
typedef struct dummy_status {
    /// What the spec said, a while ago.
    /// +optional
    char *data;
    /// When it will follow; not there when it has.
    /// +optional
    kc_timestamp due_time;
    /// The generation that was last looked at.
    /// +optional
    int64_t observed_generation;
} dummy_status;

/// Dummy shows that a plane works.
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
