/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete.c: DELETE of one object. The response is a Status with the uid of the deleted object, or
 * the object itself if it is not removed yet or if its kind returns the object (pods, namespaces,
 * services, …).
 */
#include "apiserver/request/decode.h"
#include "apiserver/verbs/deletion.h"
#include "apiserver/verbs/get.h"

static kc__rest_verdict decode_delete(kc__rest_call *call)
{
    kc_auto(kc_object) *body = NULL;
    kc__rest_verdict verdict = kc__rest_decode_options_body(call, &body);
    if (verdict != KC__REST_NEXT)
        return verdict;
    call->skip_validation = true;
    return kc__rest_options_read_delete(&call->query, body, call->arena, &call->options,
                                        &call->error) < 0
               ? KC__REST_FAIL
               : KC__REST_NEXT;
}

/* As in Kubernetes, an object that a webhook cannot convert is not deleted through this version. */
static kc__rest_verdict propose_delete(kc__rest_call *call)
{
    const kc__rest_verdict verdict = kc__rest_get_current(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc__rest_deletion plan;
    if (kc__rest_deletion_check(call, call->current) != KC__REST_NEXT ||
        kc__rest_deletion_plan(call, call->current, &plan) < 0)
        return KC__REST_FAIL;
    kc_object_unref(call->proposed);
    call->proposed = plan.object;
    call->removes = plan.removes;
    call->more_writes = plan.more_writes;
    return KC__REST_NEXT;
}

static kc__rest_verdict respond_delete(kc__rest_call *call)
{
    if (call->more_writes) {
        kc__rest_deletion_resume(call);
        return KC__REST_PROPOSE;
    }
    bool waits = call->options.orphan_dependents == KC__REST_NO && !call->removes;
    if (!call->removes || call->resource->strategy->shows_deleted)
        return kc__rest_respond_object(call, waits ? 202 : 200, call->current);
    return kc__rest_respond_deleted(call, 200, call->current);
}

const kc__rest_verb kc__rest_verb_delete = {
    .name = "delete",
    .bit = KC__VERB_DELETE,
    .mutates = true,
    .decode = decode_delete,
    .propose = propose_delete,
    .respond = respond_delete,
};
