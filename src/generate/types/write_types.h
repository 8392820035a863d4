/* SPDX-License-Identifier: Apache-2.0 */
/* write_types.h: writes headers of API types from CustomResourceDefinitions. */
#ifndef KC_GENERATE_WRITE_TYPES_H
#define KC_GENERATE_WRITE_TYPES_H

#include "generate/write/output.h"

#include "kc/view.h"

/*
 * Writes GROUP/VERSION/groupversion_info.h and GROUP/VERSION/KIND_types.h for each version of a
 * CRD; GROUP is the group's first label. Negative with KC_INVALID if it is not a CRD of
 * apiextensions.k8s.io/v1 or a version has no schema; then nothing is written.
 */
int kc__gen_write_types(const kc_value *crd, kc__gen_output_put *put, void *user, kc_error *err);

#endif
