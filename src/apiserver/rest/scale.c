/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.c: clients read and write a Scale; what is stored, checked and counted is the object. So a
 * change of the scale is an update of the object with another number, and the answer is the Scale
 * of what came of it.
 */
#include "apiserver/rest/scale.h"

#include "apiserver/crd/custom_object.h"
#include "apiserver/kinds/typed.h"
#include "apiserver/rest/body.h"

bool kc__is_scale(const kc__call *call)
{
    return call->subresource && call->resource->custom && !strcmp(call->subresource->name, "scale");
}

int kc__scale_take(kc__call *call, const kc_object *patched, kc_error *err)
{
    const kc__message *type = kc__definition_of_kind(KC_STR("autoscaling/v1"), KC_STR("Scale"));
    kc_str version = kc_object_api_version(patched), kind = kc_object_kind(patched);
    if ((version.n && !kc_str_is(version, "autoscaling/v1")) ||
        (kind.n && !kc_str_is(kind, "Scale")))
        return kc_error_set(err, KC_BAD_REQUEST,
                            "no kind \"%.*s\" is registered for version \"%.*s\" in scheme "
                            "\"pkg/runtime/scheme.go:110\"",
                            KC_ARG(kind), KC_ARG(version));
    kc_object *typed = kc__typed_decode(type, patched, NULL, err);
    if (!typed)
        return -1;
    kc_object_unref(call->scale);
    call->scale = typed;
    return 0;
}

kc__verdict kc__scale_decode(kc__call *call)
{
    kc__body_type type;
    kc_scoped(kc_error) err = {0};
    if (kc__body_type_of(call, &type) != KC__NEXT)
        return KC__FAIL;
    kc_auto(kc_object) *body = kc__body_read(call->x->request.body, type, NULL, &err);
    if (!body || kc__scale_take(call, body, &err) < 0)
        return kc__fail(call, err.reason, "%s", kc_error_text(&err));
    return KC__NEXT;
}

kc_object *kc__scale_of_current(kc__call *call, kc_error *err)
{
    kc_auto(kc_object) *shown = kc__custom_read(call->resource->custom, call->current, err);
    return shown ? kc__custom_scale_of(call->resource->custom, shown, err) : NULL;
}

kc__verdict kc__scale_apply(kc__call *call)
{
    kc_object *scaled =
        kc__custom_with_scale(call->resource->custom, call->current, call->scale, &call->error);
    if (!scaled)
        return KC__FAIL;
    kc_object_unref(call->given);
    call->given = scaled;
    return KC__NEXT;
}

kc__verdict kc__scale_answer(kc__call *call)
{
    kc_auto(kc_object) *scale = kc__scale_of_current(call, &call->error);
    return scale ? kc__answer_json(call, 200, kc_object_json(scale)) : KC__FAIL;
}
