/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_phases.h: the plugins MutatingAdmissionPolicy and ValidatingAdmissionPolicy, and the
 * places outside the plugin chain where policies apply.
 */
#ifndef KC_APISERVER_ADMISSION_POLICY_PHASES_H
#define KC_APISERVER_ADMISSION_POLICY_PHASES_H

#include "apiserver/admission/chain/matching.h"
#include "apiserver/call/call.h"

/* The two plugins. KC__REST_NEXT, KC__REST_FAIL, KC__REST_ON_WORKER, or for a conversion webhook
 * KC__REST_PENDING or KC__REST_ON_LOOP. */
kc__rest_phase_fn kc__admission_policies_mutate, kc__admission_policies_validate;
/* Mutating policies for the body of a verb that replaces the object, a Binding or an Eviction:
 * once, and again after a policy or a webhook has changed it. The same verdicts. */
kc__rest_phase_fn kc__admission_policies_mutate_body, kc__admission_policies_mutate_body_again;
/* The request has ended. */
void kc__admission_policies_release(kc__rest_call *call);

/* Validating policies for a request whose attributes are known: a Binding, an Eviction, an object
 * of a deletecollection. */
kc__rest_verdict kc__admission_policies_validate_attributes(kc__rest_call *call,
                                                            const kc__admission_attributes *about);

/* Whether any policy is in effect that this request might match. */
bool kc__admission_policies_exist(kc__rest_call *call);

#endif
