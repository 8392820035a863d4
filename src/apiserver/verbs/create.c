/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create.c: POST of a new object. The server sets uid, creation time, generation and, with
 * generateName, the name (prepare.c). If a generated name is taken, another one is generated
 * (commit.c).
 */
#include "apiserver/request/decode.h"
#include "apiserver/request/write.h"

kc__rest_verdict kc__rest_propose_create(kc__rest_call *call)
{
    kc__rest_metadata m = {.ns = kc_object_namespace(call->body)};
    kc__rest_verdict verdict = kc__rest_check_namespace(call, &m);
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc__draft_set_parsed(&call->draft, call->body, kc_take(call->body_view));
    return KC__REST_NEXT;
}

static kc__rest_verdict answer_created(kc__rest_call *call)
{
    return kc__rest_respond_object(call, 201, call->current);
}

const kc__rest_verb kc__rest_verb_create = {
    .name = "create",
    .bit = KC__VERB_CREATE,
    .mutates = true,
    .decode = kc__rest_decode_create,
    .propose = kc__rest_propose_create,
    .prepare = kc__rest_prepare_create,
    .respond = answer_created,
};
