/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namespace_lifecycle.c: the rules of Kubernetes' admission plugin NamespaceLifecycle. It reads the
 * cache of the server, so objects can be created in a namespace as soon as clients see it.
 */
#include "apiserver/admission/plugins/namespace_lifecycle.h"

static const char *const protected_namespaces[] = {"default", "kube-system", "kube-public",
                                                   KC__REST_CREDENTIALS_NAMESPACE};

static kc__rest_verdict refuse_deletion(kc__rest_call *call)
{
    kc__rest_fail(call, KC_FORBIDDEN,
                  "namespaces \"%.*s\" is forbidden: this namespace may not be deleted",
                  KC_ARG(call->info.name));
    kc_error_about(&call->error, (kc_str){0}, KC_STR("namespaces"), call->info.name);
    return KC__REST_FAIL;
}

static kc__rest_verdict refuse_missing_namespace(kc__rest_call *call)
{
    kc__rest_fail(call, KC_NOT_FOUND, "namespaces \"%.*s\" not found", KC_ARG(call->info.ns));
    kc_error_about(&call->error, (kc_str){0}, KC_STR("namespaces"), call->info.ns);
    return KC__REST_FAIL;
}

/* `plural` and `name` are those of the object that is created. */
static kc__rest_verdict refuse_terminating_namespace(kc__rest_call *call, const char *group,
                                                     kc_str plural, kc_str name)
{
    const kc_str ns = call->info.ns;
    kc__rest_fail(
        call, KC_FORBIDDEN,
        "%.*s%s%s \"%.*s\" is forbidden: unable to create new content in namespace %.*s because "
        "it is being terminated",
        KC_ARG(plural), *group ? "." : "", group, KC_ARG(name), KC_ARG(ns));
    kc_error_about(&call->error, kc_cstr(group), plural, name);
    kc_error_add_cause(
        &call->error, "NamespaceTerminating", KC_STR("metadata.namespace"),
        kc_cstr(kc_arena_printf(call->arena, "namespace %.*s is being terminated", KC_ARG(ns))));
    return KC__REST_FAIL;
}

/* An access review must not reveal whether a namespace exists. */
static bool is_access_review(const kc__resource *r)
{
    return !strcmp(r->group, "authorization.k8s.io") &&
           !strcmp(r->plural, "localsubjectaccessreviews");
}

kc__rest_verdict kc__admission_namespace_lifecycle(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    bool is_namespace = !*r->group && !strcmp(r->plural, "namespaces");
    for (size_t i = 0;
         is_namespace && call->verb->bit == KC__VERB_DELETE && i < KC_COUNT(protected_namespaces);
         i++)
        if (kc_str_is(call->info.name, protected_namespaces[i]))
            return refuse_deletion(call);
    if (call->current || !r->namespaced || is_access_review(r))
        return KC__REST_NEXT;
    kc_auto(kc_object) *ns = kc__watch_cache_get(call->api->namespaces, call->info.ns);
    if (!ns)
        return refuse_missing_namespace(call);
    if (kc_str_empty(kc_object_deletion_timestamp(ns)))
        return KC__REST_NEXT;
    return refuse_terminating_namespace(call, r->group, kc_cstr(r->plural),
                                        kc__rest_proposed_name(call));
}

/* A Binding or an Eviction is created, too. A TokenRequest checks its namespace itself
 * (subresources/token_request.c). */
kc__rest_verdict kc__admission_namespace_lifecycle_body(kc__rest_call *call)
{
    static const char *const created[] = {"binding", "eviction", NULL};
    if (!call->subresource || !kc_str_is_any(kc_cstr(call->subresource->name), created))
        return KC__REST_NEXT;
    kc_auto(kc_object) *ns = kc__watch_cache_get(call->api->namespaces, call->info.ns);
    if (!ns)
        return call->provision ? KC__REST_NEXT : refuse_missing_namespace(call);
    if (kc_str_empty(kc_object_deletion_timestamp(ns)))
        return KC__REST_NEXT;
    return refuse_terminating_namespace(call, "", call->info.resource,
                                        call->info.named ? call->info.name
                                                         : kc_object_name(call->subresource_body));
}
