/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.c: the subresource "scale". Clients read and write a Scale; the server stores, validates
 * and counts the object. A change of the scale is an update of the object with another number of
 * replicas, and the response is the Scale of the result. Until it is applied, the Scale is in
 * call->body and call->proposed like any body. call->subresource_body keeps the Scale of the
 * request, because it is applied again after a conflicting write.
 *
 * How much of a Scale is validated, and the message for one that cannot be decoded, depend on the
 * operations of the resource.
 */
#include "apiserver/request/scale.h"

#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/kinds/scale_values.h"
#include "apiserver/request/decode.h"

kc__rest_verdict kc__rest_scale_decode(kc__rest_call *call)
{
    kc__rest_verdict verdict = kc__rest_decode_body(call);
    if (verdict == KC__REST_NEXT)
        call->subresource_body = kc_take(call->body);
    else if (call->resource->ops->scale_decode_error && call->error.reason == KC_BAD_REQUEST)
        kc__rest_fail(call, KC_BAD_REQUEST, "%s", call->resource->ops->scale_decode_error);
    return verdict;
}

void kc__rest_scale_resume(kc__rest_call *call)
{
    if (!call->subresource_body)
        return;
    kc_object_unref(call->body);
    call->body = kc_object_ref(call->subresource_body);
}

kc_object *kc__rest_scale_of_current(kc__rest_call *call, bool needs, kc_error *err)
{
    kc_auto(kc_object) *shown = kc__convert_from_stored(call->resource, call->current, err);
    return shown ? kc__scale_of(call->resource, shown, needs, err) : NULL;
}

static kc__rest_verdict check_fields(kc__rest_call *call)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    kc__validate_scale(kc_view_root(view), &errors);
    kc_field_errors_to_error(&errors, KC_STR("autoscaling"), KC_STR("Scale"), call->info.name,
                             &call->error);
    return errors.list.n ? KC__REST_FAIL : KC__REST_NEXT;
}

/* A patch that changes the uid of a Scale would be about another object. */
static kc__rest_verdict check_uid(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    kc_str uid = kc_object_uid(call->proposed), own = kc_object_uid(call->current);
    if (kc_str_empty(uid) || kc_str_eq(uid, own))
        return KC__REST_NEXT;
    const char *about = kc_arena_printf(call->arena, "%s/scale", r->plural);
    kc__rest_fail(call, KC_CONFLICT,
                  "Operation cannot be fulfilled on %s%s%s \"%.*s\": Precondition failed: UID in "
                  "precondition: %.*s, UID in object meta: %.*s",
                  about, *r->group ? "." : "", r->group, KC_ARG(call->info.name), KC_ARG(uid),
                  KC_ARG(own));
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(about), call->info.name);
    return KC__REST_FAIL;
}

static kc__rest_verdict validate_scale(kc__rest_call *call)
{
    kc__rest_verdict verdict = check_fields(call);
    return verdict == KC__REST_NEXT ? check_uid(call) : verdict;
}

kc__rest_verdict kc__rest_scale_apply(kc__rest_call *call)
{
    kc__rest_verdict verdict =
        call->resource->ops->validates_scale ? validate_scale(call) : KC__REST_NEXT;
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc_object *scaled =
        kc__scale_apply_to(call->resource, call->current, call->proposed, &call->error);
    if (!scaled)
        return KC__REST_FAIL;
    kc_object_unref(call->proposed);
    call->proposed = scaled;
    return KC__REST_NEXT;
}

kc__rest_verdict kc__rest_scale_respond(kc__rest_call *call)
{
    kc_auto(kc_object) *scale = kc__rest_scale_of_current(call, true, &call->error);
    return scale ? kc__rest_respond_object(call, 200, scale) : KC__REST_FAIL;
}
