/* SPDX-License-Identifier: Apache-2.0 */
/* license.h: the license header of a project's sources. */
#ifndef KC_SCAFFOLD_LICENSE_H
#define KC_SCAFFOLD_LICENSE_H

#include "scaffold/scaffold.h"

/* Appends it. KC_INVALID for an unknown license, or a file that is not a C comment. */
int kc__scaffold_license_text(const kc__scaffold_license_opts *opts, kc_buf *out, kc_error *err);

#endif
