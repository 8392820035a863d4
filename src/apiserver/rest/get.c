/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get.c: one object, as it is stored now. A look into the cache is always the latest state: the
 * committer publishes a change before it tells anybody that it was stored.
 */
#include "apiserver/rest/call.h"

static kc__verdict answer(kc__call *call)
{
    call->current = kc__cache_get(call->served->cache, call->key);
    if (!call->current)
        return kc__fail_not_found(call, call->info.name);
    return kc__answer_object(call, 200, call->current);
}

const kc__verb kc__verb_get = {.name = "get", .bit = KC__GET, .answer = answer};
