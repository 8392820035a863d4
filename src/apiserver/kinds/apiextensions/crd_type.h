/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_type.h: the type CustomResourceDefinition: its fields, its defaults, and its v1beta1 form.
 *
 *     kc_auto(kc_object) *crd = kc__crd_decode(body, &unknown, err);
 *     kc_auto(kc_edit) *edit = kc_edit_of(crd);
 *     kc__crd_prepare(edit);
 *     kc_auto(kc_object) *ready = kc__crd_freeze(edit, err);
 *
 * Input and output are JSON; this module depends neither on requests nor on a store. Any thread.
 */
#ifndef KC_APISERVER_CRD_TYPE_H
#define KC_APISERVER_CRD_TYPE_H

#include "apiserver/codec/api_types.h"
#include "kc/edit.h"
#include "kc/json.h"

#define KC__CRD_GROUP     "apiextensions.k8s.io"
#define KC__CRD_VERSION   "apiextensions.k8s.io/v1"
#define KC__CRD_BETA      "apiextensions.k8s.io/v1beta1"
#define KC__CRD_KIND      "CustomResourceDefinition"
#define KC__CRD_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

/* The types, as tables like those of the built-in kinds (api_types.h). */
extern const kc__type_message *const kc__crd_type;
extern const kc__type_message *const kc__crd_list_type; /* Only for OpenAPI: no client sends one. */
extern const kc__type_message *const kc__crd_beta_type; /* v1beta1 */
extern const kc__type_message *const kc__crd_beta_list_type;
extern const kc__type_message *const kc__crd_names_type; /* spec.names, status.acceptedNames */
extern const kc__type_message *const kc__crd_object_meta_type; /* The same as the published one. */

/* Like kc__type_lookup and kc__type_lookup_kind, including these types. */
const kc__type_message *kc__crd_type_find(kc_str name);
const kc__type_message *kc__crd_type_of_kind(kc_str api_version, kc_str kind);

/*
 * Returns a CRD as Kubernetes would hold it: typed, in Go's order. A CRD of v1beta1 is converted to
 * v1 and keeps its meaning: no schema is required, and unknown fields are preserved. `unknown` may
 * be NULL; it gets the paths of unknown fields. NULL on error (KC_BAD_REQUEST, KC_TOO_LARGE). The
 * caller drops the reference.
 */
kc_object *kc__crd_decode(const kc_object *input, kc_paths *unknown, kc_error *err);

/* Converts a CRD of v1 to v1beta1: parts that are the same in all versions move above the
 * versions. The result is typed, in Go's order. */
kc_object *kc__crd_to_beta(const kc_object *crd, kc_error *err);

/* Sets the defaults: singular, listKind, conversion, the port of a webhook. */
void kc__crd_default(kc_edit *edit);
/* The same for a create; also sets an empty status. */
void kc__crd_prepare(kc_edit *edit);
/* The same for an update: keeps the status if `subresource` is NULL, otherwise changes only the
 * status. Adds the storage version to the stored versions. */
void kc__crd_prepare_update(kc_edit *edit, const kc_value *old, const char *subresource);
/* Freezes the edit to a typed object. */
kc_object *kc__crd_freeze(const kc_edit *edit, kc_error *err);

#endif
