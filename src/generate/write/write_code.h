/* SPDX-License-Identifier: Apache-2.0 */
/* write_code.h: writes the C code of a model: field tables, kinds, typed functions. */
#ifndef KC_GENERATE_WRITE_CODE_H
#define KC_GENERATE_WRITE_CODE_H

#include "generate/model/model.h"
#include "generate/write/output.h"

/* Writes FOLDER/zz_generated.h and .c for each package, beside its headers. `header` (may be NULL)
 * is text to put first. Negative with KC_INVALID and a line for each mistake; then nothing is
 * written. */
int kc__gen_write_code(const kc__gen_model *model, const char *header, kc__gen_output_put *put,
                       void *user, kc_error *err);

#endif
