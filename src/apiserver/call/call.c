/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c: what admission, verbs and phases share about a call: the key and name of its object, the
 * namespace it must have, its warnings.
 */
#include "apiserver/call/call.h"

kc_str kc__rest_key_of(kc__rest_call *call, kc_str name)
{
    const kc_str ns = call->info.ns;
    if (!call->resource->namespaced)
        return kc_arena_str(call->arena, name);
    char *key = kc_arena_alloc(call->arena, ns.n + name.n + 2);
    memcpy(key, ns.p, ns.n);
    key[ns.n] = '/';
    if (name.n)
        memcpy(key + ns.n + 1, name.p, name.n);
    key[ns.n + 1 + name.n] = '\0';
    return kc_str_of(key, ns.n + 1 + name.n);
}

kc__rest_verdict kc__rest_check_namespace(kc__rest_call *call, kc__rest_metadata *metadata)
{
    kc_str own = call->resource->namespaced ? call->info.ns : (kc_str){0};
    if (kc_str_empty(metadata->ns) || !call->resource->namespaced)
        metadata->ns = own;
    if (!kc_str_eq(metadata->ns, own))
        return kc__rest_fail(
            call, KC_BAD_REQUEST,
            "the namespace of the provided object does not match the namespace sent on "
            "the request");
    return KC__REST_NEXT;
}

kc_str kc__rest_proposed_name(kc__rest_call *call)
{
    kc__draft proposed = {.object = call->proposed};
    bool frozen = kc__draft_is_empty(&call->draft);
    return kc__draft_name(frozen ? &proposed : &call->draft, call->arena);
}

bool kc__rest_is_scale(const kc__rest_call *call)
{
    return call->subresource && !strcmp(call->subresource->name, "scale");
}

kc_str kc__rest_call_now(kc__rest_call *call, char out[KC_TIME_TEXT])
{
    return kc_time_print(kc_clock_wall(call->api->clock), out);
}

void kc__rest_warn(kc__rest_call *call, kc_str text)
{
    for (size_t i = 0; i < call->warnings.n; i++)
        if (kc_str_eq(call->warnings.items[i], text))
            return;
    kc_vec_push(&call->warnings, kc_arena_str(call->arena, text));
}

void kc__rest_audit(kc__rest_call *call, kc_str key, kc_str value)
{
    const kc__rest_audit_log *log = call->api->audit;
    if (log)
        log->annotate(call, key, value, log->user);
}

bool kc__rest_is_reserved_namespace(const kc__rest_api *api, kc_str ns)
{
    return api->people && kc_str_is(ns, KC__REST_CREDENTIALS_NAMESPACE);
}

void kc__rest_audit_request(kc__rest_call *call, kc_str key, kc_str value)
{
    const kc__rest_audit_log *log = call->api->audit;
    if (log && log->annotate_request)
        log->annotate_request(call, key, value, log->user);
}
