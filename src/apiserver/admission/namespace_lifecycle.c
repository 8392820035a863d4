/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namespace_lifecycle.c: the rules of Kubernetes' admission plug-in of that name. It looks into the
 * cache of this server, so a namespace is there for its objects as soon as it is for anybody.
 */
#include "apiserver/admission/namespace_lifecycle.h"

#include "apiserver/rest/write.h"

static const char *const immortal[] = {"default", "kube-system", "kube-public"};

static kc__verdict refuse_deletion(kc__call *call)
{
    kc__fail(call, KC_FORBIDDEN,
             "namespaces \"%.*s\" is forbidden: this namespace may not be deleted",
             KC_ARG(call->info.name));
    kc_error_about(&call->error, (kc_str){0}, KC_STR("namespaces"), call->info.name);
    return KC__FAIL;
}

static kc__verdict no_namespace(kc__call *call)
{
    kc__fail(call, KC_NOT_FOUND, "namespaces \"%.*s\" not found", KC_ARG(call->info.ns));
    kc_error_about(&call->error, (kc_str){0}, KC_STR("namespaces"), call->info.ns);
    return KC__FAIL;
}

static kc__verdict being_terminated(kc__call *call)
{
    const kc__resource *r = call->resource;
    kc_str name = kc__proposed_name(call), ns = call->info.ns;
    kc__fail(call, KC_FORBIDDEN,
             "%s%s%s \"%.*s\" is forbidden: unable to create new content in namespace %.*s because "
             "it is being terminated",
             r->plural, *r->group ? "." : "", r->group, KC_ARG(name), KC_ARG(ns));
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(r->plural), name);
    kc_error_add_cause(
        &call->error, "NamespaceTerminating", KC_STR("metadata.namespace"),
        kc_cstr(kc_arena_printf(call->arena, "namespace %.*s is being terminated", KC_ARG(ns))));
    return KC__FAIL;
}

kc__verdict kc__admit_namespace_lifecycle(kc__call *call)
{
    const kc__resource *r = call->resource;
    bool is_namespace = !*r->group && !strcmp(r->plural, "namespaces");
    for (size_t i = 0; is_namespace && call->verb == &kc__verb_delete && i < KC_COUNT(immortal);
         i++)
        if (kc_str_is(call->info.name, immortal[i]))
            return refuse_deletion(call);
    if (call->current || !r->namespaced)
        return KC__NEXT;
    kc_auto(kc_object) *ns = kc__cache_get(call->api->namespaces, call->info.ns);
    if (!ns)
        return no_namespace(call);
    return kc_str_empty(kc_object_deletion_timestamp(ns)) ? KC__NEXT : being_terminated(call);
}
