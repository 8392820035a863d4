/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.c: reading request bodies.
 *
 *     bytes ─(Content-Type: JSON, YAML, protobuf)─▶ object ─▶ of this kind? ─▶ typed
 *
 * Fields the type does not know, and fields that stand twice, are dropped in silence, with a
 * warning for each (the default), or refused: the client chooses with fieldValidation.
 */
#include "apiserver/rest/decode.h"

#include "apiserver/kinds/protobuf.h"
#include "apiserver/kinds/typed.h"
#include "apiserver/rest/write.h"
#include "http/media.h"
#include "kc/codec.h"
#include "kc/kind.h"

/* ---- bytes to an object ---- */

static kc__verdict unsupported(kc__call *call)
{
    return kc__fail(call, KC_UNSUPPORTED_MEDIA_TYPE,
                    "the body of the request was in an unknown format - accepted media types "
                    "include: " KC__ACCEPTED);
}

static kc_object *read_body(kc__call *call, const kc__media_type *media, kc_error *err)
{
    kc_str body = call->x->request.body;
    if (kc__media_type_is(media, KC__PROTOBUF_MEDIA_TYPE))
        return kc__protobuf_decode(body, NULL, err);
    if (kc__media_type_is(media, "application/yaml"))
        return kc_codec_decode_one(&kc_codec_yaml, body, NULL, err);
    return kc_object_parse(body, NULL, err);
}

static bool is_known(const kc__media_type *media)
{
    return kc__media_type_is(media, "application/json") ||
           kc__media_type_is(media, "application/yaml") ||
           kc__media_type_is(media, KC__PROTOBUF_MEDIA_TYPE);
}

/* Go's words for text that is nothing: what its people search for. */
static kc__verdict unreadable(kc__call *call, const kc_error *why)
{
    kc_scoped(kc_buf) start = {0};
    kc_str body = call->x->request.body;
    kc_json_quote(&start, kc_str_sub(body, 0, 40));
    return kc__fail(call, KC_BAD_REQUEST,
                    "the object provided is unrecognized (must be of type %s): couldn't get "
                    "version/kind; json parse error: %s (%s)",
                    call->resource->kind, kc_error_text(why), kc_buf_cstr(&start));
}

static kc__verdict read_any(kc__call *call, kc_object **ret)
{
    kc__media_type media = {KC_STR_INIT("application"), KC_STR_INIT("json"), NULL, 0};
    kc_str header = kc__headers_get(&call->x->request.headers, KC_STR("Content-Type"));
    if (!kc_str_empty(header) && !kc_str_is(header, "application/json") &&
        (kc__media_type_parse(header, call->arena, &media, NULL) < 0 || !is_known(&media)))
        return unsupported(call);
    kc_scoped(kc_error) err = {0};
    kc_object *object = read_body(call, &media, &err);
    if (object) {
        *ret = object;
        return KC__NEXT;
    }
    if (err.reason == KC_TOO_LARGE) {
        kc_error_move(&call->error, &err);
        return KC__FAIL;
    }
    return unreadable(call, &err);
}

kc__verdict kc__decode_options_body(kc__call *call, kc_object **ret)
{
    *ret = NULL;
    return kc_str_empty(call->x->request.body) ? KC__NEXT : read_any(call, ret);
}

/* ---- the right kind ---- */

static void first_label(kc_str group, kc_str *ret)
{
    *ret = kc_str_empty(group) ? KC_STR("core") : kc_str_cut(&group, '.');
}

static kc__verdict wrong_kind(kc__call *call, kc_gvk got, kc_str api_version)
{
    const kc__resource *r = call->resource;
    const kc__resource *other =
        kc__kinds_find_kind(call->api->kinds, got.group, got.version, got.kind);
    if (!other)
        return kc__fail(call, KC_BAD_REQUEST,
                        "%.*s in version \"%.*s\" cannot be handled as a %s: no kind \"%.*s\" is "
                        "registered for version \"%.*s\" in scheme "
                        "\"pkg/api/legacyscheme/scheme.go:30\"",
                        KC_ARG(got.kind), KC_ARG(got.version), r->kind, KC_ARG(got.kind),
                        KC_ARG(api_version));
    if (!strcmp(other->kind, r->kind) && !strcmp(other->group, r->group))
        return kc__fail(
            call, KC_BAD_REQUEST,
            "the API version in the data (%.*s) does not match the expected API version "
            "(%s/%s)",
            KC_ARG(api_version), r->group, r->version);
    kc_str group;
    first_label(kc_cstr(r->group), &group);
    return kc__fail(call, KC_BAD_REQUEST,
                    "%s in version \"%s\" cannot be handled as a %s: converting (%s.%s) to "
                    "(%.*s.%s): unknown conversion",
                    other->kind, other->version, r->kind, other->version, other->kind,
                    KC_ARG(group), r->kind);
}

/* "apps/v1", "v1" */
static kc_str own_api_version(kc__call *call)
{
    const kc__resource *r = call->resource;
    return *r->group ? kc_cstr(kc_arena_printf(call->arena, "%s/%s", r->group, r->version))
                     : kc_cstr(r->version);
}

/* An object that does not say what it is, is what the path says. */
static int name_kind(kc__call *call, kc_object **object)
{
    kc_auto(kc_edit) *edit = kc_edit_of(*object);
    kc_node *root = kc_edit_root(edit);
    kc_node_set(edit, root, KC_STR("kind"), kc_node_str(edit, kc_cstr(call->resource->kind)));
    kc_node_set(edit, root, KC_STR("apiVersion"), kc_node_str(edit, own_api_version(call)));
    kc_object *named = kc_edit_freeze(edit, &call->error);
    if (!named)
        return -1;
    kc_object_unref(*object);
    *object = named;
    return 0;
}

static kc__verdict check_kind(kc__call *call, kc_object **object)
{
    kc_str api_version = kc_object_api_version(*object), kind = kc_object_kind(*object);
    kc_str own = own_api_version(call);
    if (kc_str_eq(api_version, own) && kc_str_is(kind, call->resource->kind))
        return KC__NEXT;
    if (kc_str_empty(api_version))
        api_version = own;
    if (kc_str_empty(kind))
        kind = kc_cstr(call->resource->kind);
    if (kc_str_eq(api_version, own) && kc_str_is(kind, call->resource->kind))
        return name_kind(call, object) < 0 ? KC__FAIL : KC__NEXT;
    return wrong_kind(call, kc_gvk_of(api_version, kind), api_version);
}

/* ---- typed ---- */

static kc__verdict complain(kc__call *call, kc_str text, kc_reason strict)
{
    kc_scoped(kc_paths) complaints = {0};
    kc__typed_complaints(call->resource->type, text, &complaints);
    if (call->options.validation != KC__VALIDATE_STRICT) {
        for (size_t i = 0; i < complaints.n; i++)
            kc__warn(call, kc_cstr(complaints.items[i]));
        return KC__NEXT;
    }
    kc_scoped(kc_buf) all = {0};
    for (size_t i = 0; i < complaints.n; i++)
        kc_buf_printf(&all, "%s%s", i ? ", " : "", complaints.items[i]);
    if (!all.n)
        return KC__NEXT;
    const kc__resource *r = call->resource;
    if (strict == KC_INVALID)
        return kc__fail_patch(call, "strict decoding error: %s", kc_buf_cstr(&all));
    return kc__fail(call, strict,
                    "%s in version \"%s\" cannot be handled as a %s: strict decoding error: %s",
                    r->kind, r->version, r->kind, kc_buf_cstr(&all));
}

kc__verdict kc__decode_typed(kc__call *call, kc_object **object, kc_str text, kc_reason strict)
{
    const kc__resource *r = call->resource;
    kc_scoped(kc_error) err = {0};
    kc_object *typed = kc__typed_decode(r->type, *object, NULL, &err);
    if (!typed)
        return kc__fail(call, err.reason, "%s in version \"%s\" cannot be handled as a %s: %s",
                        r->kind, r->version, r->kind, kc_error_text(&err));
    bool changed = typed != *object || text.n != kc_object_json(*object).n;
    kc_object_unref(*object);
    *object = typed;
    /* Nothing was dropped and nothing was shortened: there is nothing to complain about. */
    if (changed && call->options.validation != KC__VALIDATE_IGNORE && !kc_str_empty(text)) {
        kc__verdict verdict = complain(call, text, strict);
        if (verdict != KC__NEXT)
            return verdict;
    }
    return kc__fill_in(call, object);
}

static bool is_json(kc__call *call)
{
    kc_str header = kc__headers_get(&call->x->request.headers, KC_STR("Content-Type"));
    return kc_str_empty(header) || kc_str_starts(header, KC_STR("application/json"));
}

kc__verdict kc__decode_body(kc__call *call)
{
    kc__verdict verdict = read_any(call, &call->given);
    if (verdict == KC__NEXT)
        verdict = check_kind(call, &call->given);
    if (verdict != KC__NEXT)
        return verdict;
    kc_str text = is_json(call) ? call->x->request.body : kc_object_json(call->given);
    kc_auto(kc_object) *kept = kc_object_ref(call->given); /* `text` may be its. */
    return kc__decode_typed(call, &call->given, text, KC_BAD_REQUEST);
}
