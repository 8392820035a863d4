/* SPDX-License-Identifier: Apache-2.0 */
/* taints.h: matches tolerations of pods with taints of nodes. */
#ifndef KC_CONTROLLERS_TAINTS_H
#define KC_CONTROLLERS_TAINTS_H

#include "api/core_v1/zz_generated.h"

/* The first toleration of a pod that matches a taint; NULL if none does. An empty key (with Exists)
 * matches all keys and an empty effect all effects; without an operator the values are compared. */
const kc_toleration *kc__common_find_toleration(const kc_pod *pod, const kc_taint *taint);

#endif
