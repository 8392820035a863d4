/* SPDX-License-Identifier: Apache-2.0 */
/*
 * applied.c: extracts what a manager applied from an object, as apimachinery's ExtractInto does.
 *
 *     object ──▶ entry of the manager ──▶ its set of fields, leaves only ──▶ their values
 *
 * The result is the apply configuration that would make the manager own the same fields again: a
 * program changes it and applies it. Only an entry of operation Apply counts. An object without
 * one gives a configuration without fields: the manager owns nothing.
 */
#include "object/fields/fields_managed.h"

#include "kc/edit.h"
#include "kc/kind.h"
#include "kc/meta.h"

static bool is_applied_by(const kc_value *entry, kc_str manager, kc_str subresource)
{
    return kc_str_eq(kc_value_as_str(kc_value_get(entry, "manager")), manager) &&
           kc_str_is(kc_value_as_str(kc_value_get(entry, "operation")), "Apply") &&
           kc_str_eq(kc_value_as_str(kc_value_get(entry, "subresource")), subresource);
}

/* The first entry of the manager, or NULL. */
static const kc_value *entry_of_applier(const kc_value *object, kc_str manager, kc_str subresource)
{
    const kc_value *metadata = kc_value_get(object, "metadata");
    kc_value_each_item (kc_value_get(metadata, "managedFields"), entry)
        if (is_applied_by(entry, manager, subresource))
            return entry;
    return NULL;
}

/* The values of the entry's fields, in the arena; NULL with an error. */
static const kc_value *extract_entry(kc_arena *arena, const kc__fields_type *type,
                                     const kc_value *object, const kc_value *entry, kc_str manager,
                                     kc_error *err)
{
    const kc__fields_set *set = NULL;
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, kc_value_get(entry, "fieldsV1"));
    const kc_str fields = kc_arena_str(arena, kc_buf_str(&text));
    if (kc__fields_v1_read(arena, fields, &set, NULL, err) < 0) {
        kc_error_wrap(err, "read the fields of manager \"%.*s\"", KC_ARG(manager));
        return NULL;
    }
    const kc_value *value = kc__fields_extract(arena, type, object, set);
    if (kc_value_type(value) == KC_JSON_OBJECT)
        return value;
    kc_error_set(err, KC_INVALID, "the object has none of the fields of manager \"%.*s\"",
                 KC_ARG(manager));
    return NULL;
}

/* An apply configuration states which object it is of. */
static kc_object *with_identity(const kc_value *fields, const kc_object *object, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_new();
    if (fields)
        kc_edit_set_root(edit, kc_node_from_value(edit, fields));
    kc_node *root = kc_edit_root(edit);
    kc_node_set(edit, root, KC_STR("apiVersion"), kc_node_str(edit, kc_object_api_version(object)));
    kc_node_set(edit, root, KC_STR("kind"), kc_node_str(edit, kc_object_kind(object)));
    kc_edit_set_name(edit, kc_object_name(object));
    kc_edit_set_namespace(edit, kc_object_namespace(object));
    return kc_edit_freeze(edit, err);
}

kc_object *kc__fields_extract_applied(const kc__fields_type *type, const kc_object *object,
                                      kc_str manager, kc_str subresource, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view), *fields = NULL;
    if (kc__fields_validate(type, root, false, err) < 0) {
        kc_error_wrap(err, "the object does not match its schema");
        return NULL;
    }
    const kc_value *entry = entry_of_applier(root, manager, subresource);
    if (entry) {
        fields = extract_entry(&arena, type, root, entry, manager, err);
        if (!fields)
            return NULL;
    }
    return with_identity(fields, object, err);
}
