/* SPDX-License-Identifier: Apache-2.0 */
/* output.h: where generators put what they write. */
#ifndef KC_GENERATE_OUTPUT_H
#define KC_GENERATE_OUTPUT_H

#include "kc/error.h"

/* Gets each file, by a name without folder, or by its full path where it belongs beside a header.
 * Nothing is put before everything was found to be right: a negative return is only for the
 * output's own failures. */
typedef int kc__gen_put(const char *name, kc_str text, void *user, kc_error *err);

#endif
