/* SPDX-License-Identifier: Apache-2.0 */
/* write_sample.h: an object of each kind to begin with. */
#ifndef KC_GENERATE_WRITE_SAMPLE_H
#define KC_GENERATE_WRITE_SAMPLE_H

#include "generate/model.h"
#include "generate/output.h"

/*
 * Writes GROUP_VERSION_KIND.yaml for each version of each kind that is served, GROUP being the
 * group's first label (all of it where two groups share that). `header` is text before each
 * document; NULL: none. Negative with KC_INVALID and a line for each mistake in the types; then
 * nothing was put.
 */
int kc__write_samples(const kc__gen_model *model, const char *header, kc__gen_put *put, void *user,
                      kc_error *err);

#endif
