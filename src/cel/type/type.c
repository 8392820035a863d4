/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type.c: types: the static ones, registries, names.
 *
 * The names and the format of composite types are cel-go's, because error messages contain them:
 * "list(int)", "map(string, dyn)", "optional_type(int)", "type(int)".
 */
#include "cel/type/type_internal.h"

#define BASIC_TYPE(kind_, name_) {.kind = (kind_), .name = (name_)}

const kc_cel_type kc__cel_type_error = BASIC_TYPE(KC_CEL_ERROR, "!error!");
const kc_cel_type kc__cel_type_null = BASIC_TYPE(KC_CEL_NULL, "null_type");
const kc_cel_type kc__cel_type_bool = BASIC_TYPE(KC_CEL_BOOL, "bool");
const kc_cel_type kc__cel_type_int = BASIC_TYPE(KC_CEL_INT, "int");
const kc_cel_type kc__cel_type_uint = BASIC_TYPE(KC_CEL_UINT, "uint");
const kc_cel_type kc__cel_type_double = BASIC_TYPE(KC_CEL_DOUBLE, "double");
const kc_cel_type kc__cel_type_string = BASIC_TYPE(KC_CEL_STRING, "string");
const kc_cel_type kc__cel_type_bytes = BASIC_TYPE(KC_CEL_BYTES, "bytes");
const kc_cel_type kc__cel_type_timestamp =
    BASIC_TYPE(KC_CEL_TIMESTAMP, "google.protobuf.Timestamp");
const kc_cel_type kc__cel_type_duration = BASIC_TYPE(KC_CEL_DURATION, "google.protobuf.Duration");
const kc_cel_type kc__cel_type_dyn = BASIC_TYPE(KC_CEL_DYN, "dyn");
const kc_cel_type kc__cel_type_type = BASIC_TYPE(KC_CEL_TYPE, "type");

const kc_cel_type kc__cel_type_a = {.kind = KC_CEL_PARAM, .name = "A", .index = -1};
const kc_cel_type kc__cel_type_b = {.kind = KC_CEL_PARAM, .name = "B", .index = -2};
const kc_cel_type kc__cel_type_list_a = {
    .kind = KC_CEL_LIST, .name = "list", .params = {&kc__cel_type_a}, .n_params = 1};
const kc_cel_type kc__cel_type_map_ab = {
    .kind = KC_CEL_MAP, .name = "map", .params = {&kc__cel_type_a, &kc__cel_type_b}, .n_params = 2};
const kc_cel_type kc__cel_type_optional_any = {.kind = KC_CEL_OPTIONAL, .name = "optional_type"};
const kc_cel_type kc__cel_type_optional_a = {
    .kind = KC_CEL_OPTIONAL, .name = "optional_type", .params = {&kc__cel_type_a}, .n_params = 1};
const kc_cel_type kc__cel_type_list_dyn = {
    .kind = KC_CEL_LIST, .name = "list", .params = {&kc__cel_type_dyn}, .n_params = 1};
const kc_cel_type kc__cel_type_list_string = {
    .kind = KC_CEL_LIST, .name = "list", .params = {&kc__cel_type_string}, .n_params = 1};
const kc_cel_type kc__cel_type_map_dyn = {.kind = KC_CEL_MAP,
                                          .name = "map",
                                          .params = {&kc__cel_type_string, &kc__cel_type_dyn},
                                          .n_params = 2};
const kc_cel_type kc__cel_type_type_a = {
    .kind = KC_CEL_TYPE, .name = "type", .params = {&kc__cel_type_a}, .n_params = 1};

const kc_cel_type *kc_cel_type_basic(kc_cel_kind kind)
{
    static const kc_cel_type *const basic[] = {
        [KC_CEL_ERROR] = &kc__cel_type_error,
        [KC_CEL_NULL] = &kc__cel_type_null,
        [KC_CEL_BOOL] = &kc__cel_type_bool,
        [KC_CEL_INT] = &kc__cel_type_int,
        [KC_CEL_UINT] = &kc__cel_type_uint,
        [KC_CEL_DOUBLE] = &kc__cel_type_double,
        [KC_CEL_STRING] = &kc__cel_type_string,
        [KC_CEL_BYTES] = &kc__cel_type_bytes,
        [KC_CEL_TIMESTAMP] = &kc__cel_type_timestamp,
        [KC_CEL_DURATION] = &kc__cel_type_duration,
        [KC_CEL_LIST] = &kc__cel_type_list_dyn,
        [KC_CEL_MAP] = &kc__cel_type_map_dyn,
        [KC_CEL_OBJECT] = &kc__cel_type_map_dyn,
        [KC_CEL_TYPE] = &kc__cel_type_type,
        [KC_CEL_OPTIONAL] = &kc__cel_type_optional_a,
        [KC_CEL_OPAQUE] = &kc__cel_type_dyn,
        [KC_CEL_DYN] = &kc__cel_type_dyn,
        [KC_CEL_PARAM] = &kc__cel_type_dyn,
    };
    return basic[kind];
}

kc_cel_kind kc_cel_type_kind(const kc_cel_type *type)
{
    return type->kind;
}

/* The names of three types in messages differ from those that type(x) prints. */
static const char *message_name(const kc_cel_type *type)
{
    switch (type->kind) {
    case KC_CEL_NULL: return "null";
    case KC_CEL_TIMESTAMP: return "timestamp";
    case KC_CEL_DURATION: return "duration";
    default: return type->name;
    }
}

void kc_cel_type_write(const kc_cel_type *type, kc_buf *out)
{
    kc_buf_puts(out, message_name(type));
    if (type->kind == KC_CEL_PARAM && type->index >= 0)
        kc_buf_printf(out, "%d", type->index);
    for (unsigned i = 0; i < type->n_params; i++) {
        kc_buf_puts(out, i ? ", " : "(");
        kc_cel_type_write(type->params[i], out);
    }
    if (type->n_params)
        kc_buf_putc(out, ')');
}

bool kc__cel_type_equal(const kc_cel_type *a, const kc_cel_type *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->n_params != b->n_params || a->index != b->index ||
        strcmp(a->name, b->name) != 0)
        return false;
    for (unsigned i = 0; i < a->n_params; i++)
        if (!kc__cel_type_equal(a->params[i], b->params[i]))
            return false;
    return true;
}

const kc_cel_type *kc__cel_type_new(kc_arena *arena, kc_cel_kind kind, const char *name,
                                    const kc_cel_type *first, const kc_cel_type *second)
{
    kc_cel_type *type = kc_arena_new(arena, kc_cel_type);
    type->kind = kind;
    type->name = name;
    type->params[0] = first;
    type->params[1] = second;
    type->n_params = (first != NULL) + (second != NULL);
    return type;
}

const kc_cel_type *kc__cel_type_list(kc_arena *arena, const kc_cel_type *element)
{
    return kc__cel_type_new(arena, KC_CEL_LIST, "list", element, NULL);
}

const kc_cel_type *kc__cel_type_map(kc_arena *arena, const kc_cel_type *key,
                                    const kc_cel_type *value)
{
    return kc__cel_type_new(arena, KC_CEL_MAP, "map", key, value);
}

const kc_cel_type *kc__cel_type_optional(kc_arena *arena, const kc_cel_type *inner)
{
    return kc__cel_type_new(arena, KC_CEL_OPTIONAL, "optional_type", inner, NULL);
}

const kc_cel_type *kc__cel_type_of_type(kc_arena *arena, const kc_cel_type *type)
{
    return kc__cel_type_new(arena, KC_CEL_TYPE, "type", type, NULL);
}

const kc__cel_field *kc__cel_type_field(const kc_cel_type *object, kc_str name)
{
    size_t lo = 0, hi = object->n_fields;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int order = kc_str_cmp(name, object->fields[mid].name);
        if (order == 0) /* A field that got no type yet does not exist. */
            return object->fields[mid].type ? &object->fields[mid] : NULL;
        if (order < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

const kc__cel_field *kc__cel_type_field_of_json(const kc_cel_type *object, kc_str name)
{
    const kc__cel_field *field = kc__cel_type_field(object, name);
    if (field && kc_str_eq(field->json, name))
        return field;
    for (size_t i = 0; i < object->n_fields && object->has_escapes; i++)
        if (kc_str_eq(object->fields[i].json, name))
            return &object->fields[i];
    return NULL;
}

/* ---- registries ---- */

struct kc_cel_types {
    kc_arena arena;
};

kc_cel_types *kc_cel_types_new(void)
{
    return kc_new(kc_cel_types);
}

kc_cel_types *kc_cel_types_free(kc_cel_types *types)
{
    if (types)
        kc_arena_done(&types->arena);
    free(types);
    return NULL;
}

size_t kc_cel_types_memory(const kc_cel_types *types)
{
    return sizeof(*types) + types->arena.used;
}

kc_arena *kc__cel_types_arena(kc_cel_types *types)
{
    return &types->arena;
}

const kc_cel_type *kc_cel_types_list(kc_cel_types *types, const kc_cel_type *element)
{
    return kc__cel_type_list(&types->arena, element);
}

const kc_cel_type *kc_cel_types_map(kc_cel_types *types, const kc_cel_type *key,
                                    const kc_cel_type *value)
{
    return kc__cel_type_map(&types->arena, key, value);
}

const kc_cel_type *kc_cel_types_optional(kc_cel_types *types, const kc_cel_type *inner)
{
    return kc__cel_type_optional(&types->arena, inner);
}

kc_cel_type *kc_cel_types_object(kc_cel_types *types, const char *name)
{
    kc_cel_type *type = kc_arena_new(&types->arena, kc_cel_type);
    type->kind = KC_CEL_OBJECT;
    type->name = kc_arena_strndup(&types->arena, name, strlen(name));
    return type;
}

void kc_cel_types_add_field(kc_cel_types *types, kc_cel_type *object, kc_str name,
                            const kc_cel_type *type)
{
    kc__cel_field *fields = kc_arena_alloc(&types->arena, (object->n_fields + 1) * sizeof(*fields));
    size_t at = 0;
    while (at < object->n_fields && kc_str_cmp(object->fields[at].name, name) < 0)
        at++;
    if (at)
        memcpy(fields, object->fields, at * sizeof(*fields));
    kc_str copy = kc_arena_str(&types->arena, name);
    fields[at] = (kc__cel_field){.name = copy, .json = copy, .type = type};
    if (at < object->n_fields)
        memcpy(fields + at + 1, object->fields + at, (object->n_fields - at) * sizeof(*fields));
    object->fields = fields;
    object->n_fields++;
}
