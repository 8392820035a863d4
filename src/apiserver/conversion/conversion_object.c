/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conversion_object.c: one object that a conversion webhook has returned.
 *
 * A webhook may change everything but the identity of an object, and of its metadata only labels
 * and annotations. All other metadata is taken from the object that was sent, whatever the webhook
 * returned: a conversion cannot drop a finalizer or an owner.
 */
#include "apiserver/conversion/conversion_review.h"

#include "apiserver/call/go_json.h"
#include "kc/diff.h"
#include "kc/edit.h"
#include "kc/field_error.h"
#include "kc/json.h"
#include "kc/metadata_validation.h"

/* ---- errors ---- */

/* The name of a value's type in Go. */
static const char *go_type_of(const kc_value *value)
{
    switch (kc_value_type(value)) {
    case KC_JSON_BOOL: return "bool";
    case KC_JSON_INT: return "int64";
    case KC_JSON_FLOAT: return "float64";
    case KC_JSON_STRING: return "string";
    case KC_JSON_ARRAY: return "[]interface {}";
    case KC_JSON_OBJECT: return "map[string]interface {}";
    default: return "<nil>";
    }
}

/* "conversion webhook for KIND returned WHAT: ERROR" */
static int wrap_object_error(const kc_object *original, const char *what, kc_error *err)
{
    kc_scoped(kc_buf) kind = {0};
    kc__conversion_write_kind(&kind, original);
    return kc_error_wrap(err, "conversion webhook for %s returned %s", kc_buf_cstr(&kind), what);
}

/* Several errors as Go's aggregate: "[a, b]". */
static int report_field_errors(const kc_field_errors *errors, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const bool several = errors->list.n > 1;
    kc_buf_puts(&text, several ? "[" : "");
    for (size_t i = 0; i < errors->list.n; i++)
        kc_buf_printf(&text, "%s%s: %s", i ? ", " : "", errors->list.items[i].field,
                      errors->list.items[i].body);
    kc_buf_puts(&text, several ? "]" : "");
    return kc_error_set(err, KC_UNKNOWN, "%s", kc_buf_cstr(&text));
}

/* ---- identity ---- */

static int report_no_kind(const kc_value *converted, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, converted);
    return kc_error_set(err, KC_UNKNOWN, "Object 'Kind' is missing in '%s'", kc_buf_cstr(&text));
}

static int check_is_object(const kc_value *converted, kc_error *err)
{
    if (kc_value_type(converted) == KC_JSON_NULL)
        return kc_error_set(err, KC_UNKNOWN, "unexpected end of JSON input");
    if (kc_value_type(converted) != KC_JSON_OBJECT)
        return kc_error_set(
            err, KC_UNKNOWN,
            "json: cannot unmarshal %s into Go value of type map[string]interface {}",
            kc__rest_go_json_type(converted));
    return kc_value_as_str(kc_value_get(converted, "kind")).n ? 0 : report_no_kind(converted, err);
}

static int check_converted_kind(const kc_value *converted, const kc_object *original,
                                const char *desired, kc_error *err)
{
    const kc_str version = kc_value_as_str(kc_value_get(converted, "apiVersion"));
    const kc_str kind = kc_value_as_str(kc_value_get(converted, "kind"));
    if (!kc_str_is(version, desired))
        kc_error_set(err, KC_UNKNOWN, "invalid groupVersion (expected %s, received %.*s)", desired,
                     KC_ARG(version));
    else if (!kc_str_eq(kind, kc_object_kind(original)))
        kc_error_set(err, KC_UNKNOWN, "invalid kind (expected %.*s, received %.*s)",
                     KC_ARG(kc_object_kind(original)), KC_ARG(kind));
    else
        return 0;
    return wrap_object_error(original, "invalid object at index 0", err);
}

static int check_same_member(const kc_value *metadata, const char *name, const char *shown,
                             kc_str original, kc_error *err)
{
    const kc_str converted = kc_value_as_str(kc_value_get(metadata, name));
    if (kc_str_eq(converted, original) || (!converted.n && !original.n))
        return 0;
    return kc_error_set(err, KC_UNKNOWN, "must have the same %s: %.*s != %.*s", shown,
                        KC_ARG(original), KC_ARG(converted));
}

static int check_same_object(const kc_value *converted, const kc_object *original, kc_error *err)
{
    const kc_value *metadata = kc_value_get(converted, "metadata");
    if (check_same_member(metadata, "name", "name", kc_object_name(original), err) < 0 ||
        check_same_member(metadata, "namespace", "namespace", kc_object_namespace(original), err) <
            0 ||
        check_same_member(metadata, "uid", "UID", kc_object_uid(original), err) < 0)
        return wrap_object_error(original, "invalid object", err);
    return 0;
}

/* ---- labels and annotations ---- */

/* Values must be strings; the map must be valid if it differs from the original one. */
static int check_map(const char *name, const kc_value *converted, const kc_value *original,
                     kc_error *err)
{
    if (kc_value_type(converted) != KC_JSON_OBJECT)
        return kc_error_set(err, KC_UNKNOWN, "invalid metadata.%s of type %s in converted object",
                            name, go_type_of(converted));
    kc_value_each_member (converted, key, value)
        if (kc_value_type(value) != KC_JSON_STRING)
            return kc_error_set(err, KC_UNKNOWN,
                                "metadata.%s[%.*s] must be a string, but is %s in converted object",
                                name, KC_ARG(key), go_type_of(value));
    const bool changed = !kc_value_equal(converted, original, NULL);
    kc_scoped(kc_field_errors) errors = {0};
    if (changed && !strcmp(name, "labels"))
        kc_validate_labels(&errors, "metadata.labels", converted);
    else if (changed) /* Kubernetes names the field in the singular. */
        kc_validate_annotations(&errors, "metadata.annotation", converted);
    return errors.list.n ? report_field_errors(&errors, err) : 0;
}

/* Replaces a map of the restored metadata by the converted one, or removes it. */
static int take_map(kc_edit *edit, kc_node *metadata, const char *name, const kc_value *converted,
                    const kc_value *original, kc_error *err)
{
    const kc_value *map = kc_value_get(converted, name);
    if (kc_value_type(map) == KC_JSON_ABSENT || kc_value_type(map) == KC_JSON_NULL) {
        kc_node_remove(metadata, kc_cstr(name));
        return 0;
    }
    if (check_map(name, map, kc_value_get(original, name), err) < 0)
        return kc_error_result(err);
    kc_node_set(edit, metadata, kc_cstr(name), kc_node_from_value(edit, map));
    return 0;
}

static int check_has_metadata(const kc_value *metadata, kc_error *err)
{
    if (kc_value_type(metadata) == KC_JSON_ABSENT)
        return kc_error_set(err, KC_UNKNOWN, "missing metadata in converted object");
    if (kc_value_type(metadata) != KC_JSON_OBJECT)
        return kc_error_set(err, KC_UNKNOWN, "invalid metadata of type %s in converted object",
                            go_type_of(metadata));
    return 0;
}

/* Gives the edit the original metadata with the converted labels and annotations. */
static int restore_metadata(kc_edit *edit, const kc_value *converted, const kc_object *original,
                            kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(original);
    const kc_value *was = kc_value_get(kc_view_root(view), "metadata");
    const kc_value *metadata = kc_value_get(converted, "metadata");
    kc_node *restored = kc_node_from_value(edit, was);
    if (check_has_metadata(metadata, err) < 0 ||
        take_map(edit, restored, "labels", metadata, was, err) < 0 ||
        take_map(edit, restored, "annotations", metadata, was, err) < 0)
        return wrap_object_error(original, "invalid metadata", err);
    kc_node_set(edit, kc_edit_root(edit), KC_STR("metadata"), restored);
    return 0;
}

kc_object *kc__conversion_object_read(const kc_value *converted, const kc_object *original,
                                      const char *desired, kc_error *err)
{
    if (check_is_object(converted, err) < 0 ||
        check_converted_kind(converted, original, desired, err) < 0 ||
        check_same_object(converted, original, err) < 0)
        return NULL;
    kc_auto(kc_edit) *edit = kc_edit_of_value(converted);
    if (restore_metadata(edit, converted, original, err) < 0)
        return NULL;
    return kc_edit_freeze(edit, err);
}
