/* SPDX-License-Identifier: Apache-2.0 */
/* policy_params.h: the parameters of a policy, found through its binding. */
#ifndef KC_APISERVER_ADMISSION_POLICY_PARAMS_H
#define KC_APISERVER_ADMISSION_POLICY_PARAMS_H

#include "apiserver/admission/policies/policy_activation.h"

/* Zeroed means none. */
typedef struct kc__admission_params {
    /* One object per evaluation; NULL is the parameter null. */
    KC_VEC(kc_object *) objects;
} kc__admission_params;

void kc__admission_params_done(kc__admission_params *params);

/* Finds the resource of a policy's paramKind; NULL without paramKind. Negative with Kubernetes'
 * message when it is not served. */
int kc__admission_params_resource(const kc__rest_call *call, const kc__admission_policy *policy,
                                  const kc__resource **ret, kc_error *err);
/* Collects the parameters of a binding, in the version of paramKind. KC__REST_NEXT; KC__REST_FAIL:
 * `err`, with Kubernetes' message; KC__REST_ON_WORKER if the event loop has no time left; or for a
 * conversion webhook KC__REST_PENDING or KC__REST_ON_LOOP. */
kc__rest_verdict kc__admission_params_collect(kc__admission_evaluation *ev,
                                              const kc__resource *resource,
                                              const kc__admission_binding *binding,
                                              kc__admission_params *ret, kc_error *err);

#endif
