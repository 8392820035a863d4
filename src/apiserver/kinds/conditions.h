/* SPDX-License-Identifier: Apache-2.0 */
/* conditions.h: conditions in a status that the server itself writes. */
#ifndef KC_APISERVER_CONDITIONS_H
#define KC_APISERVER_CONDITIONS_H

#include "kc/edit.h"

/* A condition of this type and status, with a reason where it is not NULL; of no list yet. */
kc_node *kc__condition_new(kc_edit *edit, const char *type, const char *status, const char *reason);
/* Puts it in the place of the one of its type in status.conditions, or at their end. It has been so
 * since `now`, or since when the other one says that had the same status. */
void kc__condition_put(kc_edit *edit, kc_node *object, kc_node *condition, kc_str now);

/* Whether the object has one of this type whose status is True. */
bool kc__has_condition(const kc_value *object, const char *type);

#endif
