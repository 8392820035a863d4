/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.c: the phases that decide whether a request may go on: who it is, whether there is room
 * for it, whether it is allowed.
 *
 * Room: requests under way are counted apart for those that change something and those that only
 * read, so that neither can starve the other. Watches are not counted: they stay for hours.
 */
#include "apiserver/rest/endpoints.h"

/* Health and version are told to everybody, but not to somebody with a wrong token. */
static bool is_open(const kc__call *call)
{
    const kc__request *request = &call->x->request;
    const kc__endpoint *endpoint = kc__endpoint_find(&request->target);
    return endpoint && endpoint->open &&
           kc_str_empty(kc__headers_get(&request->headers, KC_STR("Authorization")));
}

kc__verdict kc__phase_authenticated(kc__call *call)
{
    if (kc__authenticate(call->api->authn, &call->x->request, call->arena, &call->user,
                         &call->error) == 0)
        return KC__NEXT;
    if (!is_open(call))
        return KC__FAIL;
    kc_error_done(&call->error);
    call->user = (kc__user){.name = KC_STR(KC__USER_ANONYMOUS)};
    return KC__NEXT;
}

static bool reads(const char *verb)
{
    return !strcmp(verb, "get") || !strcmp(verb, "list") || !strcmp(verb, "head") ||
           !strcmp(verb, "options");
}

static bool enter(_Atomic size_t *count, size_t most)
{
    if (atomic_fetch_add_explicit(count, 1, memory_order_relaxed) < most)
        return true;
    atomic_fetch_sub_explicit(count, 1, memory_order_relaxed);
    return false;
}

void kc__limits_leave(kc__call *call)
{
    if (call->counted)
        atomic_fetch_sub_explicit(call->counted, 1, memory_order_relaxed);
    call->counted = NULL;
}

kc__verdict kc__phase_limited(kc__call *call)
{
    kc__api *api = call->api;
    if (!strcmp(call->info.verb, "watch"))
        return KC__NEXT;
    bool reading = reads(call->info.verb);
    _Atomic size_t *count = reading ? &api->reading : &api->mutating;
    if (enter(count, reading ? api->max_reading : api->max_mutating)) {
        call->counted = count;
        return KC__NEXT;
    }
    return kc__answer_bytes(
        call, &(kc__answer){.status = 429,
                            .type = KC_STR("text/plain; charset=utf-8"),
                            .headers = &(kc__header){KC_STR("Retry-After"), KC_STR("1")},
                            .n_headers = 1,
                            .body = KC_STR("Too many requests, please try again later.\n")});
}

/* Everybody may do everything who was let in this far: the place for rules about it. */
kc__verdict kc__phase_authorized(kc__call *call)
{
    (void)call;
    return KC__NEXT;
}
