/* SPDX-License-Identifier: Apache-2.0 */
/* equal.h: the parts of equality that diff.c needs, too. */
#ifndef KC_EQUAL_H
#define KC_EQUAL_H

#include "kc/view.h"

/* Equality of values that are not both arrays or both objects. */
bool kc__value_scalars_equal(const kc_value *a, const kc_value *b);
/* Absent, null, [], {}, or an object whose members are all empty. */
bool kc__value_is_empty(const kc_value *value);

#endif
