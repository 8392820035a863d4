/* SPDX-License-Identifier: Apache-2.0 */
/* write_crd.h: CustomResourceDefinitions of a model, as YAML. */
#ifndef KC_GENERATE_WRITE_CRD_H
#define KC_GENERATE_WRITE_CRD_H

#include "generate/model.h"
#include "generate/output.h"

typedef struct kc__crd_opts {
    bool allow_dangerous_types; /* float and double. */
    bool embedded_object_meta;  /* Schemas for metadata that is not an object's own. */
    int max_description;        /* Bytes of each description; 0: any; negative: none at all. */
    const char *header;         /* Text before each document; NULL: none. */
    const char *version;        /* Of the generator, for an annotation; NULL: none. */
} kc__crd_opts;

/*
 * Writes GROUP_PLURAL.yaml for each kind, in the order of their names. Negative with KC_INVALID and
 * a line for each mistake; then nothing was put.
 */
int kc__write_crds(const kc__gen_model *model, const kc__crd_opts *opts, kc__gen_put *put,
                   void *user, kc_error *err);

#endif
