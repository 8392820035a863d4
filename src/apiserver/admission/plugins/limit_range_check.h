/* SPDX-License-Identifier: Apache-2.0 */
/* limit_range_check.h: the constraints of one LimitRange. Pure. */
#ifndef KC_APISERVER_LIMIT_RANGE_CHECK_H
#define KC_APISERVER_LIMIT_RANGE_CHECK_H

#include "kc/buf.h"
#include "kc/view.h"

/* Append why the object violates the LimitRange, in the words of Kubernetes; nothing if it does
 * not. `out` is empty. */
void kc__admission_limit_range_check_pod(const kc_value *range, const kc_value *pod, kc_buf *out);
void kc__admission_limit_range_check_claim(const kc_value *range, const kc_value *claim,
                                           kc_buf *out);

#endif
