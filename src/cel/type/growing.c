/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growing.c: types of variables that are defined by expressions, one after the other.
 *
 * A policy defines variables; each expression sees those before it as fields of one object. The
 * names of all variables are known in advance, so the fields are sorted once, and a field appears
 * when it gets its type. A variable costs a binary search, however many there are.
 */
#include "cel/type/type_internal.h"

static int compare_growing_fields(const void *a, const void *b)
{
    const kc__cel_field *x = a, *y = b;
    return kc_str_cmp(x->name, y->name);
}

kc_cel_type *kc_cel_types_growing_object(kc_cel_types *types, const char *name, const kc_str *names,
                                         size_t n)
{
    kc_arena *arena = kc__cel_types_arena(types);
    kc_cel_type *object = kc_cel_types_object(types, name);
    kc__cel_field *fields = kc_arena_calloc(arena, n + 1, sizeof(*fields));
    for (size_t i = 0; i < n; i++)
        fields[i].name = fields[i].json = kc_arena_str(arena, names[i]);
    qsort(fields, n, sizeof(*fields), compare_growing_fields);
    for (size_t i = 0; i < n; i++)
        if (!object->n_fields || !kc_str_eq(fields[object->n_fields - 1].name, fields[i].name))
            fields[object->n_fields++] = fields[i];
    object->fields = fields;
    return object;
}

void kc_cel_type_set_field(kc_cel_type *object, kc_str name, const kc_cel_type *type)
{
    const kc__cel_field key = {.name = name};
    kc__cel_field *field =
        bsearch(&key, object->fields, object->n_fields, sizeof(*field), compare_growing_fields);
    if (field)
        field->type = type;
}

const kc_cel_type *kc_cel_types_of_result(kc_cel_types *types, const kc_cel_type *result)
{
    if (!result)
        return &kc__cel_type_dyn;
    switch (result->kind) {
    case KC_CEL_NULL:
    case KC_CEL_BOOL:
    case KC_CEL_INT:
    case KC_CEL_UINT:
    case KC_CEL_DOUBLE:
    case KC_CEL_STRING:
    case KC_CEL_BYTES:
    case KC_CEL_TIMESTAMP:
    case KC_CEL_DURATION: return kc_cel_type_basic(result->kind);
    case KC_CEL_LIST:
        return kc_cel_types_list(types, kc_cel_types_of_result(types, result->params[0]));
    case KC_CEL_MAP:
        return kc_cel_types_map(types, kc_cel_types_of_result(types, result->params[0]),
                                kc_cel_types_of_result(types, result->params[1]));
    default: return &kc__cel_type_dyn;
    }
}

void kc_cel_type_write_name(const kc_cel_type *type, kc_buf *out)
{
    kc_buf_puts(out, type->name);
    for (unsigned i = 0; i < type->n_params; i++) {
        kc_buf_puts(out, i ? ", " : "(");
        kc_cel_type_write_name(type->params[i], out);
    }
    if (type->n_params)
        kc_buf_putc(out, ')');
}
