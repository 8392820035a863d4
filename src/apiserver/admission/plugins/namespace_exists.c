/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namespace_exists.c: implements the admission plugin NamespaceExists. It rejects every write in a
 * namespace that does not exist; NamespaceLifecycle, which is on by default, rejects creations.
 */
#include "apiserver/admission/plugins/namespace_exists.h"

#include "apiserver/admission/chain/plugin_request.h"

kc__rest_verdict kc__admission_namespace_exists(kc__rest_call *call)
{
    if (!call->info.ns.n || !call->resource->namespaced)
        return KC__REST_NEXT;
    kc_auto(kc_object) *space = kc__watch_cache_get(call->api->namespaces, call->info.ns);
    if (space)
        return KC__REST_NEXT;
    kc__rest_fail(call, KC_NOT_FOUND, "namespaces \"%.*s\" not found", KC_ARG(call->info.ns));
    kc_error_about(&call->error, KC_STR(""), KC_STR("namespaces"), call->info.ns);
    return KC__REST_FAIL;
}
