/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes may be refused, none may crash. An accepted body is an object of the kind in the
 * envelope, and all its fields are in the definitions, with their types. It can be encoded again,
 * with the unknown fields of the body. Bytes are used as a body, and as the message within one, of
 * a kind that the first byte selects.
 */
#include "fuzzing.h"

#include "apiserver/codec/protobuf.h"
#include "apiserver/kinds/apiextensions/crd_type.h"

static const struct {
    const char *api_version, *kind;
} kinds[] = {
    {"v1", "Pod"},
    {"v1", "ConfigMap"},
    {"v1", "Secret"},
    {"v1", "Service"},
    {"v1", "Node"},
    {"v1", "List"},
    {"v1", "APIResourceList"},
    {"v1", "DeleteOptions"},
    {"apps/v1", "StatefulSet"},
    {"apps/v1", "ControllerRevision"},
    {"coordination.k8s.io/v1", "Lease"},
    {"authentication.k8s.io/v1", "TokenReview"},
    {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"},
    {"autoscaling/v2", "HorizontalPodAutoscaler"},
    {"resource.k8s.io/v1beta1", "ResourceSlice"},
    {"apiextensions.k8s.io/v1", "CustomResourceDefinition"},
    {"apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"},
};

static void check_object(const kc__type_message *message, const kc_value *object);

/* A schema, or what may stand in its place. */
static void check_either(const kc__type_field *field, const kc_value *value)
{
    kc_json_type type = kc_value_type(value);
    if (type == KC_JSON_OBJECT)
        check_object(field->message, value);
    else
        assert(type == KC_JSON_ARRAY || type == KC_JSON_BOOL);
}

static void check_single(const kc__type_field *field, const kc_value *value)
{
    kc_json_type type = kc_value_type(value);
    if (type == KC_JSON_NULL)
        return;
    switch (field->kind) {
    case KC__FIELD_BOOL: assert(type == KC_JSON_BOOL); break;
    case KC__FIELD_INT32:
    case KC__FIELD_INT64: assert(type == KC_JSON_INT); break;
    case KC__FIELD_MESSAGE: check_object(field->message, value); break;
    case KC__FIELD_LIST: assert(type == KC_JSON_ARRAY); break;
    case KC__FIELD_INT_OR_STRING: assert(type == KC_JSON_INT || type == KC_JSON_STRING); break;
    case KC__FIELD_FLOAT:
    case KC__FIELD_DOUBLE: assert(type == KC_JSON_INT || type == KC_JSON_FLOAT); break;
    case KC__FIELD_EITHER: check_either(field, value); break;
    case KC__FIELD_ANY:
    case KC__FIELD_RAW:
    case KC__FIELD_FIELDS_V1: break;
    default: assert(type == KC_JSON_STRING); break;
    }
}

static void check_field(const kc__type_field *field, const kc_value *value)
{
    if (kc_value_type(value) == KC_JSON_NULL) {
        assert(field->shape != KC__SINGLE || (field->marks & KC__POINTER) ||
               field->kind >= KC__FIELD_TIME || field->kind == KC__FIELD_BYTES);
    } else if (field->shape == KC__REPEATED) {
        assert(kc_value_type(value) == KC_JSON_ARRAY && kc_value_len(value) > 0);
        kc_value_each_item (value, item)
            check_single(field, item);
    } else if (field->shape == KC__MAPPED) {
        assert(kc_value_type(value) == KC_JSON_OBJECT && kc_value_len(value) > 0);
        kc_value_each_member (value, name, member) {
            (void)name;
            check_single(field, member);
        }
    } else {
        check_single(field, value);
    }
}

static void check_object(const kc__type_message *message, const kc_value *object)
{
    assert(kc_value_type(object) == KC_JSON_OBJECT);
    kc_value_each_member (object, name, value) {
        const kc__type_field *field = kc__type_message_field(message, name);
        assert(field);
        check_field(field, value);
    }
}

static const kc__type_message *type_of(kc_str api_version, kc_str kind, void *user)
{
    (void)user;
    return kc__crd_type_of_kind(api_version, kind);
}

/* What was decoded can be encoded, unless it has no protobuf form, and decodes to the same. With
 * the unknown fields of the input, too. */
static void check_encoding(const kc_object *object, const kc__type_message *message, kc_str older)
{
    kc_scoped(kc_buf) fresh = {0};
    kc_scoped(kc_buf) grafted = {0};
    if (kc__protobuf_encode(object, message, kc_object_api_version(object), &fresh, NULL) < 0)
        return;
    const kc__protobuf_opts opts = {.type_of = type_of};
    kc_auto(kc_object) *once = kc__protobuf_decode(kc_buf_str(&fresh), &opts, NULL);
    if (!once || kc__protobuf_graft(message, kc_buf_str(&fresh), older, &grafted, NULL) < 0)
        return; /* Too large. */
    kc_auto(kc_object) *again = kc__protobuf_decode(kc_buf_str(&grafted), &opts, NULL);
    assert(!again || kc_str_eq(kc_object_json(once), kc_object_json(again)));
}

static void check(kc_str bytes, kc__protobuf_opts opts)
{
    kc_scoped(kc_error) err = {0};
    opts.type_of = type_of;
    kc_auto(kc_object) *object = kc__protobuf_decode(bytes, &opts, &err);
    if (!object) {
        assert(err.reason == KC_BAD_REQUEST || err.reason == KC_TOO_LARGE);
        return;
    }
    const kc__type_message *message =
        kc__crd_type_of_kind(kc_object_api_version(object), kc_object_kind(object));
    assert(message);
    kc_auto(kc_view) *view = kc_view_of(object);
    check_object(message, kc_view_root(view));
    check_encoding(object, message, bytes);
}

static void put_field(kc_buf *out, char tag, kc_str bytes)
{
    size_t n = bytes.n;
    kc_buf_putc(out, tag);
    for (; n >= 0x80; n >>= 7)
        kc_buf_putc(out, (char)(n | 0x80));
    kc_buf_putc(out, (char)n);
    kc_buf_append(out, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const kc_str bytes = kc_str_of((const char *)data, size);
    kc_scoped(kc_buf) body = {0};
    check(bytes, (kc__protobuf_opts){0});
    if (size) {
        size_t i = data[0] % KC_COUNT(kinds);
        kc__protobuf_opts opts = {.api_version = kc_cstr(kinds[i].api_version),
                                  .kind = kc_cstr(kinds[i].kind)};
        kc_buf_append(&body, kc_str_of("k8s\0", 4));
        put_field(&body, 0x12, kc_str_sub(bytes, 1, size));
        check(kc_buf_str(&body), opts);
    }
    return 0;
}
