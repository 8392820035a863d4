/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get.c: GET of one object. A read of the watch cache is always current: the committer publishes a
 * change to the cache before it acknowledges the write.
 */
#include "apiserver/verbs/get.h"

#include "apiserver/call/call_conversion.h"
#include "apiserver/request/scale.h"
#include "apiserver/verbs/list.h"

/* A resourceVersion only requires that the cache has reached that revision. */
static kc__rest_verdict decode_get(kc__rest_call *call)
{
    kc_scoped(kc_error) err = {0};
    kc_str text = {0};
    uint64_t version = 0, now = kc__watch_cache_revision(call->served->cache);
    kc__query_get(&call->query, KC_STR("resourceVersion"), &text);
    if (kc__rest_parse_revision(text, &version, &err) < 0)
        return kc__rest_fail(call, KC_UNKNOWN, "%s", kc_error_text(&err));
    return version > now ? kc__rest_fail_future_revision(call, version, now) : KC__REST_NEXT;
}

kc__rest_verdict kc__rest_get_current(kc__rest_call *call)
{
    if (!call->current)
        call->current = kc__watch_cache_get(call->served->cache, call->key);
    if (!call->current &&
        kc__watch_cache_check_readable(call->served->cache, call->key, &call->error) < 0)
        return KC__REST_FAIL;
    if (!call->current)
        return kc__rest_fail_not_found(call, call->info.name);
    return call->form.as == KC__REST_AS_PARTIAL
               ? KC__REST_NEXT
               : kc__rest_convert_stored(call, call->resource, call->current);
}

static kc__rest_verdict respond_get(kc__rest_call *call)
{
    const kc__rest_verdict verdict = kc__rest_get_current(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (kc__rest_is_scale(call))
        return kc__rest_scale_respond(call);
    return kc__rest_respond_object(call, 200, call->current);
}

const kc__rest_verb kc__rest_verb_get = {
    .name = "get", .bit = KC__VERB_GET, .decode = decode_get, .respond = respond_get};
