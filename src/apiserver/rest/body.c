/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.c: reading bodies, and saying what is wrong with those that cannot be read.
 *
 * Kubernetes first looks for apiVersion and kind, so what is no object at all fails there; its
 * words for that are kept, Go types included.
 *
 * To add an encoding: a member of kc__body_type, a line in the table, a reader.
 */
#include "apiserver/rest/body.h"

#include "apiserver/crd/crd_type.h"
#include "apiserver/kinds/protobuf.h"
#include "apiserver/rest/go_json.h"
#include "http/media.h"
#include "kc/yaml.h"

#define NO_KIND "couldn't get version/kind; json parse error: "

enum { SUMMARY = 30 };

static const struct {
    const char *media_type;
    kc__body_type type;
} types[] = {
    {"application/json", KC__BODY_JSON},
    {"application/yaml", KC__BODY_YAML},
    {KC__PROTOBUF_MEDIA_TYPE, KC__BODY_PROTOBUF},
};

kc__verdict kc__body_type_of(kc__call *call, kc__body_type *ret)
{
    kc__media_type media;
    kc_str header = kc__headers_get(&call->x->request.headers, KC_STR("Content-Type"));
    if (kc_str_empty(header)) {
        *ret = KC__BODY_JSON;
        return KC__NEXT;
    }
    bool known = kc__media_type_parse(header, call->arena, &media, NULL) == 0;
    for (size_t i = 0; known && i < KC_COUNT(types); i++)
        if (kc__media_type_is(&media, types[i].media_type)) {
            *ret = types[i].type;
            return KC__NEXT;
        }
    return kc__fail(call, KC_UNSUPPORTED_MEDIA_TYPE,
                    "the body of the request was in an unknown format - accepted media types "
                    "include: " KC__ACCEPTED);
}

/* What is no object: null stands for an empty one, the rest is refused. */
static kc_object *not_an_object(const kc_value *root, kc_error *err)
{
    if (kc_type_of(root) == KC_NULL || !root)
        return kc_object_parse(KC_STR("{}"), NULL, err);
    kc_error_set(err, KC_BAD_REQUEST,
                 NO_KIND
                 "json: cannot unmarshal %s into Go value of type struct { APIVersion string "
                 "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                 "\"json:\\\"kind,omitempty\\\"\" }",
                 kc__go_json_type(root));
    return NULL;
}

/* apiVersion and kind must be texts for anybody to look further. */
static int check_type_meta(const kc_value *root, kc_error *err)
{
    static const char *const names[] = {"apiVersion", "kind"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_type type = kc_type_of(kc_get(root, names[i]));
        if (type != KC_ABSENT && type != KC_NULL && type != KC_STRING)
            return kc_error_set(err, KC_BAD_REQUEST,
                                NO_KIND
                                "json: cannot unmarshal %s into Go struct field .%s of type "
                                "string",
                                kc__go_json_type(kc_get(root, names[i])), names[i]);
    }
    return 0;
}

static kc_object *object_of_view(const kc_view *view, kc_error *err)
{
    const kc_value *root = kc_view_root(view);
    kc_scoped(kc_buf) json = {0};
    if (kc_type_of(root) != KC_OBJECT)
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
    if (kc__go_json_complaint(body, &text)) {
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

static kc_object *read_yaml(kc_str body, kc_paths *duplicates, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_view) *view = kc_yaml_parse(body, &(kc_json_opts){.duplicates = duplicates}, &why);
    if (view)
        return object_of_view(view, err);
    if (why.reason == KC_TOO_LARGE)
        kc_error_move(err, &why);
    else
        kc_error_set(err, KC_BAD_REQUEST, "yaml: %s", kc_error_text(&why));
    return NULL;
}

static const kc__message *type_of(kc_str api_version, kc_str kind, void *user)
{
    (void)user;
    return kc__type_of_kind(api_version, kind);
}

kc_object *kc__body_read(kc_str body, kc__body_type type, kc_paths *duplicates, kc_error *err)
{
    switch (type) {
    case KC__BODY_YAML: return read_yaml(body, duplicates, err);
    case KC__BODY_PROTOBUF:
        return kc__protobuf_decode(body, &(kc__protobuf_opts){.type_of = type_of}, err);
    default: return read_json(body, err);
    }
}

void kc__body_summary(kc_buf *out, kc_str body)
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
