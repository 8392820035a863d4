/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes may be refused, none may crash. What is accepted is an object of the kind the envelope
 * names, and all its fields are in the definitions, with the types those give them. Bytes are tried
 * as a body, and as the message within one, of a kind that the first byte chooses.
 */
#include "fuzzing.h"

#include "apiserver/crd/crd_type.h"
#include "apiserver/kinds/protobuf.h"

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

static void check_object(const kc__message *message, const kc_value *object);

/* A schema, or what may stand in its place. */
static void check_either(const kc__field *field, const kc_value *value)
{
    kc_type type = kc_type_of(value);
    if (type == KC_OBJECT)
        check_object(field->message, value);
    else
        assert(type == KC_ARRAY || type == KC_BOOL);
}

static void check_single(const kc__field *field, const kc_value *value)
{
    kc_type type = kc_type_of(value);
    if (type == KC_NULL)
        return;
    switch (field->kind) {
    case KC__FIELD_BOOL: assert(type == KC_BOOL); break;
    case KC__FIELD_INT32:
    case KC__FIELD_INT64: assert(type == KC_INT); break;
    case KC__FIELD_MESSAGE: check_object(field->message, value); break;
    case KC__FIELD_LIST: assert(type == KC_ARRAY); break;
    case KC__FIELD_INT_OR_STRING: assert(type == KC_INT || type == KC_STRING); break;
    case KC__FIELD_FLOAT:
    case KC__FIELD_DOUBLE: assert(type == KC_INT || type == KC_FLOAT); break;
    case KC__FIELD_EITHER: check_either(field, value); break;
    case KC__FIELD_ANY:
    case KC__FIELD_RAW:
    case KC__FIELD_FIELDS_V1: break;
    default: assert(type == KC_STRING); break;
    }
}

static void check_field(const kc__field *field, const kc_value *value)
{
    if (kc_type_of(value) == KC_NULL) {
        assert(field->shape != KC__SINGLE || (field->marks & KC__POINTER) ||
               field->kind >= KC__FIELD_TIME || field->kind == KC__FIELD_BYTES);
    } else if (field->shape == KC__REPEATED) {
        assert(kc_type_of(value) == KC_ARRAY && kc_len(value) > 0);
        kc_items (value, item)
            check_single(field, item);
    } else if (field->shape == KC__MAPPED) {
        assert(kc_type_of(value) == KC_OBJECT && kc_len(value) > 0);
        kc_members (value, name, member) {
            (void)name;
            check_single(field, member);
        }
    } else {
        check_single(field, value);
    }
}

static void check_object(const kc__message *message, const kc_value *object)
{
    assert(kc_type_of(object) == KC_OBJECT);
    kc_members (object, name, value) {
        const kc__field *field = kc__message_field(message, name);
        assert(field);
        check_field(field, value);
    }
}

static const kc__message *type_of(kc_str api_version, kc_str kind, void *user)
{
    (void)user;
    return kc__type_of_kind(api_version, kind);
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
    const kc__message *message =
        kc__type_of_kind(kc_object_api_version(object), kc_object_kind(object));
    assert(message);
    kc_auto(kc_view) *view = kc_view_of(object);
    check_object(message, kc_view_root(view));
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
