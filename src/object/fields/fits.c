/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fits.c: checks whether a value is valid for its type, without messages. Nearly all values are, so
 * validate.c, which has the messages, visits only the others.
 */
#include "object/fields/fields_internal.h"

static bool members_fit(const kc__fields_type *type, const kc_value *object, kc_arena *scratch)
{
    kc__fields_each_member(object, key)
    {
        const kc__fields_type *member = kc__fields_type_member(type, kc__fields_text(key));
        if (!member || !kc__fields_fits(member, key + 1, scratch))
            return false;
    }
    return true;
}

static bool has_duplicates(const kc__fields_type *type, const kc_value *list, kc_arena *scratch)
{
    const kc__fields_items items = kc__fields_items_of(scratch, type, list, NULL);
    for (size_t i = 0; i < items.n; i++)
        if (items.sorted[i].duplicate)
            return true;
    return false;
}

static bool items_fit(const kc__fields_type *type, const kc_value *list, kc_arena *scratch)
{
    const bool associative = type->list_relation == KC__FIELDS_ASSOCIATIVE;
    kc__fields_each_item(list, item)
    {
        if (associative && !kc__fields_item_is_valid(type, item))
            return false;
        if (kc__fields_is_container(item) ? !kc__fields_fits(type->items, item, scratch)
                                          : !kc__fields_leaf_fits(type->items, item))
            return false;
    }
    return !associative || !scratch || !has_duplicates(type, list, scratch);
}

bool kc__fields_fits(const kc__fields_type *type, const kc_value *value, kc_arena *scratch)
{
    if (!kc__fields_is_container(value))
        return kc__fields_leaf_fits(type, value);
    switch (kc__fields_shape_of(kc__fields_shapes_of(type, value))) {
    case KC__FIELDS_SHAPE_OBJECT:
        return kc__fields_is_object(value) && members_fit(type, value, scratch);
    case KC__FIELDS_SHAPE_LIST: return kc__fields_is_list(value) && items_fit(type, value, scratch);
    default: return false;
    }
}
