/* SPDX-License-Identifier: Apache-2.0 */
/* pod_parts.h: what of a pod is changed through subresources of its own: containers to look into it
 * with (ephemeralcontainers), and what its containers may use (resize). */
#ifndef KC_APISERVER_POD_PARTS_H
#define KC_APISERVER_POD_PARTS_H

#include "kc/edit.h"
#include "kc/field_error.h"

/* Leaves of the change what the subresource is for; everything else is as it was in `old`. Does
 * nothing for other subresources. */
void kc__pod_part_prepare(kc_edit *edit, const kc_value *old, const char *part);
/* Adds what is wrong with the pod that came of it. */
void kc__pod_part_check(const kc_value *pod, const kc_value *old, const char *part,
                        kc_field_errors *errors);

#endif
