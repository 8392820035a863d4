/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asking.c: what asking webhooks in either way has in common: whom a request concerns, and the end.
 */
#include "apiserver/admission/asking.h"

kc__asking *kc__asking_new(kc__call *call, kc__hook_set *set, const kc__attributes *about)
{
    kc__asking *a = kc_arena_calloc(call->arena, 1, sizeof(*a));
    a->call = call;
    a->set = set;
    a->about = *about;
    a->about.object = about->object ? kc_object_ref(about->object) : NULL;
    a->about.old = about->old ? kc_object_ref(about->old) : NULL;
    a->about.space = about->space ? kc_object_ref(about->space) : NULL;
    return a;
}

kc__verdict kc__asking_end(kc__asking *a, kc__verdict verdict)
{
    a->about.object = kc_object_unref(a->about.object);
    a->about.old = kc_object_unref(a->about.old);
    a->about.space = kc_object_unref(a->about.space);
    a->output = kc_object_unref(a->output);
    a->set = kc__hook_set_unref(a->set);
    return verdict;
}

static kc__verdict no_namespace(kc__asking *a)
{
    kc__call *call = a->call;
    kc__fail(call, KC_NOT_FOUND, "namespaces \"%.*s\" not found", KC_ARG(a->about.ns));
    kc_error_about(&call->error, (kc_str){0}, KC_STR("namespaces"), a->about.ns);
    return KC__FAIL;
}

/* As conditions that cannot be evaluated are told of. */
static kc__verdict no_conditions(kc__asking *a, const kc__hook *hook)
{
    kc__call *call = a->call;
    const kc__resource *r = a->about.resource;
    kc__fail(call, KC_FORBIDDEN,
             "%s%s%s \"%.*s\" is forbidden: matchConditions of webhook \"%.*s\" cannot be "
             "evaluated: this server has no CEL",
             r->plural, *r->group ? "." : "", r->group, KC_ARG(a->about.name), KC_ARG(hook->name));
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(r->plural), a->about.name);
    return KC__FAIL;
}

kc__verdict kc__asking_match(kc__asking *a, const kc__hook *hook, const kc__resource **ret_as,
                             bool *ret_concerned)
{
    const kc__hook_match_result match = kc__hook_match(hook, &a->about, ret_as);
    *ret_concerned = match == KC__HOOK_CONCERNED;
    if (match == KC__HOOK_NO_NAMESPACE)
        return no_namespace(a);
    if (match == KC__HOOK_UNCONCERNED || !hook->conditions)
        return KC__NEXT;
    *ret_concerned = false;
    return hook->ignored ? KC__NEXT : no_conditions(a, hook);
}

kc__verdict kc__asking_in_time(kc__asking *a)
{
    kc__call *call = a->call;
    if (kc_clock_now(call->api->clock) < call->x->request.received + call->patience)
        return KC__NEXT;
    return kc__fail(call, KC_TIMEOUT, "Timeout: request did not complete within requested timeout");
}
