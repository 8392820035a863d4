/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.c: decodes objects into structs.
 *
 * The search for a member starts after the last match: the members of an object are usually in the
 * order of its type, so that is one comparison each. Members that the table does not know are
 * skipped: the original object is kept, and encoding starts from it. null is absent, as everywhere
 * in Kubernetes.
 */
#include "object/struct/struct_internal.h"

#include "kc/view.h"

typedef struct decoder {
    kc_arena *arena;
    kc_error *err;
} decoder;

static int decode_struct(decoder *d, const kc_struct *type, const kc_value *value, char *to);
static int decode_member(decoder *d, const kc_member *member, const kc_value *value, char *base);

/* One value: of a member, of a pointer's target, of an item. */
static int decode_one(decoder *d, const kc_member *member, const kc_value *value, char *to)
{
    if (member->type == KC_MEMBER_STRUCT)
        return decode_struct(d, member->of, value, to);
    if (member->type == KC_MEMBER_INNER)
        return decode_member(d, member->inner, value, to);
    return kc__struct_scalar_of(member)->read(value, member, d->arena, to, d->err);
}

/* An item of a list or map, which may be a pointer to the value. */
static int decode_item(decoder *d, const kc_member *member, const kc_value *value, char *to)
{
    if (kc_value_type(value) == KC_JSON_NULL)
        return 0;
    if (!(member->flags & KC_MEMBER_POINTERS))
        return decode_one(d, member, value, to);
    kc_member plain = *member;
    plain.flags &= (uint8_t)~KC_MEMBER_POINTERS;
    *(char **)to = kc_arena_calloc(d->arena, 1, kc__struct_member_size(&plain));
    return decode_one(d, member, value, *(char **)to);
}

static int decode_list(decoder *d, const kc_member *member, const kc_value *value, char *base)
{
    size_t size = kc__struct_member_size(member), n = kc_value_len(value), i = 0;
    if (kc_value_type(value) != KC_JSON_ARRAY)
        return kc_error_set(d->err, KC_BAD_REQUEST, "expected a list, got %s",
                            kc_json_type_name(kc_value_type(value)));
    char *items = kc_arena_calloc(d->arena, n ? n : 1, size);
    kc_value_each_item (value, item) {
        if (decode_item(d, member, item, items + i * size) < 0)
            return kc_error_wrap(d->err, "[%zu]", i);
        i++;
    }
    *(char **)(base + member->offset) = items;
    *(size_t *)(base + member->count_offset) = n;
    return 0;
}

size_t kc__struct_pair_value_at(const kc_member *member)
{
    (void)member; /* No type needs more than a pointer's alignment. */
    return sizeof(char *);
}

size_t kc__struct_pair_size(const kc_member *member)
{
    size_t size = kc__struct_pair_value_at(member) + kc__struct_member_size(member);
    return (size + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
}

static int decode_map(decoder *d, const kc_member *member, const kc_value *value, char *base)
{
    size_t size = kc__struct_pair_size(member), i = 0;
    kc_string_map *map = (kc_string_map *)(base + member->offset);
    if (kc_value_type(value) != KC_JSON_OBJECT)
        return kc_error_set(d->err, KC_BAD_REQUEST, "expected an object, got %s",
                            kc_json_type_name(kc_value_type(value)));
    char *pairs = kc_arena_calloc(d->arena, KC_MAX(kc_value_len(value), (size_t)1), size);
    kc_value_each_member (value, name, item) {
        char *pair = pairs + i++ * size;
        *(char **)pair = kc_arena_strndup(d->arena, name.p, name.n);
        if (decode_item(d, member, item, pair + kc__struct_pair_value_at(member)) < 0)
            return kc_error_wrap(d->err, "[%.*s]", KC_ARG(name));
    }
    map->items = (kc_string_pair *)pairs;
    map->n = i;
    return 0;
}

static int decode_member(decoder *d, const kc_member *member, const kc_value *value, char *base)
{
    if (kc_value_type(value) == KC_JSON_NULL)
        return 0;
    switch ((kc_member_shape)member->shape) {
    case KC_SHAPE_LIST: return decode_list(d, member, value, base);
    case KC_SHAPE_MAP: return decode_map(d, member, value, base);
    case KC_SHAPE_POINTER: {
        char *to = kc_arena_calloc(d->arena, 1, kc__struct_member_size(member));
        *(char **)(base + member->offset) = to;
        return decode_one(d, member, value, to);
    }
    default: return decode_one(d, member, value, base + member->offset);
    }
}

static int decode_inline(decoder *d, const kc_struct *type, const kc_value *value, char *to)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        const kc_member *member = &type->fields[i];
        if ((member->flags & KC_MEMBER_INLINE) &&
            decode_struct(d, member->of, value, to + member->offset) < 0)
            return -1;
    }
    return 0;
}

/* The member of this name, searched from *at on; *at moves behind it. */
static const kc_member *struct_decode_find(const kc_struct *type, kc_str name, size_t *at)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        size_t k = (*at + i) % type->n_fields;
        const kc_member *member = &type->fields[k];
        if (!(member->flags & KC_MEMBER_INLINE) && kc_str_is(name, member->name)) {
            *at = k + 1;
            return member;
        }
    }
    return NULL;
}

static int decode_struct(decoder *d, const kc_struct *type, const kc_value *value, char *to)
{
    size_t at = 0;
    if (kc_value_type(value) != KC_JSON_OBJECT)
        return kc_error_set(d->err, KC_BAD_REQUEST, "expected an object, got %s",
                            kc_json_type_name(kc_value_type(value)));
    kc_value_each_member (value, name, item) {
        const kc_member *member = struct_decode_find(type, name, &at);
        if (member && decode_member(d, member, item, to) < 0)
            return kc_error_wrap(d->err, "%.*s", KC_ARG(name));
    }
    return decode_inline(d, type, value, to);
}

int kc_struct_decode_value(const kc_struct *type, const kc_value *value, kc_arena *arena,
                           void *ret_struct, kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    decoder d = {arena, &failed};
    return decode_struct(&d, type, value, ret_struct) < 0 ? kc_error_move(err, &failed) : 0;
}

/* ---- kinds ---- */

kc_object_meta *kc__struct_meta(const kc_struct *type, const void *value)
{
    return type->meta_offset < 0 ? NULL : (kc_object_meta *)((char *)value + type->meta_offset);
}

/* The struct and all its parts are in its own arena: freeing it frees all. */
static void *new_kind(const kc_struct *type)
{
    kc_arena *arena = kc_new(kc_arena);
    void *value = kc_arena_calloc(arena, 1, type->size);
    kc__struct_meta(type, value)->arena = arena;
    return value;
}

void *kc_struct_free(const kc_struct *type, void *value)
{
    if (!value)
        return NULL;
    kc_object_meta *meta = kc__struct_meta(type, value);
    kc_arena *arena = meta->arena;
    kc_object_unref(meta->origin);
    kc_arena_done(arena);
    free(arena);
    return NULL;
}

static void *decode_view(const kc_struct *type, const kc_value *root, const kc_object *origin,
                         kc_error *err)
{
    void *value = new_kind(type);
    kc_object_meta *meta = kc__struct_meta(type, value);
    if (kc_struct_decode_value(type, root, meta->arena, value, err) < 0)
        return kc_struct_free(type, value);
    meta->origin = origin ? kc_object_ref(origin) : NULL;
    return value;
}

void *kc_struct_decode(const kc_struct *type, const kc_object *object, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    return decode_view(type, kc_view_root(view), object, err);
}

void *kc_struct_copy(const kc_struct *type, const void *value)
{
    kc_scoped(kc_buf) json = {0};
    kc_struct_write(type, value, &json);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    return decode_view(type, kc_view_root(view), kc__struct_meta(type, value)->origin, NULL);
}
