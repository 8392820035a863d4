/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remove.c: a value without the fields of a set, or with only these.
 *
 * The walk descends only where the set has paths. A container of which nothing is left becomes
 * null, and so does an atomic container, or an empty one, that the set has paths into: upstream
 * relies on both.
 */
#include "object/fields/fields_internal.h"
#include "object/fields/fields_typed.h"

typedef struct removing {
    kc_arena *arena;
    kc__fields_out out;
    bool extract;
} removing;

static void remove_from(removing *r, const kc__fields_type *type, const kc_value *value,
                        const kc__fields_set *set);

/* What happens to a part of a container: it is dropped, kept as it is, or kept with only what `ret`
 * leaves of it. */
typedef enum fate { DROPPED, KEPT, REDUCED } fate;

static fate fate_of(const removing *r, const kc__fields_set *set, const kc__fields_element *element,
                    const kc__fields_set **ret)
{
    const kc__fields_entry *entry = kc__fields_set_find(set, element);
    if (!entry)
        return r->extract ? DROPPED : KEPT;
    if (entry->member && !r->extract)
        return DROPPED;
    /* A leaf is extracted by the set of the level above: so does upstream, to which only the shape
     * of a leaf matters. */
    *ret = entry->member ? set : entry->child;
    return REDUCED;
}

static bool remove_item(removing *r, const kc__fields_type *type, const kc_value *item,
                        const kc__fields_set *set)
{
    kc__fields_element element;
    const kc__fields_set *rest = NULL;
    kc__fields_item_element(r->arena, type, item, &element, NULL);
    fate what = fate_of(r, set, &element, &rest);
    if (what == REDUCED)
        remove_from(r, type->items, item, rest);
    else if (what == KEPT)
        kc__fields_out_copy(&r->out, item);
    return what != DROPPED;
}

static bool remove_member(removing *r, const kc__fields_type *type, const kc_value *key,
                          const kc__fields_set *set)
{
    kc_str name = kc__fields_text(key);
    kc__fields_element element = kc__fields_name(name);
    const kc__fields_set *rest = NULL;
    fate what = fate_of(r, set, &element, &rest);
    if (what != DROPPED)
        kc__fields_out_key(&r->out, key);
    if (what == REDUCED)
        remove_from(r, kc__fields_type_member(type, name), key + 1, rest);
    else if (what == KEPT)
        kc__fields_out_copy(&r->out, key + 1);
    return what != DROPPED;
}

static void remove_from_container(removing *r, const kc__fields_type *type, const kc_value *value,
                                  const kc__fields_set *set, bool object)
{
    size_t at = kc__fields_out_begin(&r->out, object), n = 0;
    if (object)
        kc__fields_each_member(value, key) n += remove_member(r, type, key, set);
    else
        kc__fields_each_item(value, item) n += remove_item(r, type, item, set);
    if (n) {
        kc__fields_out_end(&r->out, at, n);
    } else {
        r->out.n = at;
        kc__fields_out_null(&r->out);
    }
}

static void remove_from(removing *r, const kc__fields_type *type, const kc_value *value,
                        const kc__fields_set *set)
{
    kc__fields_shape shape = type ? kc__fields_shape_of(kc__fields_shapes_of(type, value)) : 0;
    bool object = shape == KC__FIELDS_SHAPE_OBJECT;
    bool container = object ? kc__fields_is_object(value)
                            : shape == KC__FIELDS_SHAPE_LIST && kc__fields_is_list(value);
    uint8_t relation = !type ? 0 : object ? type->object_relation : type->list_relation;
    if (shape == KC__FIELDS_SHAPE_SCALAR)
        kc__fields_out_copy(&r->out, value);
    else if (!container || !kc__fields_len(value))
        kc__fields_out_null(&r->out);
    else if (relation != KC__FIELDS_ATOMIC)
        remove_from_container(r, type, value, set, object);
    else if (r->extract)
        kc__fields_out_copy(&r->out, value);
    else
        kc__fields_out_null(&r->out);
}

static const kc_value *remove_or_extract(kc_arena *arena, const kc__fields_type *type,
                                         const kc_value *value, const kc__fields_set *set,
                                         bool extract)
{
    size_t cells = (size_t)(kc__fields_after(value) - value);
    removing r = {.arena = arena, .out = kc__fields_out_of(arena, cells), .extract = extract};
    remove_from(&r, type, value, set);
    return r.out.cells;
}

const kc_value *kc__fields_remove(kc_arena *arena, const kc__fields_type *type,
                                  const kc_value *value, const kc__fields_set *set)
{
    return remove_or_extract(arena, type, value, set, false);
}

const kc_value *kc__fields_extract(kc_arena *arena, const kc__fields_type *type,
                                   const kc_value *value, const kc__fields_set *set)
{
    return remove_or_extract(arena, type, value, kc__fields_set_leaves(arena, set), true);
}
