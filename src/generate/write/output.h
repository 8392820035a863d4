/* SPDX-License-Identifier: Apache-2.0 */
/* output.h: the output interface of generators. */
#ifndef KC_GENERATE_OUTPUT_H
#define KC_GENERATE_OUTPUT_H

#include "kc/error.h"

/* Receives each file, by a name without directory, or by its full path if it belongs beside a
 * header. Called only after everything was validated: a negative return is the output's own
 * failure. */
typedef int kc__gen_output_put(const char *name, kc_str text, void *user, kc_error *err);

#endif
