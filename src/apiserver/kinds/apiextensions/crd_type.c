/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_type.c: decodes a CustomResourceDefinition and sets its defaults.
 *
 * Kubernetes holds CRDs in an internal form, between the versions of its API. Here one form is
 * enough, that of v1: v1beta1 is converted on the way in (crd_beta.c). Every change is made in an
 * edit, and the result is decoded as the type again, which sorts the fields in Go's order.
 */
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/codec/typed.h"
#include "apiserver/kinds/apiextensions/crd_internal.h"
#include "kc/ascii.h"

kc_object *kc__crd_freeze(const kc_edit *edit, kc_error *err)
{
    kc_auto(kc_object) *frozen = kc_edit_freeze(edit, err);
    return frozen ? kc__typed_decode(kc__crd_type, frozen, NULL, err) : NULL;
}

static kc_object *decode_beta(const kc_object *input, kc_paths *unknown, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(input);
    kc__crd_from_beta(edit);
    kc_auto(kc_object) *converted = kc_edit_freeze(edit, err);
    return converted ? kc__typed_decode(kc__crd_type, converted, unknown, err) : NULL;
}

kc_object *kc__crd_decode(const kc_object *input, kc_paths *unknown, kc_error *err)
{
    if (kc_str_is(kc_object_api_version(input), KC__CRD_BETA))
        return decode_beta(input, unknown, err);
    return kc__typed_decode(kc__crd_type, input, unknown, err);
}

/* ---- defaults ---- */

static bool is_set(const kc_node *node)
{
    return kc_node_as_str(node).n > 0;
}

static void default_names(kc_edit *edit, kc_node *names)
{
    kc_str kind = kc_node_as_str(kc_node_get(names, KC_STR("kind")));
    if (!kind.n)
        return;
    kc_scoped(kc_buf) text = {0};
    if (!is_set(kc_node_get(names, KC_STR("singular")))) {
        for (size_t i = 0; i < kind.n; i++)
            kc_buf_putc(&text, kc_lower(kind.p[i]));
        kc_node_set(edit, names, KC_STR("singular"), kc_node_str(edit, kc_buf_str(&text)));
    }
    if (!is_set(kc_node_get(names, KC_STR("listKind")))) {
        kc_buf_clear(&text);
        kc_buf_append(&text, kind);
        kc_buf_puts(&text, "List");
        kc_node_set(edit, names, KC_STR("listKind"), kc_node_str(edit, kc_buf_str(&text)));
    }
}

static void default_conversion(kc_edit *edit, kc_node *spec)
{
    kc_node *conversion = kc_node_get(spec, KC_STR("conversion"));
    if (kc_node_type(conversion) != KC_JSON_OBJECT) {
        conversion = kc_node_object(edit);
        kc_node_set(edit, conversion, KC_STR("strategy"), kc_node_str(edit, KC_STR("None")));
        kc_node_set(edit, spec, KC_STR("conversion"), conversion);
    }
    kc_node *client =
        kc_node_get(kc_node_get(conversion, KC_STR("webhook")), KC_STR("clientConfig"));
    kc_node *service = kc_node_get(client, KC_STR("service"));
    kc_json_type port = kc_node_type(kc_node_get(service, KC_STR("port")));
    if (kc_node_type(service) == KC_JSON_OBJECT && (port == KC_JSON_ABSENT || port == KC_JSON_NULL))
        kc_node_set(edit, service, KC_STR("port"), kc_node_i64(edit, 443));
}

void kc__crd_default(kc_edit *edit)
{
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    if (kc_node_type(spec) != KC_JSON_OBJECT)
        return;
    default_names(edit, kc_node_get(spec, KC_STR("names")));
    default_conversion(edit, spec);
}

/* ---- preparation ---- */

/* Adds the storage version to status.storedVersions. */
static void add_stored_version(kc_edit *edit, kc_node *root)
{
    kc_str storage = {0};
    kc_node_each_item (kc_node_get(kc_node_get(root, KC_STR("spec")), KC_STR("versions")), version)
        if (!storage.p && kc_node_as_bool(kc_node_get(version, KC_STR("storage")), false))
            storage = kc_node_as_str(kc_node_get(version, KC_STR("name")));
    if (!storage.p)
        return;
    kc_node *status = kc_node_ensure_object(edit, root, KC_STR("status"));
    kc_node *stored = kc_node_get(status, KC_STR("storedVersions"));
    if (kc_node_type(stored) != KC_JSON_ARRAY) {
        stored = kc_node_array(edit);
        kc_node_set(edit, status, KC_STR("storedVersions"), stored);
    }
    kc_node_each_item (stored, name)
        if (kc_str_eq(kc_node_as_str(name), storage))
            return;
    kc_node_append(stored, kc_node_str(edit, storage));
}

void kc__crd_prepare(kc_edit *edit)
{
    kc_node *root = kc_edit_root(edit);
    kc__crd_default(edit);
    kc_node_remove(root, KC_STR("status"));
    add_stored_version(edit, root);
}

void kc__crd_prepare_update(kc_edit *edit, const kc_value *old, const char *subresource)
{
    kc_node *root = kc_edit_root(edit);
    const char *kept = subresource ? "spec" : "status";
    const kc_value *before = kc_value_get(old, kept);
    if (before)
        kc_node_set(edit, root, kc_cstr(kept), kc_node_from_value(edit, before));
    else
        kc_node_remove(root, kc_cstr(kept));
    kc__crd_default(edit);
    if (!subresource)
        add_stored_version(edit, root);
}

const kc__type_message *kc__crd_type_find(kc_str name)
{
    const kc__type_message *const own[] = {kc__crd_type, kc__crd_list_type, kc__crd_beta_type,
                                           kc__crd_beta_list_type};
    for (size_t i = 0; i < KC_COUNT(own); i++)
        if (kc_str_eq(name, own[i]->name))
            return own[i];
    return kc__type_lookup(name);
}

const kc__type_message *kc__crd_type_of_kind(kc_str api_version, kc_str kind)
{
    if (kc_str_is(kind, KC__CRD_KIND) && kc_str_is(api_version, KC__CRD_VERSION))
        return kc__crd_type;
    if (kc_str_is(kind, KC__CRD_KIND) && kc_str_is(api_version, KC__CRD_BETA))
        return kc__crd_beta_type;
    return kc__type_lookup_kind(api_version, kind);
}
