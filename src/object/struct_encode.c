/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct_encode.c: structs to JSON and to objects.
 *
 * Writing goes by the table: pointers that are NULL and lists that are empty are left out, unless a
 * schema wants them, as are empty values marked so. Encoding lays what was written over the object
 * the struct came from:
 *
 *     a member the table knows     as the struct has it; gone where the struct has nothing
 *     any other member             stays
 *
 * down through structs, and through lists whose items are the same ones: those that agree in the
 * member that names them (name, key, type, id), at the same place.
 */
#include "object/struct_internal.h"

#include "kc/diff.h"
#include "kc/view.h"

/* ---- what is empty ---- */

static bool one_is_empty(const kc_member *member, const char *at)
{
    if (member->type == KC_MEMBER_STRUCT)
        return kc__struct_is_empty(member->of, at);
    if (member->type == KC_MEMBER_INNER)
        return kc__member_is_empty(member->inner, at);
    return kc__scalar_of(member)->is_empty(at);
}

bool kc__member_is_empty(const kc_member *member, const void *value)
{
    const char *base = value;
    switch (member->shape) {
    case KC_SHAPE_LIST: return *(const size_t *)(base + member->count_offset) == 0;
    case KC_SHAPE_MAP: return ((const kc_string_map *)(base + member->offset))->n == 0;
    case KC_SHAPE_POINTER: return !*(char *const *)(base + member->offset);
    default: return one_is_empty(member, base + member->offset);
    }
}

bool kc__struct_is_empty(const kc_struct *type, const void *value)
{
    for (size_t i = 0; i < type->n_fields; i++)
        if (!kc__member_is_empty(&type->fields[i], value))
            return false;
    return true;
}

static bool is_left_out(const kc_member *member, const char *base)
{
    bool can_be = member->shape == KC_SHAPE_VALUE ? member->flags & KC_MEMBER_OMIT_EMPTY
                                                  : !(member->flags & KC_MEMBER_KEEP_EMPTY);
    return can_be && kc__member_is_empty(member, base);
}

/* ---- writing ---- */

static void write_member(const kc_member *member, const char *base, kc_buf *out);

static void write_one(const kc_member *member, const char *from, kc_buf *out)
{
    if (member->type == KC_MEMBER_STRUCT)
        kc_struct_write(member->of, from, out);
    else if (member->type == KC_MEMBER_INNER)
        write_member(member->inner, from, out);
    else
        kc__scalar_of(member)->write(from, member, out);
}

static void write_item(const kc_member *member, const char *at, kc_buf *out)
{
    if (!(member->flags & KC_MEMBER_POINTERS))
        write_one(member, at, out);
    else if (*(char *const *)at)
        write_one(member, *(char *const *)at, out);
    else
        kc_buf_puts(out, "null");
}

static void write_list(const kc_member *member, const char *base, kc_buf *out)
{
    const char *items = *(char *const *)(base + member->offset);
    size_t n = *(const size_t *)(base + member->count_offset), size = kc__member_size(member);
    for (size_t i = 0; i < n; i++) {
        kc_buf_putc(out, i ? ',' : '[');
        write_item(member, items + i * size, out);
    }
    kc_buf_puts(out, n ? "]" : "[]");
}

static void write_map(const kc_member *member, const char *base, kc_buf *out)
{
    const kc_string_map *map = (const kc_string_map *)(base + member->offset);
    size_t size = kc__pair_size(member);
    kc_buf_putc(out, '{');
    for (size_t i = 0; i < map->n; i++) {
        const char *pair = (const char *)map->items + i * size;
        kc_buf_puts(out, i ? "," : "");
        kc_json_quote(out, kc_cstr(*(char *const *)pair));
        kc_buf_putc(out, ':');
        write_item(member, pair + kc__pair_value_at(member), out);
    }
    kc_buf_putc(out, '}');
}

static void write_member(const kc_member *member, const char *base, kc_buf *out)
{
    switch (member->shape) {
    case KC_SHAPE_LIST: write_list(member, base, out); break;
    case KC_SHAPE_MAP: write_map(member, base, out); break;
    case KC_SHAPE_POINTER: write_one(member, *(char *const *)(base + member->offset), out); break;
    default: write_one(member, base + member->offset, out);
    }
}

static void write_members(const kc_struct *type, const char *base, const char **comma, kc_buf *out)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        const kc_member *member = &type->fields[i];
        if (member->flags & KC_MEMBER_INLINE) {
            write_members(member->of, base + member->offset, comma, out);
        } else if (!is_left_out(member, base)) {
            kc_buf_puts(out, *comma);
            kc_json_quote(out, kc_cstr(member->name));
            kc_buf_putc(out, ':');
            write_member(member, base, out);
            *comma = ",";
        }
    }
}

void kc_struct_write(const kc_struct *type, const void *value, kc_buf *out)
{
    const char *comma = "";
    kc_buf_putc(out, '{');
    write_members(type, value, &comma, out);
    kc_buf_putc(out, '}');
}

/* ---- laying it over what was there ---- */

static void overlay(kc_edit *edit, kc_node *node, const kc_struct *type, const kc_value *value);

/* Whether two items are the same one: they agree in what names them. */
static bool are_same_item(const kc_node *old, const kc_value *now)
{
    static const char *const names[] = {"name", "key", "type", "id"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_str was = kc_node_as_str(kc_node_get(old, kc_cstr(names[i])));
        kc_str is = kc_as_str(kc_get(now, names[i]));
        if (was.n || is.n)
            return kc_str_eq(was, is);
    }
    return true;
}

static kc_node *replaced(kc_edit *edit, const kc_node *old, const kc_member *member,
                         const kc_value *now);

static kc_node *overlaid_item(kc_edit *edit, const kc_node *old, const kc_member *member,
                              const kc_value *now)
{
    if (member->type == KC_MEMBER_INNER)
        return replaced(edit, old, member->inner, now);
    if (kc_node_type(old) != KC_OBJECT || kc_type_of(now) != KC_OBJECT || !are_same_item(old, now))
        return kc_node_copy(edit, now);
    kc_node *item = kc_node_clone(edit, old);
    overlay(edit, item, member->of, now);
    return item;
}

static kc_node *overlaid_list(kc_edit *edit, const kc_node *old, const kc_member *member,
                              const kc_value *now)
{
    kc_node *list = kc_node_array(edit);
    size_t i = 0;
    kc_items (now, item)
        kc_node_append(list, overlaid_item(edit, kc_node_at(old, i++), member, item));
    return list;
}

static kc_node *overlaid_map(kc_edit *edit, const kc_node *old, const kc_member *member,
                             const kc_value *now)
{
    kc_node *map = kc_node_object(edit);
    kc_members (now, name, item)
        kc_node_set(edit, map, name, overlaid_item(edit, kc_node_get(old, name), member, item));
    return map;
}

/* What a member becomes that is not laid over in its place. */
static kc_node *replaced(kc_edit *edit, const kc_node *old, const kc_member *member,
                         const kc_value *now)
{
    const bool holds_more = member->type == KC_MEMBER_STRUCT || member->type == KC_MEMBER_INNER;
    if (!old || !holds_more || kc_node_type(old) != kc_type_of(now))
        return kc_node_copy(edit, now);
    if (member->shape == KC_SHAPE_LIST)
        return overlaid_list(edit, old, member, now);
    if (member->shape == KC_SHAPE_MAP)
        return overlaid_map(edit, old, member, now);
    return overlaid_item(edit, old, member, now);
}

static void overlay_member(kc_edit *edit, kc_node *node, const kc_member *member,
                           const kc_value *now)
{
    kc_str name = kc_cstr(member->name);
    kc_node *old = kc_node_get(node, name);
    bool single = member->shape == KC_SHAPE_VALUE || member->shape == KC_SHAPE_POINTER;
    if (!now)
        kc_node_remove(node, name);
    else if (single && member->type == KC_MEMBER_STRUCT && kc_node_type(old) == KC_OBJECT)
        overlay(edit, old, member->of, now);
    else
        kc_node_set(edit, node, name, replaced(edit, old, member, now));
}

static void overlay(kc_edit *edit, kc_node *node, const kc_struct *type, const kc_value *value)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        const kc_member *member = &type->fields[i];
        if (member->flags & KC_MEMBER_INLINE)
            overlay(edit, node, member->of, value);
        else
            overlay_member(edit, node, member, kc_get(value, member->name));
    }
}

static void set_kind(kc_edit *edit, const kc_kind *kind)
{
    kc_scoped(kc_buf) api_version = {0};
    kc_node *root = kc_edit_root(edit);
    kc_api_version_write(&api_version, kc_cstr(kind->group), kc_cstr(kind->version));
    kc_node_set(edit, root, KC_STR("apiVersion"), kc_node_str(edit, kc_buf_str(&api_version)));
    kc_node_set(edit, root, KC_STR("kind"), kc_node_str(edit, kc_cstr(kind->kind)));
}

kc_object *kc_struct_encode(const kc_struct *type, const kc_kind *kind, const void *value,
                            kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    kc_struct_write(type, value, &json);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, err);
    if (!view)
        return NULL;
    const kc_object *origin = kc__struct_meta(type, value)->origin;
    kc_auto(kc_edit) *edit = origin ? kc_edit_of(origin) : kc_edit_new();
    set_kind(edit, kind);
    overlay(edit, kc_edit_root(edit), type, kc_view_root(view));
    return kc_edit_freeze(edit, err);
}

/* ---- comparing ---- */

bool kc_struct_equal(const kc_struct *type, const void *a, const void *b)
{
    kc_scoped(kc_buf) one = {0}, two = {0};
    kc_struct_write(type, a, &one);
    kc_struct_write(type, b, &two);
    if (kc_str_eq(kc_buf_str(&one), kc_buf_str(&two)))
        return true;
    kc_auto(kc_view) *x = kc_view_parse(kc_buf_str(&one), NULL, NULL);
    kc_auto(kc_view) *y = kc_view_parse(kc_buf_str(&two), NULL, NULL);
    return kc_value_equal(kc_view_root(x), kc_view_root(y),
                          &(kc_equal_opts){.empty_is_absent = true});
}
