/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_internal.h: types of expressions and of values.
 *
 * A type is immutable once it is complete. The types without parameters are static; others belong
 * to an arena: that of a registry (kc_cel_types) or of one compilation.
 *
 * A type that was made from a schema also says what the checker does not need: bounds for the
 * estimation of costs, and how JSON of that type is compared and converted.
 */
#ifndef KC_CEL_TYPE_INTERNAL_H
#define KC_CEL_TYPE_INTERNAL_H

#include "kc/cel.h"
#include "kc/map.h"

typedef struct kc__cel_field {
    kc_str name; /* In expressions. */
    kc_str json; /* In the object; differs from the name when that is escaped. */
    const kc_cel_type *type;
} kc__cel_field;

/* How two values of an opaque type compare. */
typedef enum kc__cel_equality {
    KC__CEL_UNEQUAL,
    KC__CEL_EQUAL,
    KC__CEL_INCOMPARABLE, /* "no such overload" */
} kc__cel_equality;

static inline kc__cel_equality kc__cel_equality_of(bool equal)
{
    return equal ? KC__CEL_EQUAL : KC__CEL_UNEQUAL;
}

struct kc_cel_type {
    kc_cel_kind kind;
    const char *name; /* "int", "list", the name of an object, of an opaque type, of a parameter. */
    const kc_cel_type *params[2];
    unsigned n_params;
    /* Of an opaque type. */
    kc__cel_equality (*equal)(const void *a, const void *b);
    void (*write)(const void *data, kc_buf *out); /* Its text, without the function around it. */
    uint64_t (*size)(const void *data); /* As cel-go counts it for costs. Defaults to 1. */
    const char *function; /* That makes a value of its text: quantity("1"). NULL: none is shown. */
    const char *go_name;  /* Of the Go type of its content; NULL when that is the value itself. */
    int index; /* Of a type parameter: -1 and below in signatures, 0 and above in a check. */
    /* From a schema. */
    uint64_t max_elements; /* Bound of the size of a value; 0 when there is none. */
    uint64_t min_bytes;    /* The least that a value takes in JSON. */
    kc_list_type list_type;
    const kc_value *list_keys; /* x-kubernetes-list-map-keys. */
    bool declared;             /* The facts from a schema are present. */
    bool nullable;
    const char *format;     /* "date" for a timestamp in that format; NULL for others. */
    bool preserves_unknown; /* Of an object: undeclared fields exist but cannot be selected. */
    bool is_open;           /* Of an object: every field exists, as dyn. */
    bool has_escapes;       /* Of an object: a field's name differs from that in JSON. */
    size_t n_fields;
    const kc__cel_field *fields; /* Of an object, sorted by name. */
};

extern const kc_cel_type kc__cel_type_error, kc__cel_type_null, kc__cel_type_bool, kc__cel_type_int,
    kc__cel_type_uint, kc__cel_type_double, kc__cel_type_string, kc__cel_type_bytes,
    kc__cel_type_timestamp, kc__cel_type_duration, kc__cel_type_dyn, kc__cel_type_type;
/* Parameters of signatures, and containers of them. */
extern const kc_cel_type kc__cel_type_a, kc__cel_type_b, kc__cel_type_list_a, kc__cel_type_map_ab,
    kc__cel_type_optional_any, kc__cel_type_optional_a, kc__cel_type_list_dyn,
    kc__cel_type_list_string, kc__cel_type_map_dyn, kc__cel_type_type_a;

static inline bool kc__cel_type_is_dyn(const kc_cel_type *type)
{
    return type->kind == KC_CEL_DYN;
}

/* Same kind, same name, same parameters. */
bool kc__cel_type_equal(const kc_cel_type *a, const kc_cel_type *b);
const kc_cel_type *kc__cel_type_new(kc_arena *arena, kc_cel_kind kind, const char *name,
                                    const kc_cel_type *first, const kc_cel_type *second);
const kc_cel_type *kc__cel_type_list(kc_arena *arena, const kc_cel_type *element);
const kc_cel_type *kc__cel_type_map(kc_arena *arena, const kc_cel_type *key,
                                    const kc_cel_type *value);
const kc_cel_type *kc__cel_type_optional(kc_arena *arena, const kc_cel_type *inner);
const kc_cel_type *kc__cel_type_of_type(kc_arena *arena, const kc_cel_type *type);

/* A declared field; NULL when there is none. */
const kc__cel_field *kc__cel_type_field(const kc_cel_type *object, kc_str name);
/* The same by the name in JSON. */
const kc__cel_field *kc__cel_type_field_of_json(const kc_cel_type *object, kc_str name);

/* The identifier for a name of a field (escape.c). False when there is none. */
bool kc__cel_escape(kc_arena *arena, kc_str name, kc_str *ret);

/* The arena of a registry. */
kc_arena *kc__cel_types_arena(kc_cel_types *types);

#endif
