/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_validate.h: validates a CustomResourceDefinition, with Kubernetes' messages and error order.
 *
 *     kc_scoped(kc_field_errors) errors = {0};
 *     kc__crd_validate(crd, &(kc__crd_rules){.old = old}, &errors);
 *
 * CRDs are typed and have their defaults (crd_type.h). Any thread.
 */
#ifndef KC_APISERVER_CRD_VALIDATE_H
#define KC_APISERVER_CRD_VALIDATE_H

#include "kc/field_error.h"
#include "kc/json.h"

typedef struct kc__crd_rules {
    const kc_value *old; /* The CRD that it replaces. Defaults to NULL: it is new. */
    /* The CRD was sent as v1beta1, which requires less: no schema, no structural schema, no
     * approval. */
    bool beta;
    /* The caller has validated the metadata, except for the name, which has a special rule. */
    bool metadata_checked;
} kc__crd_rules;

/* Adds the field errors of the CRD. `rules` may be NULL. */
void kc__crd_validate(const kc_value *crd, const kc__crd_rules *rules, kc_field_errors *errors);
/* The same for a change of the status. */
void kc__crd_validate_status(const kc_value *crd, kc_field_errors *errors);

/* Adds warnings about a valid CRD: unknown formats. `old` may be NULL; warnings that apply to `old`
 * as well are not repeated. */
void kc__crd_warnings(const kc_value *crd, const kc_value *old, kc_paths *warnings);

#endif
