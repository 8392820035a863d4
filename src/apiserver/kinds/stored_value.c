/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_value.c: values of objects as Kubernetes v1.34 has them in etcd.
 *
 * Versions. Where the version in etcd has the same fields as the one in memory, only its name
 * changes (`same_fields`); the table in conversion.c converts the others. To support another stored
 * version: add a row to one of them.
 *
 * An object that has no protobuf form, because a value does not fit its type, is written as JSON:
 * kube-apiserver recognizes the form of each value by its first bytes.
 */
#include "apiserver/kinds/stored_value.h"

#include "apiserver/codec/protobuf.h"
#include "apiserver/codec/typed.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/key_layout.h"
#include "apiserver/storage/storage.h"
#include "apiserver/storage/stored_key.h"
#include "kc/edit.h"
#include "object/gofmt/go_json.h"

/* Versions of a kind whose fields equal those of the version in memory. */
static const struct {
    const char *api_version, *kind;
} same_fields[] = {
    {"admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicy"},
    {"admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy"},
    {"admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicyBinding"},
    {"networking.k8s.io/v1beta1", "IPAddress"},
    {"networking.k8s.io/v1beta1", "ServiceCIDR"},
    {"resource.k8s.io/v1beta2", "DeviceClass"},
    {"resource.k8s.io/v1beta2", "ResourceClaim"},
    {"resource.k8s.io/v1beta2", "ResourceClaimTemplate"},
    {"resource.k8s.io/v1beta2", "ResourceSlice"},
    {"storage.k8s.io/v1beta1", "CSIStorageCapacity"},
    {"storage.k8s.io/v1beta1", "VolumeAttributesClass"},
};

static const kc__resource custom_resource = {0};

static bool is_custom(const kc__resource *kind)
{
    return kind == &custom_resource;
}

/* ---- kinds ---- */

/* The version in memory is the version of the row. */
static bool is_stored_version(const kc__resource *r)
{
    kc_str version = kc_cstr(r->storage_api_version);
    const kc_str group =
        strchr(r->storage_api_version, '/') ? kc_str_cut(&version, '/') : KC_STR("");
    return kc_str_is(group, r->group) && kc_str_is(version, r->version);
}

const kc__resource *kc__resource_value_kind(kc_str prefix)
{
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        if (r->key_prefix && kc_str_is(prefix, r->key_prefix) && is_stored_version(r))
            return r;
    }
    kc_str rest = kc_str_sub(prefix, strlen(KC__STORAGE_KEY_ROOT), prefix.n);
    const kc_str group = kc_str_cut(&rest, '/');
    const bool custom = kc_str_find(group, '.') >= 0 && !kc__resource_key_group_is_builtin(group);
    return custom ? &custom_resource : NULL;
}

static bool has_same_fields(kc_str api_version, kc_str kind)
{
    for (size_t i = 0; i < KC_COUNT(same_fields); i++)
        if (kc_str_is(api_version, same_fields[i].api_version) &&
            kc_str_is(kind, same_fields[i].kind))
            return true;
    return false;
}

/* The type of a version: the published one, or that of the version in memory if it is the same. */
static const kc__type_message *type_of_version(kc_str api_version, kc_str kind, void *user)
{
    const kc__resource *resource = user;
    const bool same = resource && resource->kind && kc_str_is(kind, resource->kind) &&
                      has_same_fields(api_version, kind);
    return same ? kc__crd_type_find(kc_cstr(resource->type_name))
                : kc__crd_type_of_kind(api_version, kind);
}

/* ---- decoding ---- */

/* Names the kind of the claims in a StatefulSet, which protobuf does not have. */
static bool name_claims(kc_edit *edit, const kc_node *root)
{
    const kc_node *spec = kc_node_get(root, KC_STR("spec"));
    const kc_node *claims = kc_node_get(spec, KC_STR("volumeClaimTemplates"));
    kc_node_each_item (claims, claim) {
        kc_node_set(edit, claim, KC_STR("kind"),
                    kc_node_str(edit, KC_STR("PersistentVolumeClaim")));
        kc_node_set(edit, claim, KC_STR("apiVersion"), kc_node_str(edit, KC_STR("v1")));
    }
    return kc_node_len(claims) > 0;
}

/* A Job without labels has those of its template, some of which are set after this default. */
static bool label_job(kc_edit *edit, const kc_node *root)
{
    kc_node *metadata = kc_node_get(root, KC_STR("metadata"));
    const kc_node *template = kc_node_get(kc_node_get(root, KC_STR("spec")), KC_STR("template"));
    const kc_node *labels =
        kc_node_get(kc_node_get(template, KC_STR("metadata")), KC_STR("labels"));
    if (kc_node_len(kc_node_get(metadata, KC_STR("labels"))) || !kc_node_len(labels))
        return false;
    kc_node_set(edit, metadata, KC_STR("labels"), kc_node_clone(edit, labels));
    return true;
}

/* Kubernetes completes every object that it reads. Its values are complete, except for these. */
static const struct {
    const char *kind, *type;
    bool (*complete)(kc_edit *edit, const kc_node *root); /* False: nothing to do. */
} incomplete[] = {
    {"StatefulSet", "io.k8s.api.apps.v1.StatefulSet", name_claims},
    {"Job", "io.k8s.api.batch.v1.Job", label_job},
};

static kc_object *complete_object(kc_object *object, kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(incomplete); i++) {
        if (!kc_str_is(kc_object_kind(object), incomplete[i].kind))
            continue;
        kc_auto(kc_object) *old = object;
        kc_auto(kc_edit) *edit = kc_edit_of(object);
        if (!incomplete[i].complete(edit, kc_edit_root(edit)))
            return kc_take(old);
        kc_auto(kc_object) *changed = kc_edit_freeze(edit, err);
        return changed ? kc__typed_decode(kc__type_lookup(kc_cstr(incomplete[i].type)), changed,
                                          NULL, err)
                       : NULL;
    }
    return object;
}

static kc_object *parse_value(const kc__resource *kind, kc_str value, bool *ret_lossy,
                              kc_error *err)
{
    if (!kc__protobuf_recognizes(value))
        return kc_object_parse(value, &(kc_json_opts){.max_bytes = KC__STORAGE_MAX_VALUE}, err);
    const kc__protobuf_opts opts = {.max_bytes = KC__STORAGE_MAX_VALUE,
                                    .max_json_bytes = KC__STORAGE_MAX_VALUE,
                                    .type_of = type_of_version,
                                    .user = (void *)kind,
                                    .ret_has_unknown = ret_lossy};
    kc_object *object = kc__protobuf_decode(value, &opts, err);
    return object ? complete_object(object, err) : NULL;
}

/* Converts an object of another version of the kind to the version in memory. */
static kc_object *to_memory_version(const kc__resource *kind, const kc_object *object,
                                    kc_error *err)
{
    const kc_str version = kc_object_api_version(object), own = kc_cstr(kind->storage_api_version);
    const kc__type_message *type = NULL;
    kc_scoped(kc_error) why = {0};
    if (has_same_fields(version, kc_object_kind(object)))
        return kc_object_with_api_version(object, own);
    kc_object *converted = kc__builtin_to_version(kind, object, own, &type, &why);
    if (!converted && why.reason)
        kc_error_move(err, &why);
    else if (!converted)
        kc_error_set(err, KC_INVALID, "the stored version %.*s of %s is not supported",
                     KC_ARG(version), kind->plural);
    return converted;
}

kc_object *kc__resource_value_decode(const kc__resource *kind, kc_str value, bool *ret_lossy,
                                     kc_error *err)
{
    kc_auto(kc_object) *object = parse_value(kind, value, ret_lossy, err);
    if (!object || !kind || is_custom(kind) ||
        kc_str_is(kc_object_api_version(object), kind->storage_api_version))
        return kc_take(object);
    return to_memory_version(kind, object, err);
}

/* ---- encoding ---- */

static const char *etcd_version(const kc__resource *kind)
{
    return kind->etcd_api_version ? kind->etcd_api_version : kind->storage_api_version;
}

/* In the version that Kubernetes stores. */
static kc_object *to_etcd_version(const kc__resource *kind, const kc_object *object, kc_error *err)
{
    const kc_str version = kc_cstr(etcd_version(kind));
    const kc__type_message *type = NULL;
    if (kc_str_eq(kc_object_api_version(object), version))
        return kc_object_ref(object);
    if (has_same_fields(version, kc_object_kind(object)))
        return kc_object_with_api_version(object, version);
    return kc__builtin_to_version(kind, object, version, &type, err);
}

/* JSON as Go writes it, with a newline; without the resource version. */
static int encode_as_json(const kc_object *object, bool sorted, kc_buf *out, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node_remove(kc_node_get(kc_edit_root(edit), KC_STR("metadata")), KC_STR("resourceVersion"));
    kc_auto(kc_view) *view = sorted ? kc_edit_view(edit, err) : NULL;
    if (sorted && !view)
        return kc_error_result(err);
    if (sorted) {
        kc__go_json(out, kc_view_root(view));
    } else {
        kc_scoped(kc_buf) text = {0};
        kc_node_write(&text, kc_edit_root(edit));
        kc__go_json_escape(out, kc_buf_str(&text));
    }
    kc_buf_putc(out, '\n');
    return 0;
}

static int encode_as_protobuf(const kc__type_message *type, kc_str version, const kc_object *object,
                              kc_str older, kc_buf *out, kc_error *err)
{
    kc_scoped(kc_buf) fresh = {0};
    if (!older.n)
        return kc__protobuf_encode(object, type, version, out, err);
    if (kc__protobuf_encode(object, type, version, &fresh, err) < 0)
        return kc_error_result(err);
    if (kc__protobuf_graft(type, kc_buf_str(&fresh), older, out, NULL) < 0)
        kc_buf_append(out, kc_buf_str(&fresh)); /* The older value is damaged. */
    return 0;
}

/* Kubernetes serves the others from servers of their own, which store JSON. */
static bool is_stored_as_protobuf(const kc__type_message *type)
{
    return type && kc_str_starts(type->name, KC_STR("io.k8s.api."));
}

int kc__resource_value_encode(const kc__resource *kind, const kc_object *object, kc_str older,
                              kc_buf *out, kc_error *err)
{
    if (kind && is_custom(kind))
        return encode_as_json(object, true, out, err);
    kc_auto(kc_object) *stored = kind ? to_etcd_version(kind, object, err) : kc_object_ref(object);
    if (!stored)
        return kc_error_result(err);
    const kc_str version = kc_object_api_version(stored);
    const kc__type_message *type = type_of_version(version, kc_object_kind(stored), (void *)kind);
    if (is_stored_as_protobuf(type) &&
        encode_as_protobuf(type, version, stored, older, out, NULL) == 0)
        return 0;
    return encode_as_json(stored, false, out, err);
}
