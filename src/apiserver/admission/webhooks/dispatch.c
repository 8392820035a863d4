/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.c: the common part of dispatching mutating and validating webhooks: the state, and which
 * webhooks match.
 */
#include "apiserver/admission/webhooks/dispatch.h"

#include "apiserver/admission/chain/object_versions.h"
#include "apiserver/admission/webhooks/webhook_conditions.h"

#include <assert.h>

static const kc_object *ref_or_null(const kc_object *object)
{
    return object ? kc_object_ref(object) : NULL;
}

kc__admission_dispatch *kc__admission_dispatch_new(kc__rest_call *call,
                                                   kc__admission_webhook_set *set,
                                                   const kc__admission_attributes *about)
{
    kc__admission_dispatch *d = kc_arena_calloc(call->arena, 1, sizeof(*d));
    d->call = call;
    d->set = set;
    d->about = *about;
    d->about.object = ref_or_null(about->object);
    d->about.old = ref_or_null(about->old);
    d->about.space = ref_or_null(about->space);
    return d;
}

void kc__admission_dispatch_validate_next(kc__admission_dispatch *d)
{
    d->validates = true;
    d->started = d->collected = false;
}

kc__rest_verdict kc__admission_dispatch_run(kc__admission_dispatch *d)
{
    return d->validates ? kc__admission_dispatch_validate(d) : kc__admission_dispatch_mutate(d);
}

void kc__admission_dispatch_end(kc__rest_call *call)
{
    kc__admission_dispatch *d = call->dispatch;
    if (!d)
        return;
    assert(!d->current.pending && d->n_reported == d->n_calls);
    kc_object_unref(d->about.object);
    kc_object_unref(d->about.old);
    kc_object_unref(d->about.space);
    kc_object_unref(d->last_seen);
    kc__admission_versions_release(call);
    kc__draft_clear(&d->own_target);
    kc__admission_webhook_set_unref(d->set);
    call->dispatch = NULL;
}

/* ---- matching ---- */

static kc__rest_verdict refuse_without_namespace(kc__admission_dispatch *d)
{
    kc__rest_call *call = d->call;
    kc__rest_fail(call, KC_NOT_FOUND, "namespaces \"%.*s\" not found", KC_ARG(d->about.ns));
    kc_error_about(&call->error, (kc_str){0}, KC_STR("namespaces"), d->about.ns);
    return KC__REST_FAIL;
}

kc__rest_verdict kc__admission_dispatch_match(kc__admission_dispatch *d,
                                              const kc__admission_webhook *hook,
                                              const kc__resource **ret_as, bool *ret_matches)
{
    const kc__admission_match_result match =
        kc__admission_match(&hook->criteria, &d->about, ret_as);
    *ret_matches = match == KC__ADMISSION_MATCH;
    if (match == KC__ADMISSION_MATCH_NO_NAMESPACE)
        return refuse_without_namespace(d);
    if (match == KC__ADMISSION_NO_MATCH || !hook->conditions)
        return KC__REST_NEXT;
    return kc__admission_webhook_conditions_match(hook, d->call, &d->about, *ret_as,
                                                  &d->loop_budget, ret_matches);
}

kc__rest_verdict kc__admission_dispatch_check_deadline(kc__admission_dispatch *d)
{
    kc__rest_call *call = d->call;
    if (kc_clock_now(call->api->clock) < call->x->request.received + call->request_timeout)
        return KC__REST_NEXT;
    return kc__rest_fail(call, KC_TIMEOUT,
                         "Timeout: request did not complete within requested timeout");
}
