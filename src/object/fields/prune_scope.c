/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune_scope.c: the part of an object that pruning has to look at.
 *
 * An applier that gives up an annotation gives up nothing of the spec. prune.c shows that nothing
 * is removed from a branch whose last set is within the new one, so pruning leaves such branches
 * out:
 *
 *     last    .metadata.annotations[a b]  .spec[…]          scope   .metadata.annotations[a b]
 *     new     .metadata.annotations[a]    .spec[…]
 *
 * A branch is a member of a granular object or an item of an associative list: every operation on
 * values and sets treats these one by one, with two exceptions.
 *
 * A container of which nothing is left becomes null. So each container that the scope enters keeps
 * a witness, which no step removes: at the root a member that the last set does not mention; below
 * it the smallest member or item that the configuration has and that is no part of the scope
 * otherwise, in an item its key. A container without a witness is in the scope as a whole.
 *
 * An item whose key fields are removed may equal another item. With a single key without a default,
 * such an item has no key, and equals no item that has one: the scope enters only lists of that
 * kind, if all items have different keys.
 *
 * Below the root, the scope enters declared fields, which count as owned while anything below them
 * is (kc__fields_ensure_named), as the witness is; and items that the configuration has.
 */
#include "object/fields/updater_internal.h"

#include "object/fields/fields_internal.h"

typedef struct scope_walk {
    kc_arena *arena;
    kc__fields_out out;         /* The value, reduced to the scope. */
    kc__fields_builder builder; /* The scope: a member is a whole branch. */
    bool gives_up;              /* The scope is more than a witness. */
} scope_walk;

static bool is_within(const kc__fields_entry *last, const kc__fields_entry *now)
{
    return !last || (now && (now->member || !last->member) &&
                     kc__fields_set_within(last->child, now->child));
}

static const kc__fields_entry *entry_of(const kc__fields_set *set, const kc_value *key)
{
    kc__fields_element element = kc__fields_name(kc__fields_text(key));
    return kc__fields_set_find(set, &element);
}

static size_t cells_of(const kc_value *value)
{
    return (size_t)(kc__fields_after(value) - value);
}

/* The key of the witness of an object, or NULL. */
static const kc_value *find_witness(const kc_value *object, const kc__fields_set *last,
                                    const kc__fields_set *set, bool root)
{
    const kc_value *found = NULL;
    kc__fields_each_member(object, key)
    {
        const kc__fields_entry *before = entry_of(last, key), *now = entry_of(set, key);
        bool stays = root ? !before : now && is_within(before, now);
        if (stays && (!found || cells_of(key + 1) < cells_of(found + 1)))
            found = key;
    }
    return found;
}

/* Enters an object with a witness. */
static void enter_object(scope_walk *w, const kc__fields_type *type, const kc_value *object,
                         const kc__fields_set *last, const kc__fields_set *set,
                         const kc_value *witness);

/* ---- lists ---- */

static bool is_granular_object(const kc__fields_type *type, const kc_value *value)
{
    return kc__fields_is_object(value) && type->object_relation != KC__FIELDS_ATOMIC &&
           kc__fields_shape_of(kc__fields_shapes_of(type, value)) == KC__FIELDS_SHAPE_OBJECT;
}

static bool is_keyed_list(const kc__fields_type *type, const kc_value *value)
{
    return kc__fields_is_list(value) && type->list_relation == KC__FIELDS_ASSOCIATIVE &&
           type->n_keys == 1 && !type->keys[0].default_value && type->items &&
           kc__fields_shape_of(kc__fields_shapes_of(type, value)) == KC__FIELDS_SHAPE_LIST;
}

static bool have_different_keys(const kc__fields_items *items)
{
    for (size_t i = 0; i < items->n; i++)
        if (items->sorted[i].element.kind != KC__FIELDS_KEY || items->sorted[i].duplicate)
            return false;
    return true;
}

static const kc__fields_item *find_witness_item(const kc__fields_items *items,
                                                const kc__fields_set *last,
                                                const kc__fields_set *set)
{
    const kc__fields_item *found = NULL;
    for (size_t i = 0; i < items->n; i++) {
        const kc__fields_item *item = &items->sorted[i];
        const kc__fields_entry *now = kc__fields_set_find(set, &item->element);
        if (now && now->member && is_within(kc__fields_set_find(last, &item->element), now) &&
            (!found || cells_of(item->value) < cells_of(found->value)))
            found = item;
    }
    return found;
}

/* The key field of an item, if the configuration has it. */
static const kc_value *key_of_item(const kc__fields_type *list, const kc_value *item,
                                   const kc__fields_entry *last, const kc__fields_entry *now)
{
    kc__fields_each_member(item, key)
    {
        if (!kc_str_eq(kc__fields_text(key), list->keys[0].name))
            continue;
        const kc__fields_entry *owned = entry_of(now->child, key);
        return owned && is_within(entry_of(last->child, key), owned) ? key : NULL;
    }
    return NULL;
}

/* True when an item is entered; otherwise it is in the scope as a whole. */
static bool enter_item(scope_walk *w, const kc__fields_type *list, const kc__fields_item *item,
                       const kc__fields_entry *last, const kc__fields_entry *now)
{
    if (!now || !now->member || !now->child || !last->child ||
        !is_granular_object(list->items, item->value))
        return false;
    const kc_value *key = key_of_item(list, item->value, last, now);
    if (!key)
        return false;
    size_t level = kc__fields_builder_open(&w->builder);
    enter_object(w, list->items, item->value, last->child, now->child, key);
    const kc__fields_set *child = kc__fields_builder_close(&w->builder, level);
    kc__fields_builder_add(&w->builder, item->element, false, child);
    return true;
}

static void enter_items(scope_walk *w, const kc__fields_type *list, const kc__fields_items *items,
                        const kc__fields_set *last, const kc__fields_set *set,
                        const kc__fields_item *witness)
{
    size_t at = kc__fields_out_begin(&w->out, false), n = 0;
    for (size_t i = 0; i < items->n; i++) {
        const kc__fields_item *item = &items->sorted[i];
        const kc__fields_entry *before = kc__fields_set_find(last, &item->element);
        const kc__fields_entry *now = kc__fields_set_find(set, &item->element);
        if (is_within(before, now) && item != witness)
            continue;
        if (item == witness || !enter_item(w, list, item, before, now)) {
            kc__fields_out_copy(&w->out, item->value);
            kc__fields_builder_add(&w->builder, item->element, true, NULL);
        }
        n++;
    }
    kc__fields_out_end(&w->out, at, n);
}

static bool enter_list(scope_walk *w, const kc__fields_type *type, const kc_value *list,
                       const kc__fields_set *last, const kc__fields_set *set)
{
    kc__fields_items items = kc__fields_items_of(w->arena, type, list, NULL);
    const kc__fields_item *witness =
        have_different_keys(&items) ? find_witness_item(&items, last, set) : NULL;
    if (witness)
        enter_items(w, type, &items, last, set, witness);
    return witness != NULL;
}

/* ---- objects ---- */

static bool enter_value(scope_walk *w, const kc__fields_type *type, const kc_value *value,
                        const kc__fields_set *last, const kc__fields_set *set)
{
    if (is_keyed_list(type, value))
        return enter_list(w, type, value, last, set);
    const kc_value *witness =
        is_granular_object(type, value) ? find_witness(value, last, set, false) : NULL;
    if (witness)
        enter_object(w, type, value, last, set, witness);
    return witness != NULL;
}

/* True when a field that is not within the new set is entered; otherwise it is in the scope as a
 * whole. */
static bool enter_field(scope_walk *w, const kc__fields_type *type, const kc_value *key,
                        const kc__fields_entry *last, const kc__fields_entry *now)
{
    const kc__fields_field *field = kc__fields_type_field(type, kc__fields_text(key));
    if (!field || !field->type || !last->child || !now || !now->child)
        return false;
    size_t level = kc__fields_builder_open(&w->builder);
    bool entered = enter_value(w, field->type, key + 1, last->child, now->child);
    const kc__fields_set *child = kc__fields_builder_close(&w->builder, level);
    if (entered)
        kc__fields_builder_add(&w->builder, kc__fields_name(kc__fields_text(key)), false, child);
    return entered;
}

static void take_branch(scope_walk *w, const kc_value *key)
{
    kc__fields_out_copy(&w->out, key + 1);
    kc__fields_builder_add(&w->builder, kc__fields_name(kc__fields_text(key)), true, NULL);
}

static void enter_object(scope_walk *w, const kc__fields_type *type, const kc_value *object,
                         const kc__fields_set *last, const kc__fields_set *set,
                         const kc_value *witness)
{
    size_t at = kc__fields_out_begin(&w->out, true), n = 0;
    kc__fields_each_member(object, key)
    {
        const kc__fields_entry *before = entry_of(last, key), *now = entry_of(set, key);
        if (is_within(before, now) && key != witness)
            continue;
        w->gives_up |= key != witness;
        kc__fields_out_key(&w->out, key);
        if (key == witness || !enter_field(w, type, key, before, now))
            take_branch(w, key);
        n++;
    }
    kc__fields_out_end(&w->out, at, n);
}

bool kc__fields_prune_scope(const kc__fields_pruning *p, const kc__fields_typed *merged,
                            const kc_value **ret_value, const kc__fields_set **ret_scope)
{
    const kc_value *witness = find_witness(merged->value, p->last, p->set, true);
    if (!witness)
        return false;
    scope_walk w = {.arena = p->arena,
                    .out = kc__fields_out_of(p->arena, cells_of(merged->value)),
                    .builder = {.arena = p->arena}};
    enter_object(&w, merged->type, merged->value, p->last, p->set, witness);
    const kc__fields_set *scope = kc__fields_builder_close(&w.builder, 0);
    *ret_scope = w.gives_up ? scope : NULL;
    *ret_value = w.out.cells;
    kc__fields_builder_done(&w.builder);
    return true;
}

const kc__fields_set *kc__fields_set_in_scope(kc_arena *arena, const kc__fields_set *set,
                                              const kc__fields_set *scope)
{
    kc_scoped(kc__fields_builder) builder = {.arena = arena};
    for (uint32_t i = 0; scope && i < scope->n; i++) {
        const kc__fields_entry *part = &scope->entries[i];
        const kc__fields_entry *entry = kc__fields_set_find(set, &part->element);
        if (entry)
            kc__fields_builder_add(&builder, entry->element, entry->member,
                                   part->member
                                       ? entry->child
                                       : kc__fields_set_in_scope(arena, entry->child, part->child));
    }
    return kc__fields_builder_close(&builder, 0);
}
