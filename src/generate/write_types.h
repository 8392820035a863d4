/* SPDX-License-Identifier: Apache-2.0 */
/* write_types.h: headers of API types from CustomResourceDefinitions. */
#ifndef KC_GENERATE_WRITE_TYPES_H
#define KC_GENERATE_WRITE_TYPES_H

#include "generate/output.h"

#include "kc/view.h"

/*
 * Writes GROUP/VERSION/groupversion_info.h and GROUP/VERSION/KIND_types.h for each version of a
 * CRD; GROUP is the group's first label. Negative with KC_INVALID where it is no CRD of
 * apiextensions.k8s.io/v1, or one of its versions has no schema; then nothing was put.
 */
int kc__write_types(const kc_value *crd, kc__gen_put *put, void *user, kc_error *err);

#endif
