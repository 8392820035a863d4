/* SPDX-License-Identifier: Apache-2.0 */
/* custom_internal.h: declarations that the files about custom objects share. */
#ifndef KC_APISERVER_CUSTOM_INTERNAL_H
#define KC_APISERVER_CUSTOM_INTERNAL_H

#include "apiserver/crd/custom_object.h"

/* custom_metadata.c */

/* Decodes metadata into an ObjectMeta and encodes it as JSON, as Go would. `unknown` may be NULL
 * and gets the unknown fields, with paths that begin with `prefix`. NULL on error. */
kc_object *kc__custom_metadata(const kc_value *metadata, const char *prefix, kc_paths *unknown,
                               kc_error *err);
/* The same for metadata that are canonical text of an object. *ret is `metadata` itself when they
 * are an ObjectMeta; else it is the contents of `out`, which must be empty. 0 or negative. */
int kc__custom_metadata_text(kc_str metadata, const char *prefix, kc_paths *unknown, kc_buf *out,
                             kc_str *ret, kc_error *err) KC_MUST_CHECK;
/* Coerces the metadata of embedded resources to ObjectMeta. 0 or negative. */
int kc__custom_coerce(const kc_schema *schema, kc_edit *edit, kc_paths *unknown, kc_error *err);
/* Whether it would change a value, whose metadata was checked when it was written. */
bool kc__custom_would_coerce(const kc_schema *schema, const kc_value *value);
/* Whether ObjectMeta has no such value: null, empty lists and maps, at any depth. */
bool kc__custom_is_coerced(const kc_value *metadata);
/* Adds the errors of embedded resources. */
void kc__custom_check_embedded(const kc_schema *schema, const kc_value *object,
                               kc_field_errors *errors);

/* custom_scale.c: adds the errors of the values behind a scale. */
void kc__custom_check_scale(const kc__custom_scale *scale, const kc_value *object, bool spec,
                            kc_field_errors *errors);

#endif
