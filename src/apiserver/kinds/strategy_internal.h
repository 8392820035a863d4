/* SPDX-License-Identifier: Apache-2.0 */
/* strategy_internal.h: checks that ConfigMaps and Secrets share. */
#ifndef KC_APISERVER_STRATEGY_INTERNAL_H
#define KC_APISERVER_STRATEGY_INTERNAL_H

#include "kc/field_error.h"
#include "kc/view.h"

/* Maximum size of all values together. */
#define KC__STRATEGY_MAX_DATA (1024 * 1024)

/* Validates the keys of a map; no key may also be in `other`. Returns the total size of the
 * values in bytes. */
size_t kc__validate_data_keys(const kc_value *data, const char *field, const kc_value *other,
                              kc_field_errors *errors);

/* Once `immutable` is true, it stays true and none of the named members may change. */
void kc__validate_immutable(const kc_value *object, const kc_value *old, const char *const *members,
                            size_t n, kc_field_errors *errors);

/* Validates the metadata of an updated object once more by the rules for a new object, as
 * Kubernetes does for these kinds. */
void kc__validate_metadata_again(const kc_value *object, kc_field_errors *errors);

#endif
