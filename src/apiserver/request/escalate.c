/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escalate.c: rejects a write of a role or binding that grants more than its writer has
 * (authz/escalation.h). The first step of the phase `prepared`, after mutating admission and before
 * validation. A comparison that takes long runs on a worker thread.
 */
#include "apiserver/authz/escalation.h"
#include "apiserver/request/write.h"

static bool is_grant(const kc__rest_call *call)
{
    return !strcmp(call->resource->group, "rbac.authorization.k8s.io") && !call->subresource &&
           !kc__draft_is_empty(&call->draft);
}

kc__rest_verdict kc__rest_check_escalation(kc__rest_call *call)
{
    if (!is_grant(call) || kc__authz_is_master(&call->user) || !kc__authz_rbac(call->api->authz))
        return KC__REST_NEXT;
    if (kc__authz_has_webhook(call->api->authz) && !call->on_worker)
        return KC__REST_ON_WORKER; /* It waits for the webhook. */
    const kc_object *object = kc__draft_freeze(&call->draft, call->resource, &call->error);
    if (!object)
        return KC__REST_FAIL;
    bool unfinished = false;
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_auto(kc_view) *old = call->current ? kc_view_of(call->current) : NULL;
    const kc__escalation e = {.user = &call->user,
                              .loop = call->x->loop,
                              .resource = kc_cstr(call->resource->plural),
                              .ns = call->info.ns,
                              .name = call->info.name,
                              .object = kc_view_root(view),
                              .old = old ? kc_view_root(old) : NULL};
    if (kc__escalation_check(call->api->authz, &e, call->heavy ? NULL : &unfinished, &call->error) <
        0)
        return KC__REST_FAIL;
    call->heavy |= unfinished;
    return unfinished ? KC__REST_ON_WORKER : KC__REST_NEXT;
}
