/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_types.h: users of the control plane. The object contains no credentials, since many clients
 * may read it: it references the Secret that does.
 *
 * Users are cluster-scoped, as the user names of access control are: in a namespace, a user with
 * write access to it could create a second `admin`.
 */
#ifndef KC_RECONCILERS_USER_TYPES_H
#define KC_RECONCILERS_USER_TYPES_H

#include "kc/api.h"

/// SecretReference references a Secret.
/// +structType=atomic
typedef struct secret_reference {
    /// Namespace of the Secret.
    /// +kc:json=namespace
    /// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
    /// +kubebuilder:validation:MaxLength=63
    char *ns;
    /// Name of the Secret.
    /// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
    /// +kubebuilder:validation:MaxLength=253
    char *name;
} secret_reference;

/// UserSpec describes a user.
typedef struct user_spec {
    /// Display name of the user.
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=128
    char *display_name;
    /// Email address of the user.
    /// +optional
    /// +kubebuilder:validation:Pattern=`^[^@\s]+@[^@\s]+$`
    /// +kubebuilder:validation:MaxLength=254
    char *email;
    /// Disables authentication of the user.
    /// +optional
    bool disabled;
    /// Teams to which the user belongs.
    /// +optional
    /// +listType=set
    /// +kubebuilder:validation:MaxItems=64
    /// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
    /// +kubebuilder:validation:items:MaxLength=253
    char **teams;
    size_t n_teams;
    /// Groups of the user for access control, in addition to those of the teams.
    /// +optional
    /// +listType=set
    /// +kubebuilder:validation:MaxItems=64
    /// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.:/]*[A-Za-z0-9])?$`
    /// +kubebuilder:validation:items:MaxLength=253
    char **groups;
    size_t n_groups;
    /// Secret with the credentials of the user. Without it the user cannot log in.
    /// +optional
    secret_reference *credentials_ref;
} user_spec;

/// User is a user of the control plane.
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
