/* SPDX-License-Identifier: Apache-2.0 */
/* license.h: the comment at the top of a project's sources. */
#ifndef KC_SCAFFOLD_LICENSE_H
#define KC_SCAFFOLD_LICENSE_H

#include "scaffold/scaffold.h"

/* Appends it. KC_INVALID for a license that is not known, or a file that is no comment of C. */
int kc__license_text(const kc__license_opts *opts, kc_buf *out, kc_error *err);

#endif
