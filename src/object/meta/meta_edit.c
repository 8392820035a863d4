/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meta_edit.c: changes metadata in an edit. A map or list that becomes empty is removed, as a
 * server would not write it either. meta.c reads metadata.
 */
#include "kc/kind.h"
#include "kc/meta.h"

#define LABELS      KC_STR("labels")
#define ANNOTATIONS KC_STR("annotations")
#define FINALIZERS  KC_STR("finalizers")
#define OWNERS      KC_STR("ownerReferences")

static kc_node *meta_edit_metadata_of(const kc_edit *edit)
{
    return kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
}

static kc_node *need_metadata(kc_edit *edit)
{
    return kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("metadata"));
}

static void meta_edit_set_text(kc_edit *edit, kc_str member, kc_str text)
{
    if (text.n)
        kc_node_set(edit, need_metadata(edit), member, kc_node_str(edit, text));
    else
        kc_node_remove(meta_edit_metadata_of(edit), member);
}

void kc_edit_set_name(kc_edit *edit, kc_str name)
{
    meta_edit_set_text(edit, KC_STR("name"), name);
}

void kc_edit_set_namespace(kc_edit *edit, kc_str ns)
{
    meta_edit_set_text(edit, KC_STR("namespace"), ns);
}

static bool set_pair(kc_edit *edit, kc_str map_name, kc_str key, kc_str value)
{
    kc_node *map = kc_node_ensure_object(edit, need_metadata(edit), map_name);
    kc_node *old = kc_node_get(map, key);
    if (kc_node_type(old) == KC_JSON_STRING && kc_str_eq(kc_node_as_str(old), value))
        return false;
    kc_node_set(edit, map, key, kc_node_str(edit, value));
    return true;
}

static bool remove_pair(kc_edit *edit, kc_str map_name, kc_str key)
{
    kc_node *map = kc_node_get(meta_edit_metadata_of(edit), map_name);
    if (!kc_node_remove(map, key))
        return false;
    if (kc_node_len(map) == 0)
        kc_node_remove(meta_edit_metadata_of(edit), map_name);
    return true;
}

bool kc_edit_set_label(kc_edit *edit, kc_str key, kc_str value)
{
    return set_pair(edit, LABELS, key, value);
}

bool kc_edit_remove_label(kc_edit *edit, kc_str key)
{
    return remove_pair(edit, LABELS, key);
}

bool kc_edit_set_annotation(kc_edit *edit, kc_str key, kc_str value)
{
    return set_pair(edit, ANNOTATIONS, key, value);
}

bool kc_edit_remove_annotation(kc_edit *edit, kc_str key)
{
    return remove_pair(edit, ANNOTATIONS, key);
}

/* The list `name` of metadata, created if it is missing or not a list. */
static kc_node *need_list(kc_edit *edit, kc_str name)
{
    kc_node *metadata = need_metadata(edit), *list = kc_node_get(metadata, name);
    if (kc_node_type(list) == KC_JSON_ARRAY)
        return list;
    list = kc_node_array(edit);
    kc_node_set(edit, metadata, name, list);
    return list;
}

typedef bool (*wanted_fn)(const kc_node *item, kc_str text);

/* Removes the items that are `wanted` by rebuilding the list: visits each item once. */
static bool remove_items(kc_edit *edit, kc_str name, wanted_fn wanted, kc_str text)
{
    kc_node *list = kc_node_get(meta_edit_metadata_of(edit), name), *kept = kc_node_array(edit);
    size_t before = kc_node_len(list);
    if (kc_node_type(list) != KC_JSON_ARRAY)
        return false;
    kc_node_each_item (list, item) {
        if (!wanted(item, text))
            kc_node_append(kept, kc_node_clone(edit, item));
    }
    if (kc_node_len(kept) == before)
        return false;
    if (kc_node_len(kept))
        kc_node_set(edit, meta_edit_metadata_of(edit), name, kept);
    else
        kc_node_remove(meta_edit_metadata_of(edit), name);
    return true;
}

static bool meta_edit_is_text(const kc_node *item, kc_str text)
{
    return kc_node_type(item) == KC_JSON_STRING && kc_str_eq(kc_node_as_str(item), text);
}

bool kc_edit_add_finalizer(kc_edit *edit, kc_str name)
{
    kc_node *list = need_list(edit, FINALIZERS);
    kc_node_each_item (list, item) {
        if (meta_edit_is_text(item, name))
            return false;
    }
    kc_node_append(list, kc_node_str(edit, name));
    return true;
}

bool kc_edit_remove_finalizer(kc_edit *edit, kc_str name)
{
    return remove_items(edit, FINALIZERS, meta_edit_is_text, name);
}

static kc_str member_text(const kc_node *object, const char *name)
{
    return kc_node_as_str(kc_node_get(object, kc_cstr(name)));
}

static bool has_uid(const kc_node *reference, kc_str uid)
{
    return kc_str_eq(member_text(reference, "uid"), uid);
}

bool kc_edit_remove_owner(kc_edit *edit, kc_str uid)
{
    return remove_items(edit, OWNERS, has_uid, uid);
}

/* True for the same group, kind and name, in any version. */
static bool refers_to(const kc_node *reference, const kc_owner *owner)
{
    kc_gvk a = kc_gvk_of(member_text(reference, "apiVersion"), member_text(reference, "kind"));
    kc_gvk b = kc_gvk_of(owner->api_version, owner->kind);
    return kc_str_eq(a.group, b.group) && kc_str_eq(a.kind, b.kind) &&
           kc_str_eq(member_text(reference, "name"), owner->name);
}

static kc_node *meta_edit_reference_to(kc_edit *edit, const kc_owner *owner)
{
    kc_node *reference = kc_node_object(edit);
    kc_node_add(edit, reference, KC_STR("apiVersion"), kc_node_str(edit, owner->api_version));
    kc_node_add(edit, reference, KC_STR("kind"), kc_node_str(edit, owner->kind));
    kc_node_add(edit, reference, KC_STR("name"), kc_node_str(edit, owner->name));
    kc_node_add(edit, reference, KC_STR("uid"), kc_node_str(edit, owner->uid));
    if (owner->controller)
        kc_node_add(edit, reference, KC_STR("controller"), kc_node_bool(edit, true));
    if (owner->block_owner_deletion)
        kc_node_add(edit, reference, KC_STR("blockOwnerDeletion"), kc_node_bool(edit, true));
    return reference;
}

void kc_edit_set_owner(kc_edit *edit, const kc_owner *owner)
{
    kc_node *list = need_list(edit, OWNERS);
    size_t at = 0;
    kc_node_each_item (list, item) {
        if (refers_to(item, owner))
            break;
        at++;
    }
    if (at < kc_node_len(list))
        kc_node_replace_at(list, at, meta_edit_reference_to(edit, owner));
    else
        kc_node_append(list, meta_edit_reference_to(edit, owner));
}

int kc_edit_set_controller(kc_edit *edit, const kc_owner *owner, kc_error *err)
{
    kc_owner controller = *owner;
    const kc_node *metadata = meta_edit_metadata_of(edit);
    kc_node_each_item (kc_node_get(metadata, OWNERS), item) {
        if (!kc_node_as_bool(kc_node_get(item, KC_STR("controller")), false) ||
            refers_to(item, owner))
            continue;
        kc_str ns = member_text(metadata, "namespace"), name = member_text(metadata, "name");
        return kc_error_set(err, KC_CONFLICT,
                            "Object %.*s/%.*s is already owned by another %.*s controller %.*s",
                            KC_ARG(ns), KC_ARG(name), KC_ARG(member_text(item, "kind")),
                            KC_ARG(member_text(item, "name")));
    }
    controller.controller = true;
    controller.block_owner_deletion = true;
    kc_edit_set_owner(edit, &controller);
    return 0;
}
