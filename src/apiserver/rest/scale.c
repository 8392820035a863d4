/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.c: clients read and write a Scale; what is stored, checked and counted is the object. So a
 * change of the scale is an update of the object with another number, and the answer is the Scale
 * of what came of it. Until it is applied the Scale stands in call->given and call->proposed as any
 * body does; one that was sent is kept in call->sent, because it is applied again when somebody
 * else was faster.
 *
 * Kubernetes has a server of its own for custom resources. It checks less of a Scale, and has one
 * sentence for all it cannot read.
 */
#include "apiserver/rest/scale.h"

#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/scale.h"
#include "apiserver/rest/decode.h"

bool kc__is_scale(const kc__call *call)
{
    return call->subresource && !strcmp(call->subresource->name, "scale");
}

kc__verdict kc__scale_decode(kc__call *call)
{
    kc__verdict verdict = kc__decode_body(call);
    if (verdict == KC__NEXT)
        call->sent = kc_take(call->given);
    else if (call->resource->custom && call->error.reason == KC_BAD_REQUEST)
        kc__fail(call, KC_BAD_REQUEST,
                 "no kind is registered for the type v1.Scale in scheme "
                 "\"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:730\"");
    return verdict;
}

void kc__scale_resume(kc__call *call)
{
    if (!call->sent)
        return;
    kc_object_unref(call->given);
    call->given = kc_object_ref(call->sent);
}

kc_object *kc__scale_of_current(kc__call *call, bool needs, kc_error *err)
{
    kc_auto(kc_object) *shown = kc__from_stored(call->resource, call->current, err);
    return shown ? kc__scale_of(call->resource, shown, needs, err) : NULL;
}

static kc__verdict check(kc__call *call)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    kc__check_scale(kc_view_root(view), &errors);
    kc_field_errors_to_error(&errors, KC_STR("autoscaling"), KC_STR("Scale"), call->info.name,
                             &call->error);
    return errors.list.n ? KC__FAIL : KC__NEXT;
}

/* A Scale that a patch gave another uid is that of another object. */
static kc__verdict check_uid(kc__call *call)
{
    const kc__resource *r = call->resource;
    kc_str uid = kc_object_uid(call->proposed), own = kc_object_uid(call->current);
    if (kc_str_empty(uid) || kc_str_eq(uid, own))
        return KC__NEXT;
    const char *about = kc_arena_printf(call->arena, "%s/scale", r->plural);
    kc__fail(call, KC_CONFLICT,
             "Operation cannot be fulfilled on %s%s%s \"%.*s\": Precondition failed: UID in "
             "precondition: %.*s, UID in object meta: %.*s",
             about, *r->group ? "." : "", r->group, KC_ARG(call->info.name), KC_ARG(uid),
             KC_ARG(own));
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(about), call->info.name);
    return KC__FAIL;
}

kc__verdict kc__scale_apply(kc__call *call)
{
    kc__verdict verdict = call->resource->custom ? KC__NEXT : check(call);
    if (verdict == KC__NEXT && !call->resource->custom)
        verdict = check_uid(call);
    if (verdict != KC__NEXT)
        return verdict;
    kc_object *scaled = kc__with_scale(call->resource, call->current, call->proposed, &call->error);
    if (!scaled)
        return KC__FAIL;
    kc_object_unref(call->proposed);
    call->proposed = scaled;
    return KC__NEXT;
}

kc__verdict kc__scale_answer(kc__call *call)
{
    kc_auto(kc_object) *scale = kc__scale_of_current(call, true, &call->error);
    return scale ? kc__answer_object(call, 200, scale) : KC__FAIL;
}
