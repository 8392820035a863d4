/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_ratchet.c: which part of an old value a part of the new one replaces.
 *
 * Members of objects have the same name, items of lists of type map the same key; items of other
 * lists replace nothing. Objects and lists may be long, so the old one's parts are indexed once for
 * all children, as long as these are being looked at.
 */
#include "object/go_json.h"
#include "object/schema_validate_internal.h"

enum { SHORT = 16 };

void kc__old_enter_object(kc__validator *v, kc__old_things *things)
{
    *things = (kc__old_things){.outer = v->old_things};
    v->old_things = NULL;
    if (kc_type_of(v->old) != KC_OBJECT || kc_len(v->old) <= SHORT)
        return;
    kc_members (v->old, name, value)
        kc_map_put(&things->map, name, (void *)value);
    v->old_things = &things->map;
}

/* The values of an item's keys as text; false when one is missing. */
static bool key_of(const kc_value *keys, const kc_value *item, kc_buf *out)
{
    kc_items (keys, key) {
        const kc_value *value = kc_get_str(item, kc_as_str(key));
        if (!value)
            return false;
        kc__go_json(out, value);
        kc_buf_putc(out, ',');
    }
    return out->n > 0;
}

void kc__old_enter_list(kc__validator *v, const kc_schema *schema, kc__old_things *things)
{
    *things = (kc__old_things){.outer = v->old_things};
    v->old_things = NULL;
    if (kc_schema_list_type(schema) != KC_LIST_MAP)
        return;
    kc_scoped(kc_buf) key = {0};
    kc_items (v->old, item) {
        kc_buf_clear(&key);
        if (key_of(kc_schema_list_map_keys(schema), item, &key) &&
            !kc_map_get(&things->map, kc_buf_str(&key)))
            kc_map_put(&things->map, kc_arena_str(&things->arena, kc_buf_str(&key)), (void *)item);
    }
    v->old_things = &things->map;
}

void kc__old_leave(kc__validator *v, kc__old_things *things)
{
    v->old_things = things->outer;
    kc_map_done(&things->map);
    kc_arena_done(&things->arena);
}

const kc_value *kc__old_member(const kc__validator *v, kc_str name)
{
    return v->old_things ? kc_map_get(v->old_things, name) : kc_get_str(v->old, name);
}

const kc_value *kc__old_item(const kc__validator *v, const kc_schema *schema, const kc_value *item)
{
    kc_scoped(kc_buf) key = {0};
    if (!v->old_things || !key_of(kc_schema_list_map_keys(schema), item, &key))
        return NULL;
    return kc_map_get(v->old_things, kc_buf_str(&key));
}
