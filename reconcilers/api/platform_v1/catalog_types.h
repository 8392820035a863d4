/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_types.h: groups in which kinds are shown. A kind names its own by
 * `+kc:resource:catalog=NAME` (kc/resource_metadata.h), which its definition carries as an
 * annotation; this object says what people read there.
 *
 * No kind of this group has a reconciler: they are what the plane knows about itself, read by its
 * console and its REST layer. All are cluster-scoped: what they tell of is there once for the whole
 * plane, and who may write in a namespace must not be able to add to it.
 */
#ifndef KC_RECONCILERS_CATALOG_TYPES_H
#define KC_RECONCILERS_CATALOG_TYPES_H

#include "kc/api.h"

/// CatalogSpec is what people see.
typedef struct catalog_spec {
    /// What it is called.
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=64
    char *title;
    /// What is in it, in a sentence.
    /// +optional
    /// +kubebuilder:validation:MaxLength=1024
    char *description;
    /// The name of an icon of the console.
    /// +optional
    /// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
    /// +kubebuilder:validation:MaxLength=64
    char *icon;
    /// Catalogs are shown by this number, then by their names.
    /// +optional
    /// +kubebuilder:default=100
    /// +kubebuilder:validation:Minimum=0
    /// +kubebuilder:validation:Maximum=1000
    int32_t order;
} catalog_spec;

/// Catalog is a group in which kinds are shown.
/// +kubebuilder:object:root=true
/// +kubebuilder:resource:scope=Cluster,shortName=ctg,categories=platform
/// +kc:resource:catalog=platform,controller=none
/// +kubebuilder:printcolumn:name=Title,type=string,JSONPath=.spec.title
/// +kubebuilder:printcolumn:name=Order,type=integer,JSONPath=.spec.order
/// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
typedef struct catalog {
    kc_object_meta metadata;
    catalog_spec spec;
} catalog;

#endif
