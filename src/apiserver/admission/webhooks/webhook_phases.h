/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_phases.h: the two plugins that call admission webhooks, and the two places outside the
 * plugin chain that call them. Each function is called again, with the same arguments, while it
 * returns KC__REST_PENDING (dispatch.h). Without a matching webhook they do nothing.
 */
#ifndef KC_APISERVER_WEBHOOKS_H
#define KC_APISERVER_WEBHOOKS_H

#include "apiserver/call/call.h"

/* The plugins MutatingAdmissionWebhook and ValidatingAdmissionWebhook. */
kc__rest_phase_fn kc__admission_webhooks_mutate, kc__admission_webhooks_validate;

/* Phase `proposed` of a Binding or an Eviction: webhooks see call->subresource_body, once.
 * KC__REST_PROPOSE when they allow it. */
kc__rest_phase_fn kc__admission_webhooks_admit_sent;

/* One object of a deletecollection; `current` is stored. KC__REST_NEXT, KC__REST_FAIL (call->error)
 * or KC__REST_PENDING. */
kc__rest_verdict kc__admission_webhooks_admit_deletion(kc__rest_call *call,
                                                       const kc_object *current);

/* Whether any webhook is configured that this request might match. */
bool kc__admission_webhooks_exist(kc__rest_call *call);

#endif
