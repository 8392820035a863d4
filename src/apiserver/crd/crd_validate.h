/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_validate.h: whether a CustomResourceDefinition may be stored, in Kubernetes' words and order.
 *
 *     kc_scoped(kc_field_errors) errors = {0};
 *     kc__crd_validate(crd, &(kc__crd_rules){.old = old}, &errors);
 *
 * Definitions come typed and with their defaults (crd_type.h). Any thread.
 */
#ifndef KC_APISERVER_CRD_VALIDATE_H
#define KC_APISERVER_CRD_VALIDATE_H

#include "kc/field_error.h"
#include "kc/json.h"

typedef struct kc__crd_rules {
    const kc_value *old; /* What it replaces. Defaults to nothing: it is new. */
    /* It came as v1beta1, which asks for less: no schema, none that is structural, no approval. */
    bool beta;
    /* The caller has checked the metadata but for what is special: the name. */
    bool metadata_checked;
} kc__crd_rules;

/* Adds what is wrong with it. `rules` may be NULL. */
void kc__crd_validate(const kc_value *crd, const kc__crd_rules *rules, kc_field_errors *errors);
/* The same for a change of its status. */
void kc__crd_validate_status(const kc_value *crd, kc_field_errors *errors);

/* Adds a sentence for each thing one should know about a definition that is accepted: rules that
 * are not evaluated, formats that nobody knows. `old` may be NULL; what it had is not told again.
 */
void kc__crd_warnings(const kc_value *crd, const kc_value *old, kc_paths *warnings);

#endif
