/* SPDX-License-Identifier: Apache-2.0 */
/* text_internal.h: what logs and metrics need to write text safely. */
#ifndef KC_BASE_TEXT_INTERNAL_H
#define KC_BASE_TEXT_INTERNAL_H

#include "kc/buf.h"

/* The length of the UTF-8 sequence at the front of s, and its code point. 0 when it is not valid
 * (overlong, a surrogate, cut short) or s is empty. */
size_t kc__utf8_next(kc_str s, uint32_t *ret_code_point);

/* The shortest text that reads back as the same number, in the form Go gives it and Prometheus
 * expects: 0.005, 12, 1e+06, NaN, +Inf. */
void kc__put_double(kc_buf *out, double value);

#endif
