/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_type.h: CustomResourceDefinition, the type: its fields, its defaults, and its older form.
 *
 *     kc_auto(kc_object) *crd = kc__crd_decode(body, &unknown, err);
 *     kc_auto(kc_edit) *edit = kc_edit_of(crd);
 *     kc__crd_prepare(edit);
 *     kc_auto(kc_object) *ready = kc__crd_freeze(edit, err);
 *
 * Only JSON comes in and goes out; nothing here knows of requests or of a store. Any thread.
 */
#ifndef KC_APISERVER_CRD_TYPE_H
#define KC_APISERVER_CRD_TYPE_H

#include "apiserver/kinds/definition.h"
#include "kc/edit.h"
#include "kc/json.h"

#define KC__CRD_GROUP     "apiextensions.k8s.io"
#define KC__CRD_VERSION   "apiextensions.k8s.io/v1"
#define KC__CRD_BETA      "apiextensions.k8s.io/v1beta1"
#define KC__CRD_KIND      "CustomResourceDefinition"
#define KC__CRD_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

/* As tables like those of the built-in kinds (definition.h). */
extern const kc__message *const kc__crd_type;
extern const kc__message *const kc__crd_list_type; /* Of OpenAPI: nobody sends one. */
extern const kc__message *const kc__crd_beta_type; /* v1beta1 */
extern const kc__message *const kc__crd_beta_list_type;
extern const kc__message *const kc__crd_names_type;   /* spec.names, status.acceptedNames */
extern const kc__message *const kc__object_meta_type; /* The same as the published one. */

/* kc__definition_find and kc__definition_of_kind, with these among the published ones. */
const kc__message *kc__type_find(kc_str name);
const kc__message *kc__type_of_kind(kc_str api_version, kc_str kind);

/*
 * A definition as Kubernetes would hold it: typed, in Go's order. One of v1beta1 becomes one of v1,
 * and keeps the meaning it had: without a schema, with all its fields. `unknown` may be NULL, and
 * gets the paths of fields there are none of. NULL on error (KC_BAD_REQUEST, KC_TOO_LARGE). The
 * caller drops the reference.
 */
kc_object *kc__crd_decode(const kc_object *given, kc_paths *unknown, kc_error *err);

/* A definition of v1 as v1beta1 shows it: what all versions have alike stands above them. Typed, in
 * Go's order. */
kc_object *kc__crd_to_beta(const kc_object *crd, kc_error *err);

/* Fills in what may be left out: singular, listKind, conversion, the port of a webhook. */
void kc__crd_default(kc_edit *edit);
/* The same, and an empty status, as of one to be created. */
void kc__crd_prepare(kc_edit *edit);
/* The same for one that replaces another: the status stays, `subresource` NULL, or only the status
 * changes. The storage version joins the stored ones. */
void kc__crd_prepare_update(kc_edit *edit, const kc_value *old, const char *subresource);
/* An object of the edit, typed. */
kc_object *kc__crd_freeze(const kc_edit *edit, kc_error *err);

#endif
