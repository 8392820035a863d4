/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_types.h: teams of users. The users name their teams (user_types.h), and a team has no list
 * of its users: so the two cannot contradict each other, an access check reads one object, and a
 * team of ten thousand users is a small object.
 */
#ifndef KC_RECONCILERS_TEAM_TYPES_H
#define KC_RECONCILERS_TEAM_TYPES_H

#include "kc/api.h"

/// TeamSpec describes a team.
typedef struct team_spec {
    /// Display name of the team.
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=128
    char *display_name;
    /// Description in one sentence.
    /// +optional
    /// +kubebuilder:validation:MaxLength=1024
    char *description;
    /// Parent team.
    /// +optional
    /// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
    /// +kubebuilder:validation:MaxLength=253
    char *parent;
    /// Users that own the team.
    /// +optional
    /// +listType=set
    /// +kubebuilder:validation:MaxItems=64
    /// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
    /// +kubebuilder:validation:items:MaxLength=253
    char **owners;
    size_t n_owners;
} team_spec;

/// Team is a group of users. Each User lists the teams to which it belongs.
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
