/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_old.c: finds the old value that a value replaces, and compares both.
 *
 * Members of objects correspond by name, items of lists of type map by key, and items of other
 * lists not at all. Long objects and lists of type map are indexed once, while their parts are
 * visited, so the time is linear.
 */
#include "cel/rules/rules_internal.h"

#include "kc/diff.h"
#include "object/gofmt/go_json.h"

enum { SHORT_OBJECT = 16 };

/* ---- parts ---- */

void kc__cel_old_object(kc__cel_old_parts *parts, const kc_value *old)
{
    *parts = (kc__cel_old_parts){0};
    if (kc_value_type(old) != KC_JSON_OBJECT)
        return;
    parts->old = old;
    parts->indexed = kc_value_len(old) > SHORT_OBJECT;
    if (parts->indexed)
        kc_value_each_member (old, name, value)
            kc_map_put(&parts->index, name, (void *)value);
}

/* The scalar values of an item's keys as text; false when one is missing or not a scalar. */
static bool write_item_key(const kc_value *keys, const kc_value *item, kc_buf *out)
{
    kc_value_each_item (keys, key) {
        const kc_value *value = kc_value_get_str(item, kc_value_as_str(key));
        kc_json_type type = kc_value_type(value);
        if (type == KC_JSON_ABSENT || type == KC_JSON_NULL || type == KC_JSON_ARRAY ||
            type == KC_JSON_OBJECT)
            return false;
        kc__go_json(out, value);
        kc_buf_putc(out, ',');
    }
    return out->n > 0;
}

static bool has_keys(const kc_schema *schema)
{
    return kc_schema_list_type(schema) == KC_LIST_MAP &&
           kc_value_len(kc_schema_list_map_keys(schema)) > 0;
}

void kc__cel_old_list(kc__cel_old_parts *parts, const kc_value *old, const kc_schema *schema)
{
    *parts = (kc__cel_old_parts){0};
    if (kc_value_type(old) != KC_JSON_ARRAY || !has_keys(schema))
        return;
    kc_scoped(kc_buf) key = {0};
    parts->old = old;
    parts->keys = kc_schema_list_map_keys(schema);
    kc_value_each_item (old, item) {
        kc_buf_clear(&key);
        if (kc_value_type(item) == KC_JSON_OBJECT && write_item_key(parts->keys, item, &key) &&
            !kc_map_get(&parts->index, kc_buf_str(&key)))
            kc_map_put(&parts->index, kc_arena_str(&parts->arena, kc_buf_str(&key)), (void *)item);
    }
}

void kc__cel_old_parts_done(kc__cel_old_parts *parts)
{
    kc_map_done(&parts->index);
    kc_arena_done(&parts->arena);
}

const kc_value *kc__cel_old_member(const kc__cel_old_parts *parts, kc_str name)
{
    if (!parts->old)
        return NULL;
    return parts->indexed ? kc_map_get(&parts->index, name) : kc_value_get_str(parts->old, name);
}

const kc_value *kc__cel_old_item(const kc__cel_old_parts *parts, const kc_value *item)
{
    kc_scoped(kc_buf) key = {0};
    if (!parts->keys || kc_value_type(item) != KC_JSON_OBJECT ||
        !write_item_key(parts->keys, item, &key))
        return NULL;
    return kc_map_get(&parts->index, kc_buf_str(&key));
}

/* ---- comparison ---- */

static bool same_value(const kc_value *value, const kc_value *old, const kc_schema *schema);

static bool same_items(const kc_value *value, const kc_value *old, const kc_schema *schema)
{
    if (kc_value_len(value) != kc_value_len(old))
        return false;
    if (kc_schema_list_type(schema) != KC_LIST_MAP)
        return kc_value_equal(value, old, NULL);
    kc__cel_old_parts parts;
    bool same = true;
    kc__cel_old_list(&parts, old, schema);
    kc_value_each_item (value, item) {
        const kc_value *counterpart = kc__cel_old_item(&parts, item);
        same = same && counterpart && kc_schema_items(schema) &&
               same_value(item, counterpart, kc_schema_items(schema));
    }
    kc__cel_old_parts_done(&parts);
    return same;
}

static bool same_members(const kc_value *value, const kc_value *old, const kc_schema *schema)
{
    if (kc_value_len(value) != kc_value_len(old))
        return false;
    kc__cel_old_parts parts;
    bool same = true;
    kc__cel_old_object(&parts, old);
    kc_value_each_member (value, name, member) {
        const kc_schema *of_member = same ? kc_schema_field(schema, name) : NULL;
        const kc_value *counterpart = of_member ? kc__cel_old_member(&parts, name) : NULL;
        same = counterpart && same_value(member, counterpart, of_member);
        if (!same)
            break;
    }
    kc__cel_old_parts_done(&parts);
    return same;
}

static bool same_value(const kc_value *value, const kc_value *old, const kc_schema *schema)
{
    kc_json_type type = kc_value_type(value), old_type = kc_value_type(old);
    if (type == KC_JSON_NULL || old_type == KC_JSON_NULL)
        return type == old_type;
    if (type == KC_JSON_ARRAY && old_type == KC_JSON_ARRAY)
        return same_items(value, old, schema);
    if (type == KC_JSON_OBJECT && old_type == KC_JSON_OBJECT)
        return same_members(value, old, schema);
    return type == old_type && kc_value_equal(value, old, NULL);
}

bool kc__cel_is_unchanged(kc__cel_correlated *c)
{
    if (!c)
        return false;
    if (c->equal == KC__CEL_NOT_COMPARED)
        c->equal = same_value(c->value, c->old, c->schema) ? KC__CEL_UNCHANGED : KC__CEL_CHANGED;
    return c->equal == KC__CEL_UNCHANGED;
}
