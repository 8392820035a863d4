/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conversion.h: one stored object in the forms of several versions.
 *
 * An object is stored in one version of its resource (storage_api_version). Where another version
 * has the same contents under other names, it is converted on the way in and out, so that whoever
 * asks sees the form of the version that was asked for. Resources with one form, which are nearly
 * all, cost one look-up. Custom resources have functions of their own (crd/custom_object.h).
 */
#ifndef KC_APISERVER_CONVERSION_H
#define KC_APISERVER_CONVERSION_H

#include "apiserver/kinds/resource.h"
#include "kc/object.h"

/* Whether this version has a form of its own. O(1). */
bool kc__converts(const kc__resource *resource);

/* The type of an object in either form. Not of custom resources. */
const kc__message *kc__type_of(const kc__resource *resource, const kc_object *object);

/* The object in the form that is stored, or in that of the resource's version: a reference to the
 * same one if it has that form already. NULL on error: KC_TOO_LARGE. The caller drops it. */
kc_object *kc__to_stored(const kc__resource *resource, const kc_object *object, kc_error *err);
kc_object *kc__from_stored(const kc__resource *resource, const kc_object *object, kc_error *err);

#endif
