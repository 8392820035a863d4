/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_types.h: people who use the plane. What proves that it is them is never in the object, which
 * many may read: at most it says which Secret has it.
 *
 * Users are cluster-scoped, as the user names of access control are: were they in namespaces, who
 * may write in one could make a second `admin` there.
 */
#ifndef KC_RECONCILERS_USER_TYPES_H
#define KC_RECONCILERS_USER_TYPES_H

#include "kc/api.h"

/// SecretReference names a Secret.
/// +structType=atomic
typedef struct secret_reference {
    /// Its namespace.
    /// +kc:json=namespace
    /// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
    /// +kubebuilder:validation:MaxLength=63
    char *ns;
    /// Its name.
    /// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
    /// +kubebuilder:validation:MaxLength=253
    char *name;
} secret_reference;

/// UserSpec is what is known of a user.
typedef struct user_spec {
    /// What people call them.
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=128
    char *display_name;
    /// Where they are written to.
    /// +optional
    /// +kubebuilder:validation:Pattern=`^[^@\s]+@[^@\s]+$`
    /// +kubebuilder:validation:MaxLength=254
    char *email;
    /// They are let in no more.
    /// +optional
    bool disabled;
    /// Teams they are in.
    /// +optional
    /// +listType=set
    /// +kubebuilder:validation:MaxItems=64
    /// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
    /// +kubebuilder:validation:items:MaxLength=253
    char **teams;
    size_t n_teams;
    /// Groups they have in access control, beside those of their teams.
    /// +optional
    /// +listType=set
    /// +kubebuilder:validation:MaxItems=64
    /// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.:/]*[A-Za-z0-9])?$`
    /// +kubebuilder:validation:items:MaxLength=253
    char **groups;
    size_t n_groups;
    /// The Secret with what proves that it is them. Without one they cannot log in.
    /// +optional
    secret_reference *credentials_ref;
} user_spec;

/// User is somebody who uses the plane.
/// +kubebuilder:object:root=true
/// +kubebuilder:resource:scope=Cluster,shortName=usr,categories=platform
/// +kc:resource:catalog=platform,controller=none
/// +kubebuilder:printcolumn:name=Display name,type=string,JSONPath=.spec.displayName
/// +kubebuilder:printcolumn:name=Email,type=string,JSONPath=.spec.email
/// +kubebuilder:printcolumn:name=Teams,type=string,JSONPath=.spec.teams
/// +kubebuilder:printcolumn:name=Disabled,type=boolean,JSONPath=.spec.disabled
/// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
typedef struct user {
    kc_object_meta metadata;
    user_spec spec;
} user;

#endif
