/* SPDX-License-Identifier: Apache-2.0 */
/* conditions.h: builds and updates the status conditions that the server itself writes. */
#ifndef KC_APISERVER_CONDITIONS_H
#define KC_APISERVER_CONDITIONS_H

#include "kc/edit.h"

/* Creates a condition of this type and status, not yet in a list. `reason` may be NULL: no
 * reason. */
kc_node *kc__condition_new(kc_edit *edit, const char *type, const char *status, const char *reason);
/* Replaces the condition of the same type in status.conditions, or appends it. Its
 * lastTransitionTime is `now`, or that of the replaced condition if the status is the same. */
void kc__condition_put(kc_edit *edit, kc_node *object, kc_node *condition, kc_str now);

/* Whether the object has a condition of this type with the status True. */
bool kc__condition_has_true(const kc_value *object, const char *type);

#endif
