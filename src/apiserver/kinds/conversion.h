/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conversion.h: converts objects between the versions of a resource.
 *
 * The storage keeps an object in one version of its resource (storage_api_version). Reads and
 * writes in another version convert the object on the way out and in. The conversion is an
 * operation of the resource (resource_ops.h). Built-in resources use the table in conversion.c;
 * nearly all of them need no conversion and cost one lookup. Custom resources use their schema
 * (crd/custom_object.h).
 */
#ifndef KC_APISERVER_CONVERSION_H
#define KC_APISERVER_CONVERSION_H

#include "apiserver/kinds/resource_ops.h"
#include "kc/object.h"

/* Whether the stored form of a built-in resource differs from the form of this version. O(1). */
bool kc__convert_is_needed(const kc__resource *resource);

/* Returns the type of an object of a built-in resource: that of the stored form or that of this
 * version, whichever form the object has. */
const kc__type_message *kc__convert_type_of(const kc__resource *resource, const kc_object *object);

/* Converts an object to the stored form, or from it to the resource's version. Returns a new
 * reference, to the same object if it has that form already; the caller drops it. NULL on error:
 * KC_TOO_LARGE. */
kc_object *kc__convert_to_stored(const kc__resource *resource, const kc_object *object,
                                 kc_error *err);
kc_object *kc__convert_from_stored(const kc__resource *resource, const kc_object *object,
                                   kc_error *err);
/* The same for built-in resources: the implementations behind resource_ops.h. */
kc_object *kc__builtin_to_stored(const kc__resource *resource, const kc_object *object,
                                 kc_error *err);
kc_object *kc__builtin_from_stored(const kc__resource *resource, const kc_object *object,
                                   kc_error *err);

/* Converts an object of any version of a built-in kind to another version of its group, and sets
 * the type of that version. NULL without an error: there is no such version. */
kc_object *kc__builtin_to_version(const kc__resource *resource, const kc_object *object,
                                  kc_str api_version, const kc__type_message **ret_type,
                                  kc_error *err);

#endif
