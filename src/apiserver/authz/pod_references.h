/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_references.h: the API objects that a pod or a PersistentVolume refers to. The Node authorizer
 * allows a node to read what its pods refer to; the admission plugins NodeRestriction and
 * ServiceAccount check whether a pod refers to anything.
 */
#ifndef KC_APISERVER_AUTHZ_POD_REFERENCES_H
#define KC_APISERVER_AUTHZ_POD_REFERENCES_H

#include "kc/view.h"

/* Kinds of objects that are related to nodes; the letters are part of keys (node_graph.c). */
typedef enum kc__authz_object_type {
    KC__AUTHZ_CONFIG_MAP = 'c',
    KC__AUTHZ_SECRET = 's',
    KC__AUTHZ_SERVICE_ACCOUNT = 'a',
    KC__AUTHZ_VOLUME_CLAIM = 'k',
    KC__AUTHZ_VOLUME = 'v',
    KC__AUTHZ_RESOURCE_CLAIM = 'r',
    KC__AUTHZ_RESOURCE_SLICE = 'i',
    KC__AUTHZ_VOLUME_ATTACHMENT = 't',
    KC__AUTHZ_POD = 'p',
    KC__AUTHZ_NODE = 'n',
} kc__authz_object_type;

/* Called for each reference; the name is not empty. Slices are borrowed from the object, or valid
 * during the call. */
typedef void kc__authz_reference_fn(kc__authz_object_type type, kc_str ns, kc_str name, void *user);

/* The Secrets that the spec of a pod names: of image pulls, volumes and variables of all
 * containers. */
void kc__authz_pod_secrets(const kc_value *spec, kc_str ns, kc__authz_reference_fn *fn, void *user);
/* The ConfigMaps: of volumes and variables. */
void kc__authz_pod_config_maps(const kc_value *spec, kc_str ns, kc__authz_reference_fn *fn,
                               void *user);
/* Both of a pod, and the service account, PersistentVolumeClaims and ResourceClaims. A name may be
 * given several times. */
void kc__authz_pod_references(const kc_value *pod, kc__authz_reference_fn *fn, void *user);

/* The Secrets of a volume that nodes may read; those of other components are left out. */
void kc__authz_volume_secrets(const kc_value *volume, kc__authz_reference_fn *fn, void *user);

#endif
