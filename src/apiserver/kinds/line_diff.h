/* SPDX-License-Identifier: Apache-2.0 */
/* line_diff.h: line diff of two texts, in the format of Kubernetes' error messages. */
#ifndef KC_APISERVER_LINE_DIFF_H
#define KC_APISERVER_LINE_DIFF_H

#include "kc/buf.h"

/* The diff of texts with more lines than this is not computed. */
#define KC__LINE_DIFF_MAX 2000

/* Appends hunks with three lines of context, without file names. Appends nothing when the texts
 * are equal or too long. */
void kc__line_diff(kc_str before, kc_str after, kc_buf *out);

#endif
