/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.c: decodes request bodies, and reports those that cannot be decoded.
 *
 * Kubernetes first looks for apiVersion and kind, so a body that is not an object fails there. The
 * error messages are those of Kubernetes, including the names of Go types.
 *
 * To add an encoding: a member of kc__rest_body_type, a row of the table, a decoder.
 */
#include "apiserver/request/body.h"

#include "apiserver/call/go_json.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "http/message/media.h"
#include "kc/yaml.h"
#include "object/yaml/yaml_go_error.h"

#define NO_KIND "couldn't get version/kind; json parse error: "

enum { SUMMARY = 30 };

static const struct {
    const char *media_type;
    kc__rest_body_type type;
} types[] = {
    {"application/json", KC__REST_BODY_JSON},
    {"application/yaml", KC__REST_BODY_YAML},
    {KC__PROTOBUF_MEDIA_TYPE, KC__REST_BODY_PROTOBUF},
};

kc__rest_verdict kc__rest_body_type_of(kc__rest_call *call, kc__rest_body_type *ret)
{
    kc__media_type media;
    kc_str header = kc__http_headers_get(&call->x->request.headers, KC_STR("Content-Type"));
    if (kc_str_empty(header)) {
        *ret = KC__REST_BODY_JSON;
        return KC__REST_NEXT;
    }
    bool known = kc__media_type_parse(header, call->arena, &media, NULL) == 0;
    for (size_t i = 0; known && i < KC_COUNT(types); i++)
        if (kc__media_type_is(&media, types[i].media_type)) {
            *ret = types[i].type;
            return KC__REST_NEXT;
        }
    return kc__rest_fail(call, KC_UNSUPPORTED_MEDIA_TYPE,
                         "the body of the request was in an unknown format - accepted media types "
                         "include: " KC__REST_MEDIA_TYPES);
}

/* The body is not an object: null becomes an empty object, other values are rejected. */
static kc_object *not_an_object(const kc_value *root, kc_error *err)
{
    if (kc_value_type(root) == KC_JSON_NULL || !root)
        return kc_object_parse(KC_STR("{}"), NULL, err);
    kc_error_set(err, KC_BAD_REQUEST,
                 NO_KIND
                 "json: cannot unmarshal %s into Go value of type struct { APIVersion string "
                 "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                 "\"json:\\\"kind,omitempty\\\"\" }",
                 kc__rest_go_json_type(root));
    return NULL;
}

/* apiVersion and kind must be strings before anything else is checked. */
static int check_type_meta(const kc_value *root, kc_error *err)
{
    static const char *const names[] = {"apiVersion", "kind"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_json_type type = kc_value_type(kc_value_get(root, names[i]));
        if (type != KC_JSON_ABSENT && type != KC_JSON_NULL && type != KC_JSON_STRING)
            return kc_error_set(err, KC_BAD_REQUEST,
                                NO_KIND
                                "json: cannot unmarshal %s into Go struct field .%s of type "
                                "string",
                                kc__rest_go_json_type(kc_value_get(root, names[i])), names[i]);
    }
    return 0;
}

static kc_object *object_of_view(const kc_view *view, kc_error *err)
{
    const kc_value *root = kc_view_root(view);
    kc_scoped(kc_buf) json = {0};
    if (kc_value_type(root) != KC_JSON_OBJECT)
        return not_an_object(root, err);
    if (check_type_meta(root, err) < 0)
        return NULL;
    kc_json_write(&json, root);
    return kc_object_parse(kc_buf_str(&json), NULL, err);
}

static kc_object *explain_json(kc_str body, kc_error *why, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (why->reason == KC_TOO_LARGE) {
        kc_error_move(err, why);
        return NULL;
    }
    if (kc__rest_go_json_error(body, &text)) {
        kc_error_set(err, KC_BAD_REQUEST, NO_KIND "%s", kc_buf_cstr(&text));
        return NULL;
    }
    kc_auto(kc_view) *view = kc_view_parse(body, NULL, NULL);
    if (view)
        return object_of_view(view, err);
    kc_error_set(err, KC_BAD_REQUEST, NO_KIND "%s", kc_error_text(why));
    return NULL;
}

static kc_object *read_json(kc_str body, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_object) *object = kc_object_parse(body, NULL, &why);
    if (!object)
        return explain_json(body, &why, err);
    if (kc_object_api_version(object).n && kc_object_kind(object).n)
        return kc_take(object);
    kc_auto(kc_view) *view = kc_view_of(object);
    return check_type_meta(kc_view_root(view), err) < 0 ? NULL : kc_take(object);
}

void kc__rest_body_yaml_error(kc_buf *out, kc_str body, const kc_error *why)
{
    kc__yaml_go_error(out, body);
    if (!out->n)
        kc_buf_printf(out, "yaml: %s", kc_error_text(why));
}

static kc_object *read_yaml(kc_str body, kc_paths *duplicates, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_view) *view =
        kc_yaml_parse_first(body, &(kc_json_opts){.duplicates = duplicates}, &why);
    if (view)
        return object_of_view(view, err);
    if (why.reason == KC_TOO_LARGE) {
        kc_error_move(err, &why);
        return NULL;
    }
    kc__rest_body_yaml_error(&text, body, &why);
    kc_error_set(err, KC_BAD_REQUEST, "%s", kc_buf_cstr(&text));
    return NULL;
}

static const kc__type_message *type_of(kc_str api_version, kc_str kind, void *user)
{
    (void)user;
    return kc__crd_type_of_kind(api_version, kind);
}

kc_object *kc__rest_body_read(kc_str body, kc__rest_body_type type, kc_paths *duplicates,
                              kc_error *err)
{
    switch (type) {
    case KC__REST_BODY_YAML: return read_yaml(body, duplicates, err);
    case KC__REST_BODY_PROTOBUF:
        return kc__protobuf_decode(body, &(kc__protobuf_opts){.type_of = type_of}, err);
    default: return read_json(body, err);
    }
}

void kc__rest_body_summary(kc_buf *out, kc_str body)
{
    kc_str start = kc_str_sub(body, 0, SUMMARY);
    if (kc_str_empty(body))
        kc_buf_puts(out, "<empty>");
    else if (body.p[0] == '{')
        kc_buf_append(out, start);
    else
        for (size_t i = 0; i < start.n; i++)
            kc_buf_printf(out, "%02x", (unsigned char)start.p[i]);
    if (body.n > SUMMARY)
        kc_buf_puts(out, " ...");
}
