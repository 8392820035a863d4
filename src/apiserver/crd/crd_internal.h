/* SPDX-License-Identifier: Apache-2.0 */
/* crd_internal.h: what the files about definitions share. */
#ifndef KC_APISERVER_CRD_INTERNAL_H
#define KC_APISERVER_CRD_INTERNAL_H

#include "kc/edit.h"
#include "kc/field_error.h"
#include "kc/view.h"

/* crd_beta.c: turns a definition of v1beta1 into one of v1. */
void kc__crd_from_beta(kc_edit *edit);

/* What versions may have each on its own, or, inside Kubernetes and in v1beta1, all together. */
typedef struct kc__crd_shared {
    const char *above;  /* "validation" */
    const char *inside; /* "schema" */
} kc__crd_shared;

enum {
    KC__SHARED_SUBRESOURCES,
    KC__SHARED_SCHEMA,
    KC__SHARED_COLUMNS,
    KC__SHARED_FIELDS,
    KC__N_SHARED
};
extern const kc__crd_shared kc__crd_shared_parts[KC__N_SHARED];

/* Whether all versions have the same of a part (or none of it): Kubernetes then speaks of it as
 * standing above them, also in errors. */
bool kc__crd_is_shared(const kc_value *versions, size_t part);

/* spec.versions[i].schema.openAPIV3Schema; NULL when there is none. */
const kc_value *kc__crd_schema_of(const kc_value *version);

/* A condition of the status; NULL when there is none. */
const kc_value *kc__crd_condition(const kc_value *crd, const char *type);
bool kc__crd_condition_is_true(const kc_value *crd, const char *type);

/* The state of the approval that groups of the community need. */
typedef enum kc__approval {
    KC__APPROVAL_NOT_NEEDED,
    KC__APPROVAL_MISSING,
    KC__APPROVAL_BYPASSED,
    KC__APPROVED,
    KC__APPROVAL_INVALID,
} kc__approval;

/* Appends why. */
kc__approval kc__crd_approval(const kc_value *crd, kc_buf *reason);

#endif
