/* SPDX-License-Identifier: Apache-2.0 */
/* taints.h: which taints of a node a pod tolerates. */
#ifndef KC_CONTROLLERS_TAINTS_H
#define KC_CONTROLLERS_TAINTS_H

#include "api/core_v1/zz_generated.h"

/* The first toleration of a pod that fits a taint; NULL when none does. An empty key (with Exists)
 * and an empty effect fit all; without an operator values are compared. */
const kc_toleration *kc__find_toleration(const kc_pod *pod, const kc_taint *taint);

#endif
