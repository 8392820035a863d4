/* SPDX-License-Identifier: Apache-2.0 */
/* crd_internal.h: declarations shared by the files about CRDs. */
#ifndef KC_APISERVER_CRD_INTERNAL_H
#define KC_APISERVER_CRD_INTERNAL_H

#include "kc/edit.h"
#include "kc/field_error.h"
#include "kc/view.h"

/* crd_beta.c: converts a CRD of v1beta1 to v1. */
void kc__crd_from_beta(kc_edit *edit);

/* A part that each version may have on its own, or that, in Kubernetes' internal form and in
 * v1beta1, all versions share. */
typedef struct kc__crd_shared {
    const char *above;  /* "validation" */
    const char *inside; /* "schema" */
} kc__crd_shared;

enum {
    KC__CRD_SHARED_SUBRESOURCES,
    KC__CRD_SHARED_SCHEMA,
    KC__CRD_SHARED_COLUMNS,
    KC__CRD_SHARED_FIELDS,
    KC__CRD_N_SHARED
};
extern const kc__crd_shared kc__crd_shared_parts[KC__CRD_N_SHARED];

/* Whether all versions have the same value of a part, or none of them has it. Kubernetes then
 * treats the part as one above the versions, also in error messages. */
bool kc__crd_is_shared(const kc_value *versions, size_t part);

/* Returns spec.versions[i].schema.openAPIV3Schema; NULL if there is none. */
const kc_value *kc__crd_schema_of(const kc_value *version);

/* Returns a condition of the status; NULL if there is none. */
const kc_value *kc__crd_condition(const kc_value *crd, const char *type);
bool kc__crd_condition_is_true(const kc_value *crd, const char *type);

/* The state of the API approval that groups of the Kubernetes community need. */
typedef enum kc__crd_approval_state {
    KC__CRD_APPROVAL_NOT_NEEDED,
    KC__CRD_APPROVAL_MISSING,
    KC__CRD_APPROVAL_BYPASSED,
    KC__CRD_APPROVAL_GRANTED,
    KC__CRD_APPROVAL_INVALID,
} kc__crd_approval_state;

/* Returns the approval state; appends the reason. */
kc__crd_approval_state kc__crd_approval(const kc_value *crd, kc_buf *reason);

#endif
