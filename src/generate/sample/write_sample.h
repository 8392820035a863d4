/* SPDX-License-Identifier: Apache-2.0 */
/* write_sample.h: writes a sample object of each kind. */
#ifndef KC_GENERATE_WRITE_SAMPLE_H
#define KC_GENERATE_WRITE_SAMPLE_H

#include "generate/model/model.h"
#include "generate/write/output.h"

/*
 * Writes GROUP_VERSION_KIND.yaml for each served version of each kind; GROUP is the group's first
 * label (the whole group if two groups share it). `header` is text before each document; NULL:
 * none. Negative with KC_INVALID and a line for each mistake in the types; then nothing is written.
 */
int kc__gen_write_samples(const kc__gen_model *model, const char *header, kc__gen_output_put *put,
                          void *user, kc_error *err);

#endif
