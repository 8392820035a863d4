/* SPDX-License-Identifier: Apache-2.0 */
/* policy_mutate.h: applies mutating admission policies to a request. */
#ifndef KC_APISERVER_ADMISSION_POLICY_MUTATE_H
#define KC_APISERVER_ADMISSION_POLICY_MUTATE_H

#include "apiserver/admission/policies/policy_set.h"
#include "apiserver/call/call.h"

/* Applies the policies that match to call->draft, or to call->subresource_body where the verb
 * replaces the object; when the plugins run again (call->reinvoking), those that must be applied
 * again. KC__REST_NEXT, KC__REST_FAIL (call->error), or the verdict with which the phase starts
 * over. */
kc__rest_verdict kc__admission_policy_set_mutate(const kc__admission_policy_set *set,
                                                 kc__rest_call *call);
/* Frees call->reinvocation. */
void kc__admission_reinvocation_release(kc__rest_call *call);

#endif
