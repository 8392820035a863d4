/* SPDX-License-Identifier: Apache-2.0 */
/* application_types.h: pods that belong together, and how they are. */
#ifndef KC_RECONCILERS_APPLICATION_TYPES_H
#define KC_RECONCILERS_APPLICATION_TYPES_H

#include "kc/api.h"

/// ApplicationSpec is what an application is, and needs.
typedef struct application_spec {
    /// What it is, for people.
    /// +optional
    char *description;
    /// How many of its pods must be ready for it to be available.
    /// +kubebuilder:validation:Minimum=0
    /// +kubebuilder:default=1
    int32_t *min_ready;
} application_spec;

/// ApplicationStatus is how its pods are.
typedef struct application_status {
    /// How many pods it has that have not ended and are not being deleted.
    int32_t pods;
    /// How many of them are ready.
    int32_t ready_pods;
    /// The images they run, each once, in order; of more than 32 the first.
    /// +optional
    /// +listType=set
    /// +kubebuilder:validation:MaxItems=32
    char **images;
    size_t n_images;
    /// The generation that was last looked at.
    /// +optional
    int64_t observed_generation;
    /// Available: enough of its pods are ready.
    /// +optional
    /// +listType=map
    /// +listMapKey=type
    kc_status_condition *conditions;
    size_t n_conditions;
} application_status;

/// Application is pods that belong together: those of its namespace whose label
/// apps.example.io/application is its name.
/// +kubebuilder:object:root=true
/// +kubebuilder:subresource:status
/// +kc:resource:catalog=apps,controller=generic
/// +kubebuilder:printcolumn:name=Pods,type=integer,JSONPath=.status.pods
/// +kubebuilder:printcolumn:name=Ready,type=integer,JSONPath=.status.readyPods
/// +kubebuilder:printcolumn:name=Available,type=string,JSONPath=.status.conditions[?(@.type=="Available")].status
/// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
typedef struct application {
    kc_object_meta metadata;
    /// +optional
    application_spec spec;
    /// +optional
    application_status status;
} application;

#endif
