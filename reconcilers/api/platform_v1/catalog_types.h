/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_types.h: groups in which the console shows kinds. A kind names its catalog by
 * `+kc:resource:catalog=NAME` (kc/resource_metadata.h), which its CRD carries as an annotation;
 * this object has the texts of the catalog.
 *
 * No kind of this group has a reconciler: the console and the REST layer of the control plane read
 * them. All are cluster-scoped: they exist once for the whole control plane, and a user with write
 * access to a namespace must not be able to add one.
 */
#ifndef KC_RECONCILERS_CATALOG_TYPES_H
#define KC_RECONCILERS_CATALOG_TYPES_H

#include "kc/api.h"

/// CatalogSpec is what the console shows of a catalog.
typedef struct catalog_spec {
    /// Title of the catalog.
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=64
    char *title;
    /// Description in one sentence.
    /// +optional
    /// +kubebuilder:validation:MaxLength=1024
    char *description;
    /// Name of an icon of the console.
    /// +optional
    /// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
    /// +kubebuilder:validation:MaxLength=64
    char *icon;
    /// Sort order of the catalogs, before their names.
    /// +optional
    /// +kubebuilder:default=100
    /// +kubebuilder:validation:Minimum=0
    /// +kubebuilder:validation:Maximum=1000
    int32_t order;
} catalog_spec;

/// Catalog is a group in which the console shows kinds.
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
