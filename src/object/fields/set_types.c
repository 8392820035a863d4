/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_types.c: sets of fields and types: sets recorded under an older schema, and fields that are
 * owned because something below them is.
 *
 * Both walks rewrite only what changes; an unchanged set is returned as it is.
 */
#include "object/fields/fields_internal.h"
#include "object/fields/fields_typed.h"

/* The type below an element, or NULL when it is unknown. */
static const kc__fields_type *type_below(const kc__fields_type *type,
                                         const kc__fields_element *element)
{
    if (!type)
        return NULL;
    if (element->kind == KC__FIELDS_NAME && type->has_object)
        return kc__fields_type_member(type, kc_str_of(element->name, element->n));
    if (element->kind == KC__FIELDS_KEY && type->has_list)
        return type->items;
    return NULL;
}

/* Entries of a set of which some are replaced; NULL until the first is. */
static kc__fields_entry *entries_to_change(kc_arena *arena, const kc__fields_set *set,
                                           kc__fields_entry *entries)
{
    if (entries)
        return entries;
    entries = kc_arena_alloc(arena, set->n * sizeof(*entries));
    memcpy(entries, set->entries, set->n * sizeof(*entries));
    return entries;
}

static const kc__fields_set *set_with(kc_arena *arena, const kc__fields_set *set,
                                      const kc__fields_entry *entries)
{
    if (!entries)
        return set;
    kc__fields_set *changed = kc_arena_alloc(arena, sizeof(*changed));
    *changed = (kc__fields_set){.n = set->n, .entries = entries};
    return changed;
}

/* ---- named fields ---- */

static bool is_named_field(const kc__fields_type *type, const kc__fields_element *element)
{
    return type && type->has_object && element->kind == KC__FIELDS_NAME &&
           kc__fields_type_field(type, kc_str_of(element->name, element->n));
}

const kc__fields_set *kc__fields_ensure_named(kc_arena *arena, const kc__fields_type *type,
                                              const kc__fields_set *set)
{
    kc__fields_entry *entries = NULL;
    if (!type || kc__fields_set_empty(set))
        return set;
    for (uint32_t i = 0; i < set->n; i++) {
        const kc__fields_entry *entry = &set->entries[i];
        if (!entry->child)
            continue;
        bool member = entry->member || is_named_field(type, &entry->element);
        const kc__fields_set *child =
            kc__fields_ensure_named(arena, type_below(type, &entry->element), entry->child);
        if (member == entry->member && child == entry->child)
            continue;
        entries = entries_to_change(arena, set, entries);
        entries[i].member = member;
        entries[i].child = child;
    }
    return set_with(arena, set, entries);
}

/* ---- changes of the schema ---- */

/* The type of an entry of a list or of an object; NULL when it is not reconciled. */
static const kc__fields_type *reconciled_type(const kc__fields_type *type, kc__fields_shape shape,
                                              const kc__fields_element *element)
{
    if (shape == KC__FIELDS_SHAPE_LIST)
        return type->items;
    return element->kind == KC__FIELDS_NAME
               ? kc__fields_type_member(type, kc_str_of(element->name, element->n))
               : type->rest;
}

static kc__fields_shape main_shape(const kc__fields_type *type)
{
    return type ? kc__fields_shape_of(kc__fields_shapes_of(type, NULL)) : KC__FIELDS_SHAPE_NONE;
}

/* True when values of the type are atomic, so that a set has no paths into them. */
static bool is_atomic(const kc__fields_type *type)
{
    kc__fields_shape shape = main_shape(type);
    if (shape == KC__FIELDS_SHAPE_OBJECT)
        return !type->untyped_members && type->object_relation == KC__FIELDS_ATOMIC;
    return shape == KC__FIELDS_SHAPE_LIST && type->list_relation == KC__FIELDS_ATOMIC;
}

const kc__fields_set *kc__fields_reconcile(kc_arena *arena, const kc__fields_type *type,
                                           const kc__fields_set *set)
{
    kc__fields_shape shape = main_shape(type);
    kc__fields_entry *entries = NULL;
    bool leaf = shape == KC__FIELDS_SHAPE_NONE || shape == KC__FIELDS_SHAPE_SCALAR;
    if (kc__fields_set_empty(set) || leaf || is_atomic(type) ||
        (shape == KC__FIELDS_SHAPE_OBJECT && type->untyped_members))
        return set;
    for (uint32_t i = 0; i < set->n; i++) {
        const kc__fields_entry *entry = &set->entries[i];
        if (!entry->child)
            continue;
        const kc__fields_type *below = reconciled_type(type, shape, &entry->element);
        bool atomic = is_atomic(below);
        const kc__fields_set *child =
            atomic ? NULL : kc__fields_reconcile(arena, below, entry->child);
        if (child == entry->child)
            continue;
        entries = entries_to_change(arena, set, entries);
        entries[i].child = child;
        entries[i].member |= atomic;
    }
    return set_with(arena, set, entries);
}
