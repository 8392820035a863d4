/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_quota.c: rejects the creation of an Event when the limit of Events is reached, with the
 * status of Kubernetes' plugin EventRateLimit. This is rare: the oldest Events are deleted before
 * that (background/event_expiry.c), so only a client that creates Events faster is rejected.
 */
#include "apiserver/admission/plugins/event_quota.h"

#include "apiserver/background/event_expiry.h"

static bool creates_event(const kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    return !call->current && !strcmp(r->plural, "events") &&
           (!*r->group || !strcmp(r->group, "events.k8s.io"));
}

kc__rest_verdict kc__admission_event_quota(kc__rest_call *call)
{
    if (!creates_event(call) || !call->api->event_expiry ||
        kc__event_expiry_admits(call->api->event_expiry, call->info.ns))
        return KC__REST_NEXT;
    kc__rest_fail(
        call, KC_TOO_MANY_REQUESTS,
        "Too many requests: the limit of events is reached in namespace %.*s or in total; the "
        "oldest events are being deleted",
        KC_ARG(call->info.ns));
    call->error.retry_after_seconds = 1;
    return KC__REST_FAIL;
}
