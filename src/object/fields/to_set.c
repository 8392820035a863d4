/* SPDX-License-Identifier: Apache-2.0 */
/*
 * to_set.c: the set of all fields that a value has.
 *
 * Leaves are in the set: scalars, nulls, empty objects and atomic containers. So are items of
 * associative lists and members of objects that are no fields of the type, whatever is below them.
 * Items that occur twice are in the set without what is below them.
 */
#include "object/fields/fields_internal.h"
#include "object/fields/fields_typed.h"

typedef struct set_walk {
    kc__fields_builder builder;
} set_walk;

/* Adds what is below a value to the open level; true when the value itself is a member. */
static bool add_value(set_walk *w, const kc__fields_type *type, const kc_value *value);

static void add_entry(set_walk *w, const kc__fields_type *type, const kc_value *value,
                      const kc__fields_element *element, bool member)
{
    size_t level = kc__fields_builder_open(&w->builder);
    member |= add_value(w, type, value);
    const kc__fields_set *child = kc__fields_builder_close(&w->builder, level);
    kc__fields_builder_add(&w->builder, *element, member, child);
}

static bool add_list_items(set_walk *w, const kc__fields_type *type, const kc_value *value)
{
    if (type->list_relation == KC__FIELDS_ATOMIC)
        return true;
    if (!kc__fields_is_list(value))
        return false;
    kc__fields_items items = kc__fields_items_of(w->builder.arena, type, value, NULL);
    for (size_t at = 0, n; at < items.n; at += n) {
        const kc__fields_item *item = &items.sorted[at];
        n = kc__fields_items_group(&items, at);
        if (n > 1)
            kc__fields_builder_add(&w->builder, item->element, true, NULL);
        else
            add_entry(w, type->items, item->value, &item->element, true);
    }
    return false;
}

static bool add_object(set_walk *w, const kc__fields_type *type, const kc_value *value)
{
    if (type->object_relation == KC__FIELDS_ATOMIC)
        return true;
    if (!kc__fields_is_object(value))
        return false;
    kc__fields_each_member(value, key)
    {
        kc_str name = kc__fields_text(key);
        kc__fields_element element = kc__fields_name(name);
        const kc_value *member = key + 1;
        const kc__fields_field *field = kc__fields_type_field(type, name);
        bool leaf =
            kc__fields_is_null(member) || (kc__fields_is_object(member) && !kc__fields_len(member));
        add_entry(w, field ? field->type : type->rest, member, &element, leaf || !field);
    }
    return false;
}

static bool add_value(set_walk *w, const kc__fields_type *type, const kc_value *value)
{
    if (!type)
        return false;
    switch (kc__fields_shape_of(kc__fields_shapes_of(type, value))) {
    case KC__FIELDS_SHAPE_OBJECT: return add_object(w, type, value);
    case KC__FIELDS_SHAPE_SCALAR: return true;
    case KC__FIELDS_SHAPE_LIST: return add_list_items(w, type, value);
    default: return false;
    }
}

const kc__fields_set *kc__fields_set_of_value(kc_arena *arena, const kc__fields_type *type,
                                              const kc_value *value)
{
    set_walk w = {.builder = {.arena = arena}};
    add_value(&w, type, value);
    const kc__fields_set *set = kc__fields_builder_close(&w.builder, 0);
    kc__fields_builder_done(&w.builder);
    return set;
}
