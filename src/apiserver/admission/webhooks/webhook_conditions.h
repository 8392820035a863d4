/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_conditions.h: the match conditions of a webhook. */
#ifndef KC_APISERVER_WEBHOOK_CONDITIONS_H
#define KC_APISERVER_WEBHOOK_CONDITIONS_H

#include "apiserver/admission/policies/policy_activation.h"
#include "apiserver/admission/webhooks/webhook_config.h"

/* NULL without conditions. The list must outlive the result. */
kc__admission_webhook_conditions *kc__admission_webhook_conditions_new(const kc_value *list);
/* NULL is allowed; returns NULL. */
kc__admission_webhook_conditions *kc__admission_webhook_conditions_free(
    kc__admission_webhook_conditions *conditions);

/*
 * Whether the conditions of a webhook let a request match, with the objects in the version `as`:
 * KC__REST_NEXT with *ret_matches; KC__REST_FAIL (call->error) if they cannot be evaluated and the
 * webhook must not be ignored; KC__REST_ON_WORKER; KC__REST_PENDING or KC__REST_ON_LOOP for a
 * conversion webhook. `loop_budget` is what the event loop may still spend; 0 at first.
 */
kc__rest_verdict kc__admission_webhook_conditions_match(const kc__admission_webhook *hook,
                                                        kc__rest_call *call,
                                                        const kc__admission_attributes *about,
                                                        const kc__resource *as,
                                                        uint64_t *loop_budget, bool *ret_matches);

#endif
