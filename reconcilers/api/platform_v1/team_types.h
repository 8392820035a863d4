/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_types.h: teams of users. Who is in one is said by the users (user_types.h), in one place
 * only: so the two cannot contradict each other, whoever checks a user's rights reads one object,
 * and a team of ten thousand is no object of ten thousand names.
 */
#ifndef KC_RECONCILERS_TEAM_TYPES_H
#define KC_RECONCILERS_TEAM_TYPES_H

#include "kc/api.h"

/// TeamSpec is what is known of a team.
typedef struct team_spec {
    /// What people call it.
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=128
    char *display_name;
    /// What it does, in a sentence.
    /// +optional
    /// +kubebuilder:validation:MaxLength=1024
    char *description;
    /// The team it is a part of.
    /// +optional
    /// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
    /// +kubebuilder:validation:MaxLength=253
    char *parent;
    /// Users who answer for it.
    /// +optional
    /// +listType=set
    /// +kubebuilder:validation:MaxItems=64
    /// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
    /// +kubebuilder:validation:items:MaxLength=253
    char **owners;
    size_t n_owners;
} team_spec;

/// Team is a number of users who work together. The users say which teams they are in.
/// +kubebuilder:object:root=true
/// +kubebuilder:resource:scope=Cluster,shortName=tm,categories=platform
/// +kc:resource:catalog=platform,controller=none
/// +kubebuilder:printcolumn:name=Display name,type=string,JSONPath=.spec.displayName
/// +kubebuilder:printcolumn:name=Parent,type=string,JSONPath=.spec.parent
/// +kubebuilder:printcolumn:name=Owners,type=string,JSONPath=.spec.owners
/// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
typedef struct team {
    kc_object_meta metadata;
    team_spec spec;
} team;

#endif
