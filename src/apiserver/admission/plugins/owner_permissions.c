/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner_permissions.c: implements the admission plugin OwnerReferencesPermissionEnforcement. An
 * owner reference can cause the deletion of its object: a user that changes the references of a
 * stored object must be allowed to delete it. A reference with blockOwnerDeletion can hold off the
 * deletion of the owner: a user that adds one must be allowed to update the owner's finalizers.
 */
#include "apiserver/admission/plugins/owner_permissions.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/authz/request_state.h"
#include "kc/diff.h"
#include "kc/kind.h"

static bool is_blocking(const kc_value *reference)
{
    return kc_value_as_bool(kc_value_get(reference, "blockOwnerDeletion"), false);
}

/* Whether the stored object has a blocking reference to the same owner. */
static bool was_blocking(const kc_value *old, const kc_value *reference)
{
    const kc_str uid = kc_value_as_str(kc_value_get(reference, "uid"));
    bool blocking = false;
    kc_value_each_item (old, before)
        if (kc_str_eq(kc_value_as_str(kc_value_get(before, "uid")), uid))
            blocking = is_blocking(before);
    return blocking;
}

static kc__authz_attributes attributes_of_call(const kc__rest_call *call, const char *verb)
{
    return (kc__authz_attributes){.user = &call->user, .verb = kc_cstr(verb), .is_resource = true};
}

/* ---- deleting the object ---- */

static kc__rest_verdict check_may_delete(kc__rest_call *call)
{
    kc_scoped(kc_buf) reason = {0};
    kc__authz_attributes a = attributes_of_call(call, "delete");
    a.group = kc_cstr(call->resource->group);
    a.version = kc_cstr(call->resource->version);
    a.resource = kc_cstr(call->resource->plural);
    a.subresource = kc_cstr(call->subresource ? call->subresource->name : "");
    a.ns = call->info.ns;
    a.name = call->info.name;
    if (kc__authz_wait(call->api->authz, call->x->loop, &a, &reason) == KC__AUTHZ_ALLOW)
        return KC__REST_NEXT;
    return kc__admission_forbid(call,
                                "cannot set an ownerRef on a resource you can't delete: %s, <nil>",
                                kc_buf_cstr(&reason));
}

/* ---- blocking the owner ---- */

static bool may_finalize_anything(const kc__rest_call *call)
{
    kc__authz_attributes a = attributes_of_call(call, "update");
    a.group = a.version = a.resource = a.name = KC_STR("*");
    a.subresource = KC_STR("finalizers");
    return kc__authz_wait(call->api->authz, call->x->loop, &a, NULL) == KC__AUTHZ_ALLOW;
}

static kc__rest_verdict check_may_block(kc__rest_call *call, const kc_value *reference)
{
    const kc_str version = kc_value_as_str(kc_value_get(reference, "apiVersion")),
                 kind = kc_value_as_str(kc_value_get(reference, "kind"));
    const kc_gvk gvk = kc_gvk_of(version, kind);
    const kc__resource *owner =
        kc__registry_find_kind(call->catalog->kinds, gvk.group, gvk.version, kind);
    kc_scoped(kc_buf) reason = {0};
    if (!owner)
        return kc__admission_forbid(
            call,
            "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for "
            "APIVersion %.*s Kind %.*s: no matches for kind \"%.*s\" in version \"%.*s\"",
            KC_ARG(version), KC_ARG(kind), KC_ARG(kind), KC_ARG(version));
    kc__authz_attributes a = attributes_of_call(call, "update");
    a.group = kc_cstr(owner->group);
    a.version = kc_cstr(owner->version);
    a.resource = kc_cstr(owner->plural);
    a.subresource = KC_STR("finalizers");
    a.name = kc_value_as_str(kc_value_get(reference, "name"));
    a.ns = owner->namespaced ? call->info.ns : (kc_str){0};
    if (kc__authz_wait(call->api->authz, call->x->loop, &a, &reason) == KC__AUTHZ_ALLOW)
        return KC__REST_NEXT;
    return kc__admission_forbid(call,
                                "cannot set blockOwnerDeletion if an ownerReference refers to a "
                                "resource you can't set finalizers on: %s, <nil>",
                                kc_buf_cstr(&reason));
}

static kc__rest_verdict check_blocking(kc__rest_call *call, const kc_value *references,
                                       const kc_value *old)
{
    bool asked = false;
    kc_value_each_item (references, reference) {
        if (!is_blocking(reference) || was_blocking(old, reference))
            continue;
        if (!asked && may_finalize_anything(call))
            return KC__REST_NEXT;
        asked = true;
        if (check_may_block(call, reference) == KC__REST_FAIL)
            return KC__REST_FAIL;
    }
    return KC__REST_NEXT;
}

kc__rest_verdict kc__admission_owner_permissions(kc__rest_call *call)
{
    if (!kc__admission_writes_object(call) || kc__admission_writes(call, "core/pods", "status"))
        return KC__REST_NEXT;
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    kc_auto(kc_view) *old_view = call->current ? kc_view_of(call->current) : NULL;
    const kc_value *references = kc_value_nested(kc_view_root(view), "metadata.ownerReferences"),
                   *old = old_view
                              ? kc_value_nested(kc_view_root(old_view), "metadata.ownerReferences")
                              : NULL;
    if (kc_value_equal(references, old, NULL))
        return KC__REST_NEXT;
    if (kc__authz_has_webhook(call->api->authz) && !call->on_worker)
        return KC__REST_ON_WORKER; /* It waits for the webhook. */
    if (call->current && check_may_delete(call) == KC__REST_FAIL)
        return KC__REST_FAIL;
    return check_blocking(call, references, old);
}
