/* SPDX-License-Identifier: Apache-2.0 */
/* line_diff.h: which lines differ between two texts, as errors of Kubernetes show it. */
#ifndef KC_APISERVER_LINE_DIFF_H
#define KC_APISERVER_LINE_DIFF_H

#include "kc/buf.h"

/* Texts with more lines than this are not compared. */
#define KC__LINE_DIFF_MAX 2000

/* Appends hunks with three lines of context, without names of files; nothing when the texts are the
 * same or too long. */
void kc__line_diff(kc_str before, kc_str after, kc_buf *out);

#endif
