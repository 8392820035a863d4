/* SPDX-License-Identifier: Apache-2.0 */
/* write_crd.h: writes the CustomResourceDefinitions of a model as YAML. */
#ifndef KC_GENERATE_WRITE_CRD_H
#define KC_GENERATE_WRITE_CRD_H

#include "generate/model/model.h"
#include "generate/write/output.h"

typedef struct kc__gen_crd_opts {
    bool allow_dangerous_types; /* Allows float and double. */
    bool embedded_object_meta;  /* Generates schemas for embedded metadata. */
    int max_description;        /* Maximum bytes of each description; 0: unlimited; negative:
                                 * none. */
    const char *header;         /* Text before each document; NULL: none. */
    const char *version;        /* Of the generator, for an annotation; NULL: none. */
} kc__gen_crd_opts;

/*
 * Writes GROUP_PLURAL.yaml for each kind, sorted by name. Negative with KC_INVALID and a line for
 * each mistake; then nothing is written.
 */
int kc__gen_write_crds(const kc__gen_model *model, const kc__gen_crd_opts *opts,
                       kc__gen_output_put *put, void *user, kc_error *err);

#endif
