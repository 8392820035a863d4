/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom_stored_metadata.c: metadata of custom objects that is stored as an apply merged it.
 *
 * Kubernetes decodes the body of a request into an ObjectMeta, and a stored object too. The result
 * of an apply is not decoded before it is stored. So `labels: {}` or `finalizers: null` of a
 * configuration is stored, and dropped when the object is read:
 *
 *     apply  ─▶ {"name":"a","labels":{}} ─▶ store ─▶ {"name":"a"} ─▶ every reader
 *
 * No reader sees these members, but whether a write changes the stored bytes, and thereby the
 * resourceVersion, depends on them (request/commit.c). They are kept for this purpose only.
 *
 * Members that every write sets are not kept.
 */
#include "apiserver/crd/custom_internal.h"

#include "kc/diff.h"
#include "object/fields/fields_managed.h"
#include "object/model/canonical.h"

/* ---- finding them ---- */

static bool is_set_by_every_write(kc_str name)
{
    static const char *const names[] = {
        "name",       "namespace",         "uid",      "resourceVersion",
        "generation", "creationTimestamp", "selfLink", "managedFields"};
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (kc_str_is(name, names[i]))
            return true;
    return false;
}

bool kc__custom_is_coerced(const kc_value *metadata)
{
    return kc__value_has_null(metadata) || kc__value_has_empty(metadata);
}

static bool is_empty_text(const kc_value *value)
{
    return kc_value_type(value) == KC_JSON_STRING && !kc_value_as_str(value).n;
}

void kc__custom_find_merged_metadata(const kc_value *metadata, kc_buf *out)
{
    const size_t start = out->n;
    kc_value_each_member (metadata, name, value) {
        if (is_set_by_every_write(name) || !(kc__custom_is_coerced(value) || is_empty_text(value)))
            continue;
        kc_buf_putc(out, out->n > start ? ',' : '{');
        kc_json_quote(out, name);
        kc_buf_putc(out, ':');
        kc_json_write(out, value);
    }
    if (out->n > start)
        kc_buf_putc(out, '}');
}

/* ---- storing them ---- */

/* An object with other metadata, and its own managedFields. */
static kc_object *replace_metadata(const kc_object *object, kc_str metadata, kc_error *err)
{
    return kc__object_with_metadata(object, metadata, kc_object_managed_fields_json(object), err);
}

/* Adds the members of `merged` to `metadata`, unless a later phase has changed what they become. */
static void add_merged_members(kc_edit *edit, const kc_value *metadata, const kc_value *merged,
                               const kc_value *coerced)
{
    kc_value_each_member (merged, name, value)
        if (kc_value_equal(kc_value_get_str(metadata, name), kc_value_get_str(coerced, name), NULL))
            kc_node_set(edit, kc_edit_root(edit), name, kc_node_from_value(edit, value));
}

kc_object *kc__custom_with_merged_metadata(const kc_object *object, kc_str members, kc_error *err)
{
    kc_auto(kc_view) *view = kc__fields_view_of(object),
                     *merged = kc_view_parse(members, NULL, err);
    kc_auto(kc_object) *typed =
        merged ? kc__custom_metadata(kc_view_root(merged), "metadata", NULL, err) : NULL;
    if (!typed)
        return NULL;
    kc_auto(kc_view) *coerced = kc_view_of(typed);
    const kc_value *metadata = kc_value_get(kc_view_root(view), "metadata");
    kc_auto(kc_edit) *edit = kc_edit_of_value(metadata);
    kc_scoped(kc_buf) text = {0};
    add_merged_members(edit, metadata, kc_view_root(merged), kc_view_root(coerced));
    kc_node_write(&text, kc_edit_root(edit));
    return replace_metadata(object, kc_buf_str(&text), err);
}

/* ---- reading them ---- */

/* Whether a text has the value behind an unescaped quote, which ends the name of a member. */
static bool has_member_of_value(kc_str text, kc_str quoted)
{
    const char *end = text.p + text.n, *at = text.p;
    while (at && (at = memmem(at, (size_t)(end - at), quoted.p, quoted.n))) {
        if (at > text.p && at[-1] != '\\')
            return true;
        at++;
    }
    return false;
}

static bool may_be_coerced(kc_str text)
{
    return has_member_of_value(text, KC_STR("\":{}")) ||
           has_member_of_value(text, KC_STR("\":[]")) ||
           has_member_of_value(text, KC_STR("\":null")) ||
           has_member_of_value(text, KC_STR("generateName\":\"\""));
}

/* Whether metadata may have members that ObjectMeta drops. Reads the text, because nearly no object
 * has some, and leaves out managedFields, which are full of {}. */
static bool has_merged_metadata(const kc_object *stored)
{
    kc_str metadata = kc_object_metadata_json(stored),
           owners = kc_object_managed_fields_json(stored);
    if (!owners.n)
        return may_be_coerced(metadata);
    const size_t before = (size_t)(owners.p - metadata.p);
    return may_be_coerced(kc_str_sub(metadata, 0, before)) ||
           may_be_coerced(kc_str_sub(metadata, before + owners.n, metadata.n));
}

kc_object *kc__custom_coerce_metadata(const kc_object *stored)
{
    if (!has_merged_metadata(stored))
        return kc_object_ref(stored);
    kc_auto(kc_view) *view = kc__fields_view_of(stored);
    kc_auto(kc_object) *typed =
        kc__custom_metadata(kc_value_get(kc_view_root(view), "metadata"), "metadata", NULL, NULL);
    kc_object *coerced = typed ? replace_metadata(stored, kc_object_json(typed), NULL) : NULL;
    return coerced ? coerced : kc_object_ref(stored);
}
