/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_fields.c: the members of an object of an edit, found and changed by name in constant time.
 *
 * yyjson keeps the members of a mutable object in a ring of key and value nodes; the object points
 * to the last key. So finding one is a walk, and removing one needs the node before it:
 *
 *     object ──▶ (c) ─▶ 3 ─▶ (a) ─▶ 1 ─▶ (b) ─▶ 2 ─▶ (c)
 *
 * The first few questions to an object, and all to a short one, are answered by walking. Then a map
 * from name to kc__field is made, whose fields form a ring of their own, in both directions. Every
 * change goes to both rings, so the tree is right at any time and nothing is to be written back.
 */
#include "object/patch_internal.h"

struct kc__field {
    kc_node *key;
    kc__field *before, *after;
};

kc__fields kc__fields_of(kc_edit *edit, kc_node *object)
{
    return (kc__fields){.edit = edit, .object = object};
}

void kc__fields_done(kc__fields *fields)
{
    kc_map_done(&fields->names);
    kc_arena_done(&fields->arena);
}

/* Of members with the same name the first counts, as in kc_node_get. */
static void note_last(kc__fields *fields, kc_node *key)
{
    kc__field *field = kc_arena_new(&fields->arena, kc__field);
    kc__field *last = fields->last;
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

/* True when the index is to be used; makes it when it is time. */
static bool use_index(kc__fields *fields)
{
    if (fields->indexed)
        return true;
    if (kc_node_len(fields->object) <= KC__SHORT || ++fields->asked < KC__ASKED_OFTEN)
        return false;
    kc_node_iter iter = kc__node_iter(fields->object, KC_OBJECT);
    kc_node *key, *value;
    while ((key = kc__node_iter_member(&iter, &value)))
        note_last(fields, key);
    fields->indexed = true;
    return true;
}

kc_node *kc__fields_get(kc__fields *fields, kc_str name)
{
    if (!use_index(fields))
        return kc_node_get(fields->object, name);
    kc__field *field = kc_map_get(&fields->names, name);
    return field ? field->key->next : NULL;
}

void kc__fields_set(kc__fields *fields, kc_str name, kc_node *value)
{
    if (!use_index(fields)) {
        kc_node_set(fields->edit, fields->object, name, value);
        return;
    }
    kc__field *field = kc_map_get(&fields->names, name);
    if (field) {
        value->next = field->key->next->next;
        field->key->next = value;
        return;
    }
    kc_node_add(fields->edit, fields->object, name, value);
    note_last(fields, fields->object->uni.ptr);
}

static void unlink_field(kc__fields *fields, kc__field *field)
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

bool kc__fields_remove(kc__fields *fields, kc_str name)
{
    if (!use_index(fields))
        return kc_node_remove(fields->object, name);
    kc__field *field = kc_map_remove(&fields->names, name);
    if (field)
        unlink_field(fields, field);
    return field;
}
