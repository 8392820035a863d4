/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get.c: one object, as it is stored now. A look into the cache is always the latest state: the
 * committer publishes a change before it tells anybody that it was stored.
 */
#include "apiserver/rest/list.h"
#include "apiserver/rest/scale.h"

/* A version asks for nothing but that the state has reached it. */
static kc__verdict decode(kc__call *call)
{
    kc_scoped(kc_error) err = {0};
    kc_str text = {0};
    uint64_t version = 0, now = kc__store_revision(call->api->store);
    kc__query_get(&call->query, KC_STR("resourceVersion"), &text);
    if (kc__parse_version(text, &version, &err) < 0)
        return kc__fail(call, KC_UNKNOWN, "%s", kc_error_text(&err));
    return version > now ? kc__fail_too_large(call, version, now) : KC__NEXT;
}

static kc__verdict answer(kc__call *call)
{
    call->current = kc__cache_get(call->served->cache, call->key);
    if (!call->current)
        return kc__fail_not_found(call, call->info.name);
    if (kc__is_scale(call))
        return kc__scale_answer(call);
    return kc__answer_object(call, 200, call->current);
}

const kc__verb kc__verb_get = {.name = "get", .bit = KC__GET, .decode = decode, .answer = answer};
