/* SPDX-License-Identifier: Apache-2.0 */
/* tolerations.h: merges tolerations into those of a pod, and compares them. */
#ifndef KC_APISERVER_TOLERATIONS_H
#define KC_APISERVER_TOLERATIONS_H

#include "kc/edit.h"
#include "kc/view.h"

/* Adds `more`, an array, to spec.tolerations. Of two tolerations of which one covers the other only
 * the wider one stays; of two equal ones, the first. */
void kc__admission_merge_tolerations(kc_edit *edit, kc_node *spec, const kc_value *more);
/* Whether each toleration of the array `list` is covered by one of the array `wide`. */
bool kc__admission_covers_tolerations(const kc_value *wide, const kc_value *list);

#endif
