/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_params.c: finds the parameters of a policy. The resource of paramKind is looked up in the
 * catalog of the request, and its objects in the server's watch cache, so a parameter is in effect
 * as soon as it is stored. Parameters of a CRD with a conversion webhook are converted by it, as
 * for a list.
 */
#include "apiserver/admission/policies/policy_params.h"

#include "apiserver/call/call_conversion.h"
#include "apiserver/kinds/resource_ops.h"

void kc__admission_params_done(kc__admission_params *params)
{
    kc_vec_each (&params->objects, object)
        kc_object_unref(*object);
    kc_vec_done(&params->objects);
}

int kc__admission_params_resource(const kc__rest_call *call, const kc__admission_policy *policy,
                                  const kc__resource **ret, kc_error *err)
{
    const kc_gvk *kind = &policy->param_kind;
    *ret = NULL;
    if (!policy->has_param_kind)
        return 0;
    const kc__resource *resource =
        kc__registry_find_kind(call->catalog->kinds, kind->group, kind->version, kind->kind);
    if (resource && resource->storage) {
        *ret = resource;
        return 0;
    }
    kc_scoped(kc_buf) text = {0};
    kc_gvk_write(&text, *kind);
    return kc_error_set(err, KC_INTERNAL, "failed to find resource referenced by paramKind: '%s'",
                        kc_buf_cstr(&text));
}

static kc__watch_cache *cache_of(const kc__rest_call *call, const kc__resource *resource)
{
    size_t n;
    const kc__resource *all = kc__registry_resources(call->catalog->kinds, &n);
    return call->catalog->served[resource - all].cache;
}

typedef KC_VEC(kc_object *) stored_params;

/* A policy must not show the Secrets of people in its messages. */
static bool params_are_reserved(const kc__admission_evaluation *ev, const kc__resource *resource,
                                kc_str ns)
{
    return !*resource->group && !strcmp(resource->plural, "secrets") &&
           kc__rest_is_reserved_namespace(ev->call->api, ns);
}

static void find_named(kc__admission_evaluation *ev, const kc__resource *resource, kc_str ns,
                       kc_str name, stored_params *ret)
{
    kc_scoped(kc_buf) key = {0};
    if (params_are_reserved(ev, resource, ns))
        return;
    if (resource->namespaced)
        kc_buf_printf(&key, "%.*s/", KC_ARG(ns));
    kc_buf_append(&key, name);
    kc_object *stored = kc__watch_cache_get(cache_of(ev->call, resource), kc_buf_str(&key));
    if (stored)
        kc_vec_push(ret, stored);
}

static void find_selected(kc__admission_evaluation *ev, const kc__resource *resource, kc_str ns,
                          const kc_selector *selector, stored_params *ret)
{
    kc_scoped(kc_buf) prefix = {0};
    if (params_are_reserved(ev, resource, ns))
        return;
    if (resource->namespaced)
        kc_buf_printf(&prefix, "%.*s/", KC_ARG(ns));
    kc_auto(kc__cow_snapshot) *all = kc__watch_cache_snapshot(cache_of(ev->call, resource), NULL);
    kc__cow_iter at = kc__cow_iter_start(all, &(kc__cow_range){.prefix = kc_buf_str(&prefix)});
    while (kc__admission_evaluation_charge(ev, 1) && kc__cow_iter_next(&at))
        if (kc_selector_match(selector, at.object))
            kc_vec_push(ret, kc_object_ref(at.object));
}

/* Waits until the conversion webhook of the parameters has converted them. */
static kc__rest_verdict await_params(kc__rest_call *call, const kc__resource *resource,
                                     const stored_params *stored, kc_error *err)
{
    kc__remote_conversion *job = NULL;
    if (!kc__remote_may_be_needed(resource))
        return KC__REST_NEXT;
    if (!kc__rest_conversion_is_pending(call))
        kc_vec_each (stored, object)
            kc__rest_convert_collect(call, resource, *object, &job);
    const kc__rest_verdict verdict = kc__rest_convert_job(call, job);
    if (verdict != KC__REST_FAIL)
        return verdict;
    kc_error_set(err, call->error.reason, "%s", kc_error_text(&call->error));
    kc__rest_conversion_forgive(call);
    return verdict;
}

static kc__rest_verdict read_params(kc__rest_call *call, const kc__resource *resource,
                                    const stored_params *stored, kc__admission_params *ret,
                                    kc_error *err)
{
    const kc__rest_verdict verdict = await_params(call, resource, stored, err);
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc_vec_each (stored, object) {
        kc_object *param = resource->ops->from_stored(resource, *object, err);
        if (!param)
            return KC__REST_FAIL;
        kc_vec_push(&ret->objects, param);
    }
    return KC__REST_NEXT;
}

/* The namespace of the parameters: that of the reference, or of the request. */
static int find_namespace(const kc__admission_evaluation *ev, const kc__resource *resource,
                          const kc__admission_binding *binding, kc_str *ret, kc_error *err)
{
    *ret = binding->param_ns.n ? binding->param_ns : ev->about->ns;
    if (resource->namespaced && kc_str_empty(*ret))
        return kc_error_set(err, KC_INTERNAL,
                            "cannot use namespaced paramRef in policy binding that matches "
                            "cluster-scoped resources");
    if (!resource->namespaced && binding->param_ns.n)
        return kc_error_set(err, KC_INTERNAL,
                            "paramRef.namespace must not be provided for a cluster-scoped "
                            "`paramKind`");
    return 0;
}

kc__rest_verdict kc__admission_params_collect(kc__admission_evaluation *ev,
                                              const kc__resource *resource,
                                              const kc__admission_binding *binding,
                                              kc__admission_params *ret, kc_error *err)
{
    kc_str ns;
    stored_params stored = {0};
    if (!resource || !binding->param_ref) {
        kc_vec_push(&ret->objects, NULL);
        return KC__REST_NEXT;
    }
    if (find_namespace(ev, resource, binding, &ns, err) < 0)
        return KC__REST_FAIL;
    if (binding->param_name.n)
        find_named(ev, resource, ns, binding->param_name, &stored);
    else
        find_selected(ev, resource, ns, binding->param_selector, &stored);
    kc__rest_verdict verdict =
        ev->must_offload ? KC__REST_ON_WORKER : read_params(ev->call, resource, &stored, ret, err);
    kc_vec_each (&stored, object)
        kc_object_unref(*object);
    kc_vec_done(&stored);
    if (verdict == KC__REST_NEXT && !ret->objects.n && binding->denies_without_params) {
        kc_error_set(err, KC_INTERNAL,
                     "no params found for policy binding with `Deny` parameterNotFoundAction");
        verdict = KC__REST_FAIL;
    }
    return verdict;
}
