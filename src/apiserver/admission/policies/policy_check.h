/* SPDX-License-Identifier: Apache-2.0 */
/* policy_check.h: applies validating admission policies to a request. */
#ifndef KC_APISERVER_ADMISSION_POLICY_CHECK_H
#define KC_APISERVER_ADMISSION_POLICY_CHECK_H

#include "apiserver/admission/policies/policy_params.h"
#include "apiserver/admission/policies/policy_set.h"

/* KC__REST_NEXT, KC__REST_FAIL (call->error), KC__REST_ON_WORKER, or for a conversion webhook
 * KC__REST_PENDING or KC__REST_ON_LOOP. Adds warnings and audit annotations to the call. */
kc__rest_verdict kc__admission_policy_set_check(const kc__admission_policy_set *set,
                                                kc__rest_call *call,
                                                const kc__admission_attributes *about);

/* ---- one policy, one parameter: policy_validation.c ---- */

/* The result of one validation. Texts are in the arena of the evaluation. */
typedef struct kc__admission_decision {
    bool denied; /* The request violates the validation, or evaluation failed (failurePolicy). */
    bool failed; /* Evaluation failed. */
    kc_str message, reason;
    int64_t took;
} kc__admission_decision;

typedef enum kc__admission_annotation_action {
    KC__ADMISSION_ANNOTATION_EXCLUDED,
    KC__ADMISSION_ANNOTATION_PUBLISHED,
    KC__ADMISSION_ANNOTATION_FAILED,
} kc__admission_annotation_action;

typedef struct kc__admission_annotation_result {
    kc__admission_annotation_action action;
    kc_str key, text; /* The value, or why evaluation failed. */
    int64_t took;
} kc__admission_annotation_result;

typedef struct kc__admission_validated {
    kc__admission_decision *decisions; /* One per validation, or one about all. */
    size_t n_decisions;
    kc__admission_annotation_result *annotations;
    size_t n_annotations;
} kc__admission_validated;

/* True if match conditions exclude the request that are decided without an evaluation. */
bool kc__admission_policy_excludes(kc__admission_evaluation *ev,
                                   const kc__admission_policy *policy);
/* Evaluates the match conditions, validations, messages and audit annotations of a policy. False
 * if the event loop has no time left (ev->must_offload). */
bool kc__admission_policy_validate(kc__admission_evaluation *ev, const kc__admission_policy *policy,
                                   const kc_value *params, kc__admission_validated *ret);

#endif
