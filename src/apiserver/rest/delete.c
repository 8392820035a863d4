/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete.c: DELETE of one object. The answer is a Status, with the uid of what went, or the object
 * where it stays for a while or its kind is shown (pods, namespaces, services, …).
 */
#include "apiserver/rest/decode.h"
#include "apiserver/rest/deletion.h"

static kc__verdict decode(kc__call *call)
{
    kc_auto(kc_object) *body = NULL;
    kc__verdict verdict = kc__decode_options_body(call, &body);
    if (verdict != KC__NEXT)
        return verdict;
    call->skip_validation = true;
    return kc__options_read_delete(&call->query, body, call->arena, &call->options, &call->error) <
                   0
               ? KC__FAIL
               : KC__NEXT;
}

static kc__verdict propose(kc__call *call)
{
    if (!call->current)
        call->current = kc__cache_get(call->served->cache, call->key);
    if (!call->current)
        return kc__fail_not_found(call, call->info.name);
    kc__deletion plan;
    if (kc__deletion_check(call, call->current) != KC__NEXT ||
        kc__deletion_plan(call, call->current, &plan) < 0)
        return KC__FAIL;
    kc_object_unref(call->proposed);
    call->proposed = plan.object;
    call->removes = plan.removes;
    call->again = plan.again;
    return KC__NEXT;
}

static kc__verdict answer(kc__call *call)
{
    if (call->again) {
        kc__deletion_go_on(call);
        return KC__PROPOSE;
    }
    bool waits = call->options.orphan_dependents == KC__NO && !call->removes;
    if (!call->removes || call->resource->strategy->shows_deleted)
        return kc__answer_object(call, waits ? 202 : 200, call->current);
    return kc__answer_deleted(call, 200, call->current);
}

const kc__verb kc__verb_delete = {
    .name = "delete",
    .bit = KC__DELETE,
    .mutates = true,
    .decode = decode,
    .propose = propose,
    .answer = answer,
};
