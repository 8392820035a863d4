/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_key.c: the key of an object, and whether a stored object belongs to its key.
 *
 * A stored object differs from what a client sends to create one: the server has set its uid and
 * creationTimestamp, and its type has been completed. An object without them is refused here, since
 * it could never be told apart from a later object of the same name; it can be created by the API.
 */
#include "apiserver/codec/typed.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/maintenance/stored_kinds.h"
#include "apiserver/storage/stored_key.h"

static const kc__maintenance_kind *kind_of(const kc__maintenance_kinds *kinds,
                                           const kc_object *object, kc_error *err)
{
    const kc_str version = kc_object_api_version(object), kind = kc_object_kind(object);
    kc_scoped(kc_buf) name = {0};
    kc_buf_printf(&name, "%.*s %.*s", KC_ARG(version), KC_ARG(kind));
    const kc__maintenance_kind *found = kc_map_get(&kinds->by_name, kc_buf_str(&name));
    if (!found && (!version.n || !kind.n))
        kc_error_set(err, KC_INVALID, "the object has no apiVersion or no kind");
    else if (!found)
        kc_error_set(err, KC_INVALID,
                     "no stored kind is \"%.*s\" of \"%.*s\": another version is stored, or its "
                     "CustomResourceDefinition is missing",
                     KC_ARG(kind), KC_ARG(version));
    return found;
}

static bool is_segment(kc_str text)
{
    return text.n && kc_str_find(text, '/') < 0 && kc_str_find(text, '\0') < 0 &&
           !kc_str_is(text, ".") && !kc_str_is(text, "..");
}

static int check_names(const kc__maintenance_kind *kind, const kc_object *object, kc_error *err)
{
    const kc_str namespace = kc_object_namespace(object);
    if (!is_segment(kc_object_name(object)))
        return kc_error_set(err, KC_INVALID, "metadata.name is missing or invalid");
    if (kind->namespaced && !is_segment(namespace))
        return kc_error_set(err, KC_INVALID, "metadata.namespace is missing or invalid");
    if (!kind->namespaced && namespace.n)
        return kc_error_set(err, KC_INVALID, "metadata.namespace is set, but %.*s have none",
                            KC_ARG(kind->plural));
    return 0;
}

static int check_server_fields(const kc_object *object, kc_error *err)
{
    const char *missing = !kc_object_uid(object).n                  ? "metadata.uid"
                          : !kc_object_creation_timestamp(object).n ? "metadata.creationTimestamp"
                                                                    : NULL;
    if (!missing)
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "%s is missing: the object was not exported from a store; create it "
                        "through the API",
                        missing);
}

int kc__maintenance_key_of(const kc__maintenance_kinds *kinds, const kc_object *object, kc_buf *out,
                           const kc__maintenance_kind **ret_kind, kc_error *err)
{
    const kc__maintenance_kind *kind = kind_of(kinds, object, err);
    if (!kind || check_names(kind, object, err) < 0 || check_server_fields(object, err) < 0)
        return kc_error_result(err);
    kc_buf_append(out, kind->prefix);
    if (kind->namespaced) {
        kc_buf_append(out, kc_object_namespace(object));
        kc_buf_putc(out, '/');
    }
    kc_buf_append(out, kc_object_name(object));
    *ret_kind = kind;
    return 0;
}

/* ---- decoding ---- */

/* The type of CustomResourceDefinitions has a decoder of its own. */
static kc_object *decode_typed(const kc__maintenance_kind *kind, const kc_object *object,
                               kc_paths *unknown, kc_error *err)
{
    if (kind->is_definition)
        return kc__crd_decode(object, unknown, err);
    return kind->type ? kc__typed_decode(kind->type, object, unknown, err) : kc_object_ref(object);
}

kc_object *kc__maintenance_stored_form(const kc__maintenance_kind *kind, const kc_object *object,
                                       kc_error *err)
{
    kc_scoped(kc_paths) unknown = {0};
    kc_auto(kc_object) *typed = decode_typed(kind, object, &unknown, err);
    if (!typed)
        return NULL;
    if (unknown.n) {
        kc_error_set(err, KC_INVALID, "unknown field \"%s\"", unknown.items[0]);
        return NULL;
    }
    /* Decoding drops a time of zero. */
    return check_server_fields(typed, err) < 0 ? NULL : kc_take(typed);
}

int kc__maintenance_check_object(const kc__maintenance_kinds *kinds, kc_str key,
                                 const kc_object *object, kc_error *err)
{
    kc_scoped(kc_buf) own = {0};
    const kc__maintenance_kind *kind = NULL;
    if (kc__maintenance_key_of(kinds, object, &own, &kind, err) < 0)
        return kc_error_result(err);
    if (!kc_str_eq(kc_buf_str(&own), key))
        return kc_error_set(err, KC_INVALID, "the object belongs to the key %.*s",
                            KC_ARG(kc_buf_str(&own)));
    kc_auto(kc_object) *typed = decode_typed(kind, object, NULL, err);
    return typed ? 0 : kc_error_result(err);
}
