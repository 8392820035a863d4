/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.h: calls all webhooks that match a request: mutating ones in order, validating ones in
 * parallel.
 *
 *     call->dispatch = kc__admission_dispatch_new(call, set, &attributes);
 *     …
 *     kc__rest_verdict verdict = kc__admission_dispatch_run(call->dispatch);
 *     if (verdict == KC__REST_PENDING)
 *         return verdict;                 a webhook has not responded: the phase runs again later,
 *     kc__admission_dispatch_end(call);             and calls kc__admission_dispatch_run again
 *
 * There is one way to wait: kc__admission_dispatch_run is called again until it returns
 * KC__REST_NEXT or KC__REST_FAIL (call->error). No function here has a callback; the end of a
 * webhook call runs the phase of the request again (webhook_call.h), with the state in
 * call->dispatch. Webhooks are called on the request's loop. Match conditions that are expensive
 * are evaluated on a worker: KC__REST_ON_WORKER, and KC__REST_ON_LOOP afterwards.
 */
#ifndef KC_APISERVER_DISPATCH_H
#define KC_APISERVER_DISPATCH_H

#include "apiserver/admission/webhooks/webhook_call.h"

typedef struct kc__admission_dispatch {
    kc__rest_call *call;
    kc__admission_attributes about; /* References its objects. */
    kc__admission_webhook_set *set;
    bool validates; /* Calls the validating webhooks; otherwise the mutating ones. */
    bool started;
    uint64_t loop_budget; /* For match conditions (webhook_conditions.h). */

    /* ---- mutating ---- */
    /* The object that webhooks may change; NULL: they cannot change anything. */
    kc__draft *target;
    kc__draft own_target; /* For an object that is not the request's draft. */
    /* The type of `target`: the resource, or the kind of a subresource. */
    const kc__resource *target_type;
    kc__admission_webhook_call current; /* The webhook call in progress; hook NULL: none. */
    /* The conversion, by a conversion webhook, of the object that it has patched back to the
     * version of the request; NULL: none. */
    kc__remote_conversion *back;
    size_t at;    /* Index of that webhook, or of the next one. */
    bool decided; /* Whether that webhook matches is known: */
    bool matches;
    const kc__resource *matches_as;
    bool second;                /* The second round is running. */
    bool changed;               /* The last webhook changed the object. */
    bool *called, *reinvoke;    /* For each webhook: called since the last change; due again. */
    const kc_object *last_seen; /* The object after the last webhook that changed it. */

    /* ---- validating ---- */
    bool collected; /* `calls` is complete. */
    kc__admission_webhook_call *calls;
    size_t n_calls, n_reported;
} kc__admission_dispatch;

/* A dispatch of mutating webhooks, in the call's arena. Takes over a reference to the set. `about`
 * is copied, with references to its objects. */
kc__admission_dispatch *kc__admission_dispatch_new(kc__rest_call *call,
                                                   kc__admission_webhook_set *set,
                                                   const kc__admission_attributes *about);
/* Continues with the validating webhooks of the same set, after the mutating ones. */
void kc__admission_dispatch_validate_next(kc__admission_dispatch *dispatch);
/* KC__REST_NEXT, KC__REST_FAIL (call->error), KC__REST_PENDING, KC__REST_ON_WORKER or
 * KC__REST_ON_LOOP. */
kc__rest_verdict kc__admission_dispatch_run(kc__admission_dispatch *dispatch);
/* Frees call->dispatch, which must have no pending webhook call. NULL is allowed. */
void kc__admission_dispatch_end(kc__rest_call *call);

/* ---- for dispatch_mutating.c and dispatch_validating.c ---- */

kc__rest_verdict kc__admission_dispatch_mutate(kc__admission_dispatch *dispatch);
kc__rest_verdict kc__admission_dispatch_validate(kc__admission_dispatch *dispatch);
/* Whether a webhook must be called, and in which version of the resource; KC__REST_FAIL
 * (call->error) if that cannot be decided, KC__REST_ON_WORKER if that is expensive. */
kc__rest_verdict kc__admission_dispatch_match(kc__admission_dispatch *dispatch,
                                              const kc__admission_webhook *hook,
                                              const kc__resource **ret_as, bool *ret_matches);
/* KC__REST_FAIL when the request's deadline has passed. */
kc__rest_verdict kc__admission_dispatch_check_deadline(kc__admission_dispatch *dispatch);

#endif
