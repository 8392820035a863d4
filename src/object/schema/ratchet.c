/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratchet.c: finds the part of the old value that a part of the new value replaces.
 *
 * Members of objects correspond by name, items of lists of type map by key; items of other lists
 * replace nothing, nor do those of lists with very many keys. Objects and lists may be long, so the
 * parts of the old value are indexed once, while the children are visited.
 */
#include "object/gofmt/go_json.h"
#include "object/schema/schema_validate_internal.h"

enum { SHORT = 16, MOST_KEYS = 64 };

void kc__schema_old_enter_object(kc__schema_validator *v, kc__schema_old_children *things)
{
    *things = (kc__schema_old_children){.outer = v->old_things};
    v->old_things = NULL;
    if (kc_value_type(v->old) != KC_JSON_OBJECT || kc_value_len(v->old) <= SHORT)
        return;
    kc_value_each_member (v->old, name, value)
        kc_map_put(&things->map, name, (void *)value);
    v->old_things = &things->map;
}

/* The values of an item's keys as text; false when one is missing, or there are too many. */
static bool schema_ratchet_key_of(const kc_value *keys, const kc_value *item, kc_buf *out)
{
    if (kc_value_len(keys) > MOST_KEYS)
        return false;
    kc_value_each_item (keys, key) {
        const kc_value *value = kc_value_get_str(item, kc_value_as_str(key));
        if (!value)
            return false;
        kc__go_json(out, value);
        kc_buf_putc(out, ',');
    }
    return out->n > 0;
}

void kc__schema_old_enter_list(kc__schema_validator *v, const kc_schema *schema,
                               kc__schema_old_children *things)
{
    *things = (kc__schema_old_children){.outer = v->old_things};
    v->old_things = NULL;
    if (kc_schema_list_type(schema) != KC_LIST_MAP)
        return;
    kc_scoped(kc_buf) key = {0};
    kc_value_each_item (v->old, item) {
        kc_buf_clear(&key);
        if (schema_ratchet_key_of(kc_schema_list_map_keys(schema), item, &key) &&
            !kc_map_get(&things->map, kc_buf_str(&key)))
            kc_map_put(&things->map, kc_arena_str(&things->arena, kc_buf_str(&key)), (void *)item);
    }
    v->old_things = &things->map;
}

void kc__schema_old_leave(kc__schema_validator *v, kc__schema_old_children *things)
{
    v->old_things = things->outer;
    kc_map_done(&things->map);
    kc_arena_done(&things->arena);
}

const kc_value *kc__schema_old_member(const kc__schema_validator *v, kc_str name)
{
    return v->old_things ? kc_map_get(v->old_things, name) : kc_value_get_str(v->old, name);
}

const kc_value *kc__schema_old_item(const kc__schema_validator *v, const kc_schema *schema,
                                    const kc_value *item)
{
    kc_scoped(kc_buf) key = {0};
    if (!v->old_things || !schema_ratchet_key_of(kc_schema_list_map_keys(schema), item, &key))
        return NULL;
    return kc_map_get(v->old_things, kc_buf_str(&key));
}
