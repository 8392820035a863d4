/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_request.c: a request as admission plugins see it. Rejections have the form of
 * Kubernetes' admission.NewForbidden, so a plugin only states the reason.
 */
#include "apiserver/admission/chain/plugin_request.h"

#include "apiserver/kinds/key_layout.h"
#include "kc/buf.h"

static bool is_deletion(const kc__rest_call *call)
{
    return call->removes || call->verb->bit & (KC__VERB_DELETE | KC__VERB_DELETE_COLLECTION);
}

bool kc__admission_writes_object(const kc__rest_call *call)
{
    return !is_deletion(call) && !call->verb->replaces_object &&
           (!kc__draft_is_empty(&call->draft) || call->proposed);
}

bool kc__admission_writes(const kc__rest_call *call, const char *storage, const char *subresource)
{
    const char *own = call->subresource ? call->subresource->name : "";
    if (!call->resource->storage || strcmp(call->resource->storage, storage) != 0 ||
        strcmp(own, subresource ? subresource : "") != 0)
        return false;
    return kc__admission_writes_object(call);
}

bool kc__admission_creates(const kc__rest_call *call, const char *storage)
{
    return !call->current && kc__admission_writes(call, storage, NULL);
}

/* The name of the written object in messages: its name, its generateName, or "Unknown". */
static kc_str admitted_object_name(kc__rest_call *call)
{
    const kc_str name = call->info.named ? call->info.name : kc__rest_proposed_name(call);
    return kc_str_empty(name) ? KC_STR("Unknown") : name;
}

kc__rest_verdict kc__admission_forbid(kc__rest_call *call, const char *fmt, ...)
{
    const kc__resource *r = call->resource;
    const kc_str name = admitted_object_name(call);
    kc_scoped(kc_buf) why = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&why, fmt, args);
    va_end(args);
    kc__rest_fail(call, KC_FORBIDDEN, "%s%s%s \"%.*s\" is forbidden: %s", r->plural,
                  *r->group ? "." : "", r->group, KC_ARG(name), kc_buf_cstr(&why));
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(r->plural), name);
    return KC__REST_FAIL;
}

bool kc__admission_needs_worker(kc__rest_call *call, bool expensive)
{
    if (!expensive || call->heavy || call->dispatch)
        return false;
    call->heavy = true;
    return true;
}

kc__watch_cache *kc__admission_objects(const kc__rest_call *call, const char *group,
                                       const char *plural)
{
    return kc__store_watch_cache(call->api->store, kc__resource_key_builtin_prefix(group, plural));
}

kc_str kc__admission_annotation_of(const kc_value *object, const char *name)
{
    const kc_value *annotations = kc_value_get(kc_value_get(object, "metadata"), "annotations");
    return kc_value_as_str(kc_value_get(annotations, name));
}
