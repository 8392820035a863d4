/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode.c: encodes structs as JSON and as objects.
 *
 * The table drives the output: NULL pointers and empty lists are omitted, unless a schema requires
 * them, and so are empty values marked that way. Members of apply configurations are omitted only
 * if they are not set (KC_MEMBER_IF_SET). Encoding merges the output over the original object:
 *
 *     a member in the table        the struct's value; removed if the struct has none
 *     any other member             unchanged
 *
 * recursively through structs, and through lists whose items correspond: those with the same
 * identifying member (name, key, type, id) at the same position.
 */
#include "object/struct/struct_internal.h"

#include "kc/diff.h"
#include "kc/view.h"
#include "object/model/node_fields.h"

/* ---- emptiness ---- */

static bool one_is_empty(const kc_member *member, const char *at)
{
    if (member->type == KC_MEMBER_STRUCT)
        return kc__struct_is_empty(member->of, at);
    if (member->type == KC_MEMBER_INNER)
        return kc__struct_member_is_empty(member->inner, at);
    return kc__struct_scalar_of(member)->is_empty(at);
}

/* All types of values that can be unset begin with a pointer, except times. Lists and maps do,
 * too. */
static bool is_unset(const kc_member *member, const char *at)
{
    const bool time = member->type == KC_MEMBER_TIME || member->type == KC_MEMBER_MICRO_TIME;
    if (member->shape == KC_SHAPE_VALUE && time)
        return *(const kc_time *)at == 0;
    return !*(char *const *)at;
}

bool kc__struct_member_is_empty(const kc_member *member, const void *value)
{
    const char *base = value;
    if (member->flags & KC_MEMBER_IF_SET)
        return is_unset(member, base + member->offset);
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
        if (!kc__struct_member_is_empty(&type->fields[i], value))
            return false;
    return true;
}

static bool struct_encode_is_omitted(const kc_member *member, const char *base)
{
    const int optional = KC_MEMBER_OMIT_EMPTY | KC_MEMBER_IF_SET;
    bool can_be = member->shape == KC_SHAPE_VALUE ? member->flags & optional
                                                  : !(member->flags & KC_MEMBER_KEEP_EMPTY);
    return can_be && kc__struct_member_is_empty(member, base);
}

/* ---- output ---- */

static void struct_encode_write_member(const kc_member *member, const char *base, kc_buf *out);

static void struct_encode_write_one(const kc_member *member, const char *from, kc_buf *out)
{
    if (member->type == KC_MEMBER_STRUCT)
        kc_struct_write(member->of, from, out);
    else if (member->type == KC_MEMBER_INNER)
        struct_encode_write_member(member->inner, from, out);
    else
        kc__struct_scalar_of(member)->write(from, member, out);
}

static void struct_encode_write_item(const kc_member *member, const char *at, kc_buf *out)
{
    if (!(member->flags & KC_MEMBER_POINTERS))
        struct_encode_write_one(member, at, out);
    else if (*(char *const *)at)
        struct_encode_write_one(member, *(char *const *)at, out);
    else
        kc_buf_puts(out, "null");
}

static void struct_encode_write_list(const kc_member *member, const char *base, kc_buf *out)
{
    const char *items = *(char *const *)(base + member->offset);
    size_t n = *(const size_t *)(base + member->count_offset),
           size = kc__struct_member_size(member);
    for (size_t i = 0; i < n; i++) {
        kc_buf_putc(out, i ? ',' : '[');
        struct_encode_write_item(member, items + i * size, out);
    }
    kc_buf_puts(out, n ? "]" : "[]");
}

static void struct_encode_write_map(const kc_member *member, const char *base, kc_buf *out)
{
    const kc_string_map *map = (const kc_string_map *)(base + member->offset);
    size_t size = kc__struct_pair_size(member);
    kc_buf_putc(out, '{');
    for (size_t i = 0; i < map->n; i++) {
        const char *pair = (const char *)map->items + i * size;
        kc_buf_puts(out, i ? "," : "");
        kc_json_quote(out, kc_cstr(*(char *const *)pair));
        kc_buf_putc(out, ':');
        struct_encode_write_item(member, pair + kc__struct_pair_value_at(member), out);
    }
    kc_buf_putc(out, '}');
}

static void struct_encode_write_member(const kc_member *member, const char *base, kc_buf *out)
{
    switch (member->shape) {
    case KC_SHAPE_LIST: struct_encode_write_list(member, base, out); break;
    case KC_SHAPE_MAP: struct_encode_write_map(member, base, out); break;
    case KC_SHAPE_POINTER:
        struct_encode_write_one(member, *(char *const *)(base + member->offset), out);
        break;
    default: struct_encode_write_one(member, base + member->offset, out);
    }
}

static void struct_encode_write_members(const kc_struct *type, const char *base, const char **comma,
                                        kc_buf *out)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        const kc_member *member = &type->fields[i];
        if (member->flags & KC_MEMBER_INLINE) {
            struct_encode_write_members(member->of, base + member->offset, comma, out);
        } else if (!struct_encode_is_omitted(member, base)) {
            kc_buf_puts(out, *comma);
            kc_json_quote(out, kc_cstr(member->name));
            kc_buf_putc(out, ':');
            struct_encode_write_member(member, base, out);
            *comma = ",";
        }
    }
}

void kc_struct_write(const kc_struct *type, const void *value, kc_buf *out)
{
    const char *comma = "";
    kc_buf_putc(out, '{');
    struct_encode_write_members(type, value, &comma, out);
    kc_buf_putc(out, '}');
}

/* ---- merging over the original ---- */

static void overlay(kc_edit *edit, kc_node *node, const kc_struct *type, const kc_value *value);

/* True if two items correspond: their identifying members are equal. */
static bool are_same_item(const kc_node *old, const kc_value *now)
{
    static const char *const names[] = {"name", "key", "type", "id"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_str was = kc_node_as_str(kc_node_get(old, kc_cstr(names[i])));
        kc_str is = kc_value_as_str(kc_value_get(now, names[i]));
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
    if (kc_node_type(old) != KC_JSON_OBJECT || kc_value_type(now) != KC_JSON_OBJECT ||
        !are_same_item(old, now))
        return kc_node_from_value(edit, now);
    kc_node *item = kc_node_clone(edit, old);
    overlay(edit, item, member->of, now);
    return item;
}

static kc_node *overlaid_list(kc_edit *edit, const kc_node *old, const kc_member *member,
                              const kc_value *now)
{
    kc_node *list = kc_node_array(edit);
    kc_node_iter before = kc__node_iter(old, KC_JSON_ARRAY);
    kc_value_each_item (now, item)
        kc_node_append(list, overlaid_item(edit, kc__node_iter_item(&before), member, item));
    return list;
}

static kc_node *overlaid_map(kc_edit *edit, const kc_node *old, const kc_member *member,
                             const kc_value *now)
{
    kc_node *map = kc_node_object(edit);
    kc_scoped(kc__node_fields) in_old = kc__node_fields_of(edit, (kc_node *)old);
    kc_value_each_member (now, name, item)
        kc_node_set(edit, map, name,
                    overlaid_item(edit, kc__node_fields_get(&in_old, name), member, item));
    return map;
}

/* The new value of a member that is replaced, not merged. */
static kc_node *replaced(kc_edit *edit, const kc_node *old, const kc_member *member,
                         const kc_value *now)
{
    const bool holds_more = member->type == KC_MEMBER_STRUCT || member->type == KC_MEMBER_INNER;
    if (!old || !holds_more || kc_node_type(old) != kc_value_type(now))
        return kc_node_from_value(edit, now);
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
    else if (single && member->type == KC_MEMBER_STRUCT && kc_node_type(old) == KC_JSON_OBJECT)
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
            overlay_member(edit, node, member, kc_value_get(value, member->name));
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

/* `origin` may be NULL. */
static kc_object *encode_over(const kc_object *origin, const kc_struct *type, const kc_kind *kind,
                              const void *value, kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    kc_struct_write(type, value, &json);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, err);
    if (!view)
        return NULL;
    kc_auto(kc_edit) *edit = origin ? kc_edit_of(origin) : kc_edit_new();
    set_kind(edit, kind);
    overlay(edit, kc_edit_root(edit), type, kc_view_root(view));
    return kc_edit_freeze(edit, err);
}

kc_object *kc_struct_encode(const kc_struct *type, const kc_kind *kind, const void *value,
                            kc_error *err)
{
    return encode_over(kc__struct_meta(type, value)->origin, type, kind, value, err);
}

kc_object *kc_struct_encode_alone(const kc_struct *type, const kc_kind *kind, const void *value,
                                  kc_error *err)
{
    return encode_over(NULL, type, kind, value, err);
}

/* ---- comparison ---- */

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
