/* SPDX-License-Identifier: Apache-2.0 */
/* policy_mutation.h: what one mutation of a policy makes of an object. */
#ifndef KC_APISERVER_ADMISSION_POLICY_MUTATION_H
#define KC_APISERVER_ADMISSION_POLICY_MUTATION_H

#include "apiserver/admission/policies/policy_activation.h"

typedef enum kc__admission_mutated {
    KC__ADMISSION_MUTATED,         /* *ret is the new object, in the same version. */
    KC__ADMISSION_MUTATION_FAILED, /* `why`; the failure policy decides. */
    KC__ADMISSION_MUTATION_OFFLOAD,
} kc__admission_mutated;

/* Evaluates a mutation and applies its result to the object that the evaluation shows. `type` is
 * the resource of the object, or the kind of a subresource. */
kc__admission_mutated kc__admission_mutation_apply(kc__admission_activation *a,
                                                   const kc__admission_mutation *mutation,
                                                   const kc__resource *type, kc_object **ret,
                                                   kc_buf *why);

#endif
