/* SPDX-License-Identifier: Apache-2.0 */
/* custom_internal.h: what the files about custom objects share. */
#ifndef KC_APISERVER_CUSTOM_INTERNAL_H
#define KC_APISERVER_CUSTOM_INTERNAL_H

#include "apiserver/crd/custom_object.h"

/* custom_metadata.c */

/* Metadata as Go would hold it, in JSON. `unknown` may be NULL, and gets paths that begin with
 * `prefix`. NULL on error. */
kc_object *kc__custom_metadata(const kc_value *metadata, const char *prefix, kc_paths *unknown,
                               kc_error *err);
/* Gives the metadata of embedded resources its type. 0 or negative. */
int kc__custom_coerce(const kc_schema *schema, kc_edit *edit, kc_paths *unknown, kc_error *err);
/* Adds what is wrong with embedded resources. */
void kc__custom_check_embedded(const kc_schema *schema, const kc_value *object,
                               kc_field_errors *errors);

/* custom_scale.c: adds what is wrong with the values behind a scale. */
void kc__custom_check_scale(const kc__custom_scale *scale, const kc_value *object, bool spec,
                            kc_field_errors *errors);

#endif
