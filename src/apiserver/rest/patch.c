/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch.c: PATCH: JSON patches, merge patches and strategic ones. The patch is read once; it is
 * applied to whatever is stored, again if somebody else was faster, and the result takes the way of
 * an update.
 *
 * To add a kind of patch: a line in the table.
 */
#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/patch_schema.h"
#include "apiserver/rest/decode.h"
#include "apiserver/rest/write.h"
#include "http/media.h"
#include "kc/json_patch.h"
#include "kc/merge_patch.h"

#include <stdarg.h>

typedef struct patch_type {
    const char *media_type;
    int (*apply)(kc__call *call, kc_edit *edit, kc_error *err);
} patch_type;

kc__verdict kc__fail_patch(kc__call *call, const char *fmt, ...)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_buf) quoted = {0}, detail = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&detail, fmt, args);
    va_end(args);
    kc_json_quote(&quoted, call->x->request.body);
    kc_field_errors_add(&errors, KC_FIELD_INVALID, "patch", kc_buf_str(&quoted), "%s",
                        kc_buf_cstr(&detail));
    kc_field_errors_to_error(&errors, (kc_str){0}, (kc_str){0}, (kc_str){0}, &call->error);
    return KC__FAIL;
}

static int apply_json_patch(kc__call *call, kc_edit *edit, kc_error *err)
{
    kc_auto(kc_json_patch) *patch = kc_json_patch_parse(call->x->request.body, NULL, err);
    return patch ? kc_json_patch_apply(patch, edit, err) : -1;
}

/* The body as an object; NULL on error. */
static kc_view *read_object(kc__call *call, kc_error *err)
{
    kc_auto(kc_view) *patch = kc_view_parse(call->x->request.body, NULL, err);
    if (!patch) {
        kc_error_set(err, KC_BAD_REQUEST, "error decoding patch: %s", kc_error_text(err));
        return NULL;
    }
    if (kc_type_of(kc_view_root(patch)) == KC_OBJECT)
        return kc_take(patch);
    kc_error_set(err, KC_BAD_REQUEST,
                 "error decoding patch: json: cannot unmarshal %s into Go value of type "
                 "map[string]interface {}",
                 kc_type_name(kc_type_of(kc_view_root(patch))));
    return NULL;
}

static int apply_merge_patch(kc__call *call, kc_edit *edit, kc_error *err)
{
    kc_auto(kc_view) *patch = read_object(call, err);
    if (!patch)
        return -1;
    kc_merge_patch_apply(edit, kc_view_root(patch));
    return 0;
}

static int apply_strategic_patch(kc__call *call, kc_edit *edit, kc_error *err)
{
    kc_auto(kc_view) *patch = read_object(call, err);
    kc_patch_schema schema = kc__patch_schema_of(call->resource->type);
    return patch ? kc_strategic_patch_apply(edit, kc_view_root(patch), &schema, err) : -1;
}

static const patch_type types[] = {
    {"application/json-patch+json", apply_json_patch},
    {"application/merge-patch+json", apply_merge_patch},
    {"application/strategic-merge-patch+json", apply_strategic_patch},
};

static const patch_type *type_of(kc__call *call)
{
    kc__media_type media;
    kc_str header = kc__headers_get(&call->x->request.headers, KC_STR("Content-Type"));
    if (kc__media_type_parse(header, call->arena, &media, NULL) < 0)
        return NULL;
    for (size_t i = 0; i < KC_COUNT(types); i++)
        if (kc__media_type_is(&media, types[i].media_type))
            return &types[i];
    return NULL;
}

static kc__verdict decode(kc__call *call)
{
    call->patch = type_of(call);
    if (!call->patch) {
        kc__fail(call, KC_UNSUPPORTED_MEDIA_TYPE,
                 "the body of the request was in an unknown format - accepted media types include: "
                 "application/json-patch+json, application/merge-patch+json, "
                 "application/strategic-merge-patch+json");
        call->bare_details = true;
        return KC__FAIL;
    }
    if (kc__options_read_write(&call->query, "PatchOptions", &call->options, &call->error) < 0)
        return KC__FAIL;
    return KC__NEXT;
}

/* A patch that cannot be applied to this object is a well-formed request that makes no sense. */
static kc__verdict refuse(kc__call *call, kc_error *err)
{
    if (err->reason == KC_INVALID) {
        call->bare_details = true;
        return kc__fail(call, KC_INVALID,
                        "the server rejected our request due to an error in our request");
    }
    kc_error_move(&call->error, err);
    return KC__FAIL;
}

/* The current object with the patch applied, in call->given. */
static kc__verdict apply(kc__call *call)
{
    const patch_type *type = call->patch;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *shown = kc__from_stored(call->resource, call->current, &err);
    if (!shown)
        return refuse(call, &err);
    kc_auto(kc_edit) *edit = kc_edit_of(shown);
    if (type->apply(call, edit, &err) < 0)
        return refuse(call, &err);
    kc_object_unref(call->given);
    call->given = kc_edit_freeze(edit, &err);
    if (!call->given)
        return refuse(call, &err);
    kc_auto(kc_object) *patched = kc_object_ref(call->given);
    return kc__decode_typed(call, &call->given, kc_object_json(patched), KC_INVALID);
}

/* What names the object may not be patched away. */
static kc__verdict check_identity(kc__call *call)
{
    kc_str name = kc_object_name(call->given);
    kc__metadata m = {.ns = kc_object_namespace(call->given)};
    if (!kc_str_eq(name, call->info.name))
        return kc__fail(call, KC_BAD_REQUEST,
                        "the name of the object (%.*s) does not match the name on the URL (%.*s)",
                        KC_ARG(name), KC_ARG(call->info.name));
    return kc__check_namespace(call, &m);
}

static kc__verdict propose(kc__call *call)
{
    if (!call->current)
        call->current = kc__cache_get(call->served->cache, call->key);
    if (!call->current)
        return kc__fail_not_found(call, call->info.name);
    kc__verdict verdict = apply(call);
    if (verdict == KC__NEXT)
        verdict = check_identity(call);
    if (verdict == KC__NEXT)
        verdict = kc__propose_update(call);
    /* The version stood in the patched object anyway: only a changed one is the client's. */
    call->conditional = false;
    return verdict;
}

static kc__verdict answer(kc__call *call)
{
    return kc__answer_object(call, 200, call->current);
}

const kc__verb kc__verb_patch = {
    .name = "patch",
    .bit = KC__PATCH,
    .mutates = true,
    .decode = decode,
    .propose = propose,
    .answer = answer,
};
