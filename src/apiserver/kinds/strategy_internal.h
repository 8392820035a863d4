/* SPDX-License-Identifier: Apache-2.0 */
/* strategy_internal.h: what ConfigMaps and Secrets share. */
#ifndef KC_APISERVER_STRATEGY_INTERNAL_H
#define KC_APISERVER_STRATEGY_INTERNAL_H

#include "kc/field_error.h"
#include "kc/view.h"

/* Of all values together. */
#define KC__MAX_DATA (1024 * 1024)

/* Checks the keys of a map, none of which may be in `other` too; returns the bytes of its values.
 */
size_t kc__validate_data_keys(const kc_value *data, const char *field, const kc_value *other,
                              kc_field_errors *errors);

/* Once `immutable` is true it stays so, and none of the named members changes. */
void kc__validate_immutable(const kc_value *object, const kc_value *old, const char *const *members,
                            size_t n, kc_field_errors *errors);

/* An update of these kinds is checked as a new object is, once more. */
void kc__validate_metadata_again(const kc_value *object, kc_field_errors *errors);

#endif
