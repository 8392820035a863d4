/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_fields.c: finds and changes members of an object of an edit by name in constant time.
 *
 * yyjson keeps the members of a mutable object in a ring of key and value nodes; the object points
 * to the last key. So finding a member is a scan, and removing one needs the node before it:
 *
 *     object ──▶ (c) ─▶ 3 ─▶ (a) ─▶ 1 ─▶ (b) ─▶ 2 ─▶ (c)
 *
 * A kc_edit keeps such an index for the object that most recently got many members with kc_node_set
 * (edit.c). The index is valid if the number of members and the address of the last key match:
 * additions and removals by other functions change one of them, because nodes of an edit are never
 * freed or reused.
 *
 * The first few lookups in an object, and all lookups in a short one, scan. Then a map from name to
 * kc__node_field is built, whose fields form a doubly linked ring. Every change updates both rings,
 * so the tree is always correct and nothing needs to be written back.
 */
#include "object/model/node_fields.h"
#include "object/model/object_internal.h"

struct kc__node_field {
    kc_node *key;
    kc__node_field *before, *after;
};

kc__node_fields kc__node_fields_of(kc_edit *edit, kc_node *object)
{
    return (kc__node_fields){.edit = edit, .object = object};
}

void kc__node_fields_done(kc__node_fields *fields)
{
    kc_map_done(&fields->names);
    kc_arena_done(&fields->arena);
}

/* The first of several members with the same name counts, as in kc_node_get. */
static void note_last(kc__node_fields *fields, kc_node *key)
{
    kc__node_field *field = kc_arena_new(&fields->arena, kc__node_field);
    kc__node_field *last = fields->last;
    field->key = key;
    field->before = last ? last : field;
    field->after = last ? last->after : field;
    field->before->after = field;
    field->after->before = field;
    fields->last = field;
    kc_str name = kc_node_as_str(key);
    if (!kc_map_get(&fields->names, name))
        kc_map_put(&fields->names, name, field);
}

/* True if the index is to be used; builds it when due. */
static bool node_fields_use_index(kc__node_fields *fields)
{
    if (fields->indexed)
        return true;
    if (kc_node_len(fields->object) <= KC__NODE_SHORT_OBJECT ||
        ++fields->lookups < KC__NODE_INDEX_AFTER)
        return false;
    kc_node_iter iter = kc__node_iter(fields->object, KC_JSON_OBJECT);
    kc_node *key, *value;
    while ((key = kc__node_iter_member(&iter, &value)))
        note_last(fields, key);
    fields->indexed = true;
    return true;
}

kc_node *kc__node_fields_get(kc__node_fields *fields, kc_str name)
{
    if (!node_fields_use_index(fields))
        return kc_node_get(fields->object, name);
    kc__node_field *field = kc_map_get(&fields->names, name);
    return field ? field->key->next : NULL;
}

void kc__node_fields_set(kc__node_fields *fields, kc_str name, kc_node *value)
{
    bool indexed = node_fields_use_index(fields);
    kc__node_field *field = indexed ? kc_map_get(&fields->names, name) : NULL;
    kc_node *key = indexed ? (field ? field->key : NULL) : kc__node_find_key(fields->object, name);
    if (key) {
        value->next = key->next->next;
        key->next = value;
        return;
    }
    kc_node_add(fields->edit, fields->object, name, value);
    if (indexed)
        note_last(fields, fields->object->uni.ptr);
}

static void unlink_field(kc__node_fields *fields, kc__node_field *field)
{
    field->before->key->next->next = field->key->next->next;
    field->before->after = field->after;
    field->after->before = field->before;
    if (field == fields->last) {
        fields->last = field->before == field ? NULL : field->before;
        fields->object->uni.ptr = field->before->key;
    }
    unsafe_yyjson_set_len(fields->object, kc_node_len(fields->object) - 1);
}

bool kc__node_fields_remove(kc__node_fields *fields, kc_str name)
{
    if (!node_fields_use_index(fields))
        return kc_node_remove(fields->object, name);
    kc__node_field *field = kc_map_remove(&fields->names, name);
    if (field)
        unlink_field(fields, field);
    return field;
}
