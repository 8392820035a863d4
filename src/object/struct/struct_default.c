/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct_default.c: sets defaults as a server does for a schema: where a member is absent, then
 * inside existing values, lists and maps included. The default of a struct is itself defaulted.
 *
 * Absent means: a NULL pointer, an empty list or map, or an empty value that is omitted when empty.
 * For a value that is always written it is unknown whether it was set, so it stays.
 */
#include "object/struct/struct_internal.h"

#include "kc/view.h"

static bool struct_default_is_absent(const kc_member *member, const char *base)
{
    const bool can_be = member->shape != KC_SHAPE_VALUE || (member->flags & KC_MEMBER_OMIT_EMPTY);
    return can_be && kc__struct_member_is_empty(member, base);
}

/* Decodes {"name": default} into the struct, as if the object had contained it. */
static void struct_default_apply(const kc_member *member, char *base, kc_arena *arena)
{
    kc_member alone = *member;
    const kc_struct wrapper = {.fields = &alone, .n_fields = 1, .meta_offset = -1};
    kc_scoped(kc_buf) json = {0};
    alone.name = "v";
    kc_buf_printf(&json, "{\"v\":%s}", member->default_json);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    if (view)
        kc_struct_decode_value(&wrapper, kc_view_root(view), arena, base, NULL);
}

static void default_inside(const kc_member *member, char *base, kc_arena *arena);

static void default_one(const kc_member *member, char *at, kc_arena *arena)
{
    if (member->type == KC_MEMBER_STRUCT)
        kc_struct_default(member->of, at, arena);
    else
        default_inside(member->inner, at, arena);
}

static void default_items(const kc_member *member, char *base, kc_arena *arena)
{
    bool is_map = member->shape == KC_SHAPE_MAP;
    const kc_string_map *map = (const kc_string_map *)(base + member->offset);
    char *items = is_map ? (char *)map->items : *(char **)(base + member->offset);
    size_t n = is_map ? map->n : *(size_t *)(base + member->count_offset);
    size_t size = is_map ? kc__struct_pair_size(member) : kc__struct_member_size(member);
    size_t skip = is_map ? kc__struct_pair_value_at(member) : 0;
    for (size_t i = 0; i < n; i++) {
        char *item = items + i * size + skip;
        item = member->flags & KC_MEMBER_POINTERS ? *(char **)item : item;
        if (item)
            default_one(member, item, arena);
    }
}

static void default_inside(const kc_member *member, char *base, kc_arena *arena)
{
    if (member->type != KC_MEMBER_STRUCT && member->type != KC_MEMBER_INNER)
        return;
    char *at = base + member->offset;
    if (member->shape == KC_SHAPE_LIST || member->shape == KC_SHAPE_MAP)
        default_items(member, base, arena);
    else if (member->shape == KC_SHAPE_VALUE)
        default_one(member, at, arena);
    else if (*(char **)at)
        default_one(member, *(char **)at, arena);
}

void kc_struct_default(const kc_struct *type, void *value, kc_arena *arena)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        const kc_member *member = &type->fields[i];
        if (member->default_json && struct_default_is_absent(member, value))
            struct_default_apply(member, value, arena);
        default_inside(member, value, arena);
    }
}
