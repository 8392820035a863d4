/* SPDX-License-Identifier: Apache-2.0 */
/* write_code.h: the C of a model: field tables, kinds, typed functions. */
#ifndef KC_GENERATE_WRITE_CODE_H
#define KC_GENERATE_WRITE_CODE_H

#include "generate/model.h"
#include "generate/output.h"

/* Writes FOLDER/zz_generated.h and .c for each package, where its headers are. `header` (may be
 * NULL) is text to put first. Negative with KC_INVALID and a line for each mistake; then nothing
 * was put. */
int kc__write_code(const kc__gen_model *model, const char *header, kc__gen_put *put, void *user,
                   kc_error *err);

#endif
