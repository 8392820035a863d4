/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_fields.c: builds the types of field ownership from the tables of built-in kinds.
 *
 * The result is what Kubernetes derives from its OpenAPI v3 document: the markers of a list or map
 * decide who owns its items, a list without a marker merges as its patch strategy says, and a field
 * that Go always writes has its zero value as default. Defaults matter for keys of lists only: an
 * item that omits a key with a default has that key.
 *
 * To support another kind of field: a row of `scalars`, or a case in value_type.
 */
#include "apiserver/codec/type_fields.h"

/* The types of scalars, and the default of one that is always written. */
static const struct {
    kc__fields_scalar scalar;
    const char *zero; /* NULL: no default. */
} scalars[] = {
    [KC__FIELD_BOOL] = {KC__FIELDS_BOOLEAN, "false"},
    [KC__FIELD_INT32] = {KC__FIELDS_NUMERIC, "0"},
    [KC__FIELD_INT64] = {KC__FIELDS_NUMERIC, "0"},
    [KC__FIELD_UINT32] = {KC__FIELDS_NUMERIC, "0"},
    [KC__FIELD_UINT64] = {KC__FIELDS_NUMERIC, "0"},
    [KC__FIELD_FLOAT] = {KC__FIELDS_NUMERIC, "0"},
    [KC__FIELD_DOUBLE] = {KC__FIELDS_NUMERIC, "0"},
    [KC__FIELD_STRING] = {KC__FIELDS_STRING, "\"\""},
    [KC__FIELD_BYTES] = {KC__FIELDS_STRING, NULL},
    [KC__FIELD_TIME] = {KC__FIELDS_UNTYPED, NULL},
    [KC__FIELD_MICRO_TIME] = {KC__FIELDS_UNTYPED, NULL},
    [KC__FIELD_DURATION] = {KC__FIELDS_STRING, NULL},
    [KC__FIELD_QUANTITY] = {KC__FIELDS_UNTYPED, NULL},
    [KC__FIELD_INT_OR_STRING] = {KC__FIELDS_UNTYPED, NULL},
    [KC__FIELD_EITHER] = {KC__FIELDS_NO_SCALAR, NULL},
};

/* ---- values ---- */

/* A message with one list, which is the list itself in JSON. */
static const kc__fields_type *named_list_type(kc__fields_types *types,
                                              const kc__type_message *message)
{
    kc__fields_type *list = kc__fields_type_new(types, (kc_str){0});
    kc__fields_scalar scalar = scalars[message->fields[0].kind].scalar;
    kc__fields_type_set_list(list, kc__fields_scalar_type(types, scalar), KC__FIELDS_ATOMIC);
    return list;
}

/* The type of a field's value, or of the items of its list or map. */
static const kc__fields_type *value_type(kc__fields_types *types, const kc__type_field *field)
{
    switch (field->kind) {
    case KC__FIELD_MESSAGE: return kc__type_fields_add(types, field->message);
    case KC__FIELD_LIST: return named_list_type(types, field->message);
    case KC__FIELD_RAW: return kc__fields_types_atomic(types);
    case KC__FIELD_FIELDS_V1:
    case KC__FIELD_ANY:
    case KC__FIELD_EITHER: return kc__fields_types_deduced(types);
    default: return kc__fields_scalar_type(types, scalars[field->kind].scalar);
    }
}

/* ---- lists and maps ---- */

static void add_list_keys(kc__fields_types *types, kc__fields_type *list, const char *keys)
{
    for (kc_str rest = kc_cstr(keys); rest.p;)
        kc__fields_type_add_key(types, list, kc_str_cut(&rest, ' '));
}

/* A list without a list type merges as strategic merge patches merge it. */
static bool merges_as_patch(const kc__type_field *field)
{
    const unsigned list_type = KC__LIST_IS_SET | KC__LIST_IS_MAP | KC__LIST_IS_ATOMIC;
    return !(field->marks & list_type) && (field->marks & KC__PATCH_MERGES);
}

static const kc__fields_type *field_list_type(kc__fields_types *types, const kc__type_field *field)
{
    kc__fields_type *list = kc__fields_type_new(types, (kc_str){0});
    bool associative = field->marks & (KC__LIST_IS_SET | KC__LIST_IS_MAP) || merges_as_patch(field);
    kc__fields_type_set_list(list, value_type(types, field),
                             associative ? KC__FIELDS_ASSOCIATIVE : KC__FIELDS_ATOMIC);
    if (field->marks & KC__LIST_IS_MAP)
        add_list_keys(types, list, field->list_keys);
    else if (merges_as_patch(field) && field->merge_key)
        kc__fields_type_add_key(types, list, kc_cstr(field->merge_key));
    return list;
}

static const kc__fields_type *field_map_type(kc__fields_types *types, const kc__type_field *field)
{
    kc__fields_type *map = kc__fields_type_new(types, (kc_str){0});
    kc__fields_type_set_object(map, value_type(types, field),
                               field->marks & KC__MAP_IS_ATOMIC ? KC__FIELDS_ATOMIC
                                                                : KC__FIELDS_GRANULAR);
    return map;
}

/* A struct whose marker differs from that of its type. */
static const kc__fields_type *field_value_type(kc__fields_types *types, const kc__type_field *field)
{
    const kc__fields_type *type = value_type(types, field);
    if (field->kind != KC__FIELD_MESSAGE ||
        !(field->marks & (KC__MAP_IS_ATOMIC | KC__MAP_IS_GRANULAR)))
        return type;
    return kc__fields_type_with_relation(
        types, type, field->marks & KC__MAP_IS_ATOMIC ? KC__FIELDS_ATOMIC : KC__FIELDS_GRANULAR);
}

static const kc__fields_type *field_type(kc__fields_types *types, const kc__type_field *field)
{
    switch (field->shape) {
    case KC__REPEATED: return field_list_type(types, field);
    case KC__MAPPED: return field_map_type(types, field);
    default: return field_value_type(types, field);
    }
}

/* ---- messages ---- */

/* The default of a scalar field as JSON; NULL: none. */
static const char *field_default(const kc__type_field *field)
{
    if (field->fallback)
        return field->fallback;
    bool omitted = field->marks & (KC__POINTER | KC__OMIT_EMPTY) || field->shape != KC__SINGLE;
    return omitted || field->kind >= KC_COUNT(scalars) ? NULL : scalars[field->kind].zero;
}

static void add_fields(kc__fields_types *types, kc__fields_type *type,
                       const kc__type_message *message)
{
    for (size_t i = 0; i < message->n_fields; i++) {
        const kc__type_field *field = &message->fields[i];
        if (field->marks & KC__INLINE) {
            add_fields(types, type, field->message);
            continue;
        }
        const char *fallback = field_default(field);
        kc_auto(kc_view) *view = fallback ? kc_view_parse(kc_cstr(fallback), NULL, NULL) : NULL;
        kc__fields_type_add_field(types, type, field->name, field_type(types, field),
                                  view ? kc_view_root(view) : NULL);
    }
}

const kc__fields_type *kc__type_fields_add(kc__fields_types *types, const kc__type_message *message)
{
    if (message->marks & KC__ANY_VALUE)
        return kc__fields_types_deduced(types);
    kc__fields_type *type = kc__fields_type_new(types, message->name);
    if (type->has_object)
        return type;
    /* First, because messages may refer to themselves. */
    kc__fields_type_set_object(type, message->n_fields ? NULL : kc__fields_types_deduced(types),
                               message->marks & KC__MAP_IS_ATOMIC ? KC__FIELDS_ATOMIC
                                                                  : KC__FIELDS_GRANULAR);
    add_fields(types, type, message);
    return type;
}
