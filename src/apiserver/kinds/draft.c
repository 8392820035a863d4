/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft.c: switches a draft between bytes and tree.
 *
 * Bytes are cheap to store, to compare and to splice metadata into; a tree is cheap to edit.
 * Opening the tree costs a parse, closing it costs serialization and a type check. A write that no
 * webhook sees does each at most once. Neither includes metadata.managedFields: its text moves from
 * the old object to the new one.
 *
 * Bytes have a view, once a phase needs one: field ownership and validation read the same one.
 * kc__draft_give drops the view; the changes of metadata here keep it up to date.
 */
#include "apiserver/kinds/draft.h"

#include "apiserver/kinds/resource_ops.h"
#include "kc/arena.h"
#include "object/fields/fields_managed.h"
#include "object/model/canonical.h"

#include <assert.h>

void kc__draft_clear(kc__draft *draft)
{
    draft->object = kc_object_unref(draft->object);
    draft->view = kc_view_free(draft->view);
    draft->edit = kc_edit_free(draft->edit);
    kc_buf_done(&draft->managed_fields);
}

void kc__draft_give(kc__draft *draft, kc_object *object)
{
    kc__draft_clear(draft);
    draft->object = object;
}

void kc__draft_set(kc__draft *draft, const kc_object *object)
{
    kc__draft_give(draft, kc_object_ref(object));
}

void kc__draft_set_parsed(kc__draft *draft, const kc_object *object, kc_view *view)
{
    kc__draft_set(draft, object);
    draft->view = view;
}

bool kc__draft_is_empty(const kc__draft *draft)
{
    return !draft->object && !draft->edit;
}

bool kc__draft_is_open(const kc__draft *draft)
{
    return draft->edit != NULL;
}

const kc_value *kc__draft_value(kc__draft *draft)
{
    assert(draft->object);
    if (!draft->view)
        draft->view = kc__fields_view_of(draft->object);
    return kc_view_root(draft->view);
}

static void open_tree(kc__draft *draft)
{
    draft->edit = kc_edit_of_value(kc__draft_value(draft));
    kc_buf_append(&draft->managed_fields, kc_object_managed_fields_json(draft->object));
    draft->view = kc_view_free(draft->view);
    draft->object = kc_object_unref(draft->object);
}

kc_edit *kc__draft_edit(kc__draft *draft)
{
    assert(!kc__draft_is_empty(draft));
    if (!draft->edit)
        open_tree(draft);
    return draft->edit;
}

/* Replaces the object, and keeps the view. */
static void replace_bytes(kc__draft *draft, kc_object *object)
{
    kc_object_unref(draft->object);
    draft->object = object;
}

int kc__draft_set_metadata(kc__draft *draft, kc_str metadata, kc_str managed, kc_error *err)
{
    assert(draft->object);
    kc_object *with = kc__object_with_metadata(draft->object, metadata, managed, err);
    if (!with)
        return kc_error_result(err);
    replace_bytes(draft, with);
    draft->view = kc__object_view_with_member(draft->view, "metadata", metadata);
    return 0;
}

void kc__draft_set_managed_fields(kc__draft *draft, kc_str json)
{
    assert(!kc__draft_is_empty(draft));
    if (!draft->edit) {
        replace_bytes(draft, kc_object_with_managed_fields(draft->object, json));
        return;
    }
    kc_buf_clear(&draft->managed_fields);
    kc_buf_append(&draft->managed_fields, json);
}

const kc_object *kc__draft_freeze(kc__draft *draft, const kc__resource *resource, kc_error *err)
{
    if (!draft->edit)
        return draft->object;
    kc_auto(kc_object) *frozen = kc_edit_freeze(draft->edit, err);
    kc_auto(kc_object) *typed = frozen ? resource->ops->check_type(resource, frozen, err) : NULL;
    if (!typed)
        return NULL;
    const kc_str owners = kc_buf_str(&draft->managed_fields);
    kc__draft_give(draft, owners.n ? kc_object_with_managed_fields(typed, owners) : kc_take(typed));
    return draft->object;
}

kc_object *kc__draft_take(kc__draft *draft, kc_view **ret_view)
{
    assert(!draft->edit);
    *ret_view = kc_take(draft->view);
    return kc_take(draft->object);
}

static kc_node *metadata_node(const kc__draft *draft)
{
    return kc_node_get(kc_edit_root(draft->edit), KC_STR("metadata"));
}

static kc_str generate_name_in_bytes(const kc_object *object, kc_arena *arena)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_object_metadata_json(object), NULL, NULL);
    return kc_arena_str(arena, kc_value_as_str(kc_value_get(kc_view_root(view), "generateName")));
}

kc_str kc__draft_name(const kc__draft *draft, kc_arena *arena)
{
    if (!draft->edit && !draft->object)
        return (kc_str){0};
    kc_str name = draft->edit ? kc_node_as_str(kc_node_get(metadata_node(draft), KC_STR("name")))
                              : kc_object_name(draft->object);
    if (!kc_str_empty(name))
        return kc_arena_str(arena, name);
    return draft->edit ? kc_arena_str(arena, kc_node_as_str(kc_node_get(metadata_node(draft),
                                                                        KC_STR("generateName"))))
                       : generate_name_in_bytes(draft->object, arena);
}

kc_str kc__draft_resource_version(const kc__draft *draft)
{
    return draft->edit
               ? kc_node_as_str(kc_node_get(metadata_node(draft), KC_STR("resourceVersion")))
               : kc_object_resource_version(draft->object);
}
