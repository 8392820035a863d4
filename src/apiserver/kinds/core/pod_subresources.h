/* SPDX-License-Identifier: Apache-2.0 */
/* pod_subresources.h: the pod subresources that change its spec: ephemeralcontainers (debug
 * containers) and resize (resources of its containers). */
#ifndef KC_APISERVER_POD_PARTS_H
#define KC_APISERVER_POD_PARTS_H

#include "kc/edit.h"
#include "kc/field_error.h"

/* Keeps only the changes that the subresource allows; everything else is taken from `old`. Does
 * nothing for other subresources. */
void kc__strategy_prepare_pod_subresource(kc_edit *edit, const kc_value *old, const char *part);
/* Validates the pod that results from the change; adds field errors. */
void kc__validate_pod_subresource(const kc_value *pod, const kc_value *old, const char *part,
                                  kc_field_errors *errors);

#endif
