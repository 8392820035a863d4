/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update.c: PUT: replaces the stored object. The body must have the name and namespace of the path;
 * prepare.c restores fields that it may not change. For some kinds, a PUT of an object that does
 * not exist creates it (strategy.h: upserts).
 */
#include "apiserver/request/decode.h"
#include "apiserver/request/scale.h"
#include "apiserver/request/write.h"

static kc__rest_verdict decode_update(kc__rest_call *call)
{
    if (kc__rest_options_read_write(&call->query, "UpdateOptions", &call->options, &call->error) <
        0)
        return KC__REST_FAIL;
    return kc__rest_is_scale(call) ? kc__rest_scale_decode(call) : kc__rest_decode_body(call);
}

/* ---- identity of the object ---- */

static kc__rest_verdict check_body_name(kc__rest_call *call, kc_str given)
{
    kc_str name = call->info.name;
    if (kc_str_empty(given))
        return kc__rest_fail(
            call, KC_BAD_REQUEST,
            "the name of the object (%.*s based on URL) was undeterminable: name must be "
            "provided",
            KC_ARG(name));
    if (!kc_str_eq(given, name))
        return kc__rest_fail(
            call, KC_BAD_REQUEST,
            "the name of the object (%.*s) does not match the name on the URL (%.*s)",
            KC_ARG(given), KC_ARG(name));
    return KC__REST_NEXT;
}

kc__rest_verdict kc__rest_check_identity(kc__rest_call *call)
{
    kc__rest_metadata m = {.ns = kc_object_namespace(call->body)};
    kc__rest_verdict verdict = kc__rest_check_namespace(call, &m);
    return verdict == KC__REST_NEXT ? check_body_name(call, kc_object_name(call->body)) : verdict;
}

/* A uid in the body is a precondition: it must be that of the stored object, `stored`. */
static kc__rest_verdict check_body_uid(kc__rest_call *call, kc_str stored)
{
    kc_str uid = kc_object_uid(call->body);
    if (kc_str_empty(uid) || kc_str_eq(uid, stored))
        return KC__REST_NEXT;
    return kc__rest_fail_precondition(call, call->info.name, "UID", uid, stored);
}

static kc__rest_verdict propose_update(kc__rest_call *call)
{
    kc__rest_scale_resume(call);
    kc__rest_verdict verdict = kc__rest_check_identity(call);
    if (verdict == KC__REST_NEXT)
        verdict = kc__rest_await_current(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (!kc__rest_load_current(call) && call->error.reason)
        return KC__REST_FAIL;
    if (!call->current && (!call->resource->strategy->upserts || call->subresource))
        return kc__rest_fail_not_found(call, call->info.name);
    verdict = check_body_uid(call, call->current ? kc_object_uid(call->current) : KC_STR(""));
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (!call->current)
        return kc__rest_propose_create(call);
    kc__draft_set_parsed(&call->draft, call->body, kc_take(call->body_view));
    return KC__REST_NEXT;
}

static kc__rest_verdict prepare_put(kc__rest_call *call)
{
    call->status = call->current ? 200 : 201;
    return call->current ? kc__rest_prepare_update(call) : kc__rest_prepare_create(call);
}

static kc__rest_verdict answer_update(kc__rest_call *call)
{
    if (kc__rest_is_scale(call))
        return kc__rest_scale_respond(call);
    return kc__rest_respond_object(call, call->status, call->current);
}

const kc__rest_verb kc__rest_verb_update = {
    .name = "update",
    .bit = KC__VERB_UPDATE,
    .mutates = true,
    .decode = decode_update,
    .propose = propose_update,
    .prepare = prepare_put,
    .respond = answer_update,
};
