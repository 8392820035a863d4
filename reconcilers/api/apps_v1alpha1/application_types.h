/* SPDX-License-Identifier: Apache-2.0 */
/* application_types.h: an application, a group of pods, and the state of its pods. */
#ifndef KC_RECONCILERS_APPLICATION_TYPES_H
#define KC_RECONCILERS_APPLICATION_TYPES_H

#include "kc/api.h"

/// ApplicationSpec is the desired state of an application.
typedef struct application_spec {
    /// Description for users.
    /// +optional
    char *description;
    /// Minimum number of ready pods for the application to be available.
    /// +kubebuilder:validation:Minimum=0
    /// +kubebuilder:default=1
    int32_t *min_ready;
} application_spec;

/// ApplicationStatus is the observed state of the pods of an application.
typedef struct application_status {
    /// Number of pods that are neither terminated nor being deleted.
    int32_t pods;
    /// Number of these pods that are ready.
    int32_t ready_pods;
    /// Container images of the pods, sorted, without duplicates; at most 32.
    /// +optional
    /// +listType=set
    /// +kubebuilder:validation:MaxItems=32
    char **images;
    size_t n_images;
    /// Generation that the controller last observed.
    /// +optional
    int64_t observed_generation;
    /// Conditions. Available: at least minReady pods are ready.
    /// +optional
    /// +listType=map
    /// +listMapKey=type
    kc_status_condition *conditions;
    size_t n_conditions;
} application_status;

/// Application is a group of pods: the pods of its namespace whose label
/// apps.example.io/application is the name of the application.
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
