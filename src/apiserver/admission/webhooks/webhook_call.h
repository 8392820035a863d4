/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_call.h: calls one webhook about one request.
 *
 *     kc__admission_webhook_call c = {.call = call, .hook = hook, .about = about, .as = as};
 *     kc__admission_webhook_call_start(&c);
 *     …
 *     if (c.pending)
 *         return KC__REST_PENDING;      the end of the call runs the phase again (ON_LOOP)
 *     kc__admission_webhook_call_report(&c);                   c.result
 *     kc__admission_webhook_call_done(&c);
 *
 * A call that needs no request (a dry run that the webhook does not support, an endpoint that does
 * not exist) has ended when kc__admission_webhook_call_start returns; the caller handles it in the
 * same way. The struct must not move while it is pending.
 */
#ifndef KC_APISERVER_HOOK_CALL_H
#define KC_APISERVER_HOOK_CALL_H

#include "apiserver/admission/chain/admission_review.h"
#include "apiserver/admission/webhooks/webhook_registry.h"
#include "apiserver/call/call.h"
#include "apiserver/kinds/remote_conversion.h"

typedef struct kc__admission_webhook_call {
    /* Set by the caller. */
    kc__rest_call *call;
    const kc__admission_webhook *hook;
    const kc__admission_attributes *about;
    const kc__resource *as; /* The version in which the webhook sees the resource. */

    /* Set by kc__admission_webhook_call_start and the response; released by
     * kc__admission_webhook_call_done. */
    bool pending;            /* The response has not arrived. */
    kc_object *object, *old; /* In the version that the webhook sees. */
    kc__admission_result result;
    kc__admission_response response; /* Of KC__ADMISSION_ALLOWED and _DENIED. */
    kc_error error;                  /* Of KC__ADMISSION_CALL_FAILED and _REJECTED. */
    int code;                        /* HTTP status for metrics. */

    char uid[KC_UID_TEXT]; /* Private, as the rest. */
    int64_t started;
    char *url;
} kc__admission_webhook_call;

/* On the request's loop. */
void kc__admission_webhook_call_start(kc__admission_webhook_call *call);
/* Counts the call in the metrics, forwards the webhook's warnings, logs a failure. Once. */
void kc__admission_webhook_call_report(const kc__admission_webhook_call *call);
void kc__admission_webhook_call_done(kc__admission_webhook_call *call);

/* Fails the request because of this call: sets its error. */
kc__rest_verdict kc__admission_webhook_call_fail(kc__admission_webhook_call *call);

#endif
