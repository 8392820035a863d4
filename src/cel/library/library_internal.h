/* SPDX-License-Identifier: Apache-2.0 */
/* library_internal.h: short names for the tables of the libraries. */
#ifndef KC_CEL_LIBRARY_INTERNAL_H
#define KC_CEL_LIBRARY_INTERNAL_H

#include "cel/eval/eval_internal.h"

#define T_BOOL    &kc__cel_type_bool
#define T_INT     &kc__cel_type_int
#define T_UINT    &kc__cel_type_uint
#define T_DOUBLE  &kc__cel_type_double
#define T_STRING  &kc__cel_type_string
#define T_BYTES   &kc__cel_type_bytes
#define T_TIME    &kc__cel_type_timestamp
#define T_SPAN    &kc__cel_type_duration
#define T_DYN     &kc__cel_type_dyn
#define T_A       &kc__cel_type_a
#define T_B       &kc__cel_type_b
#define T_LIST    &kc__cel_type_list_a
#define T_MAP     &kc__cel_type_map_ab
#define T_STRINGS &kc__cel_type_list_string
#define T_OPT     &kc__cel_type_optional_a

/* A row of a table: the signature is the result and the arguments, the target first. */
#define KC__CEL_ROW(function_, id_, member_, impl_, actual_, estimate_, result_, ...)           \
    {                                                                                           \
        .function = function_, .id = id_, .member = member_, .impl = impl_, .dispatched = true, \
        .costs_by_name = true, .actual = actual_, .estimate = estimate_, .result = result_,     \
        .args = {                                                                               \
            __VA_ARGS__                                                                         \
        }                                                                                       \
    }

/* The same for a function whose cost counts only if the checker decided on one overload. */
#define KC__CEL_ROW_BY_ID(function_, id_, member_, impl_, actual_, estimate_, result_, ...)     \
    {                                                                                           \
        .function = function_, .id = id_, .member = member_, .dispatched = true, .impl = impl_, \
        .actual = actual_, .estimate = estimate_, .result = result_, .args = {                  \
            __VA_ARGS__                                                                         \
        }                                                                                       \
    }

/* An opaque type of a library; further members may follow. */
#define KC__CEL_OPAQUE(name_, equal_, write_, ...) \
    {.kind = KC_CEL_OPAQUE, .name = name_, .equal = equal_, .write = write_, ##__VA_ARGS__}

/* Every function of a library has this form. */
#define KC__CEL_FUNCTION(name) \
    static kc_cel_value name(kc__cel_eval *ev KC_UNUSED, const kc_cel_value *a, size_t n KC_UNUSED)

/* An opaque value with a copy of the data. */
static inline kc_cel_value kc__cel_opaque(kc__cel_eval *ev, const kc_cel_type *type,
                                          const void *data, size_t size)
{
    void *copy = kc__cel_alloc(ev, size);
    if (!copy)
        return kc__cel_error_const(ev->why);
    memcpy(copy, data, size);
    return (kc_cel_value){.kind = KC_CEL_OPAQUE, .opaque = {type, copy}};
}

/* ---- costs that several libraries share (costs.c) ---- */

/* The size of the first argument, or twice that, or a traversal of all it contains. */
uint64_t kc__cel_cost_first(const kc_cel_value *a, size_t n, kc_cel_value result);
uint64_t kc__cel_cost_first_twice(const kc_cel_value *a, size_t n, kc_cel_value result);
uint64_t kc__cel_cost_traversal(const kc_cel_value *a, size_t n, kc_cel_value result);
kc__cel_estimate kc__cel_estimate_first(const kc__cel_estimate_args *args);
kc__cel_estimate kc__cel_estimate_first_twice(const kc__cel_estimate_args *args);
/* The same, with a result as large as the argument. */
kc__cel_estimate kc__cel_estimate_first_sized(const kc__cel_estimate_args *args);
kc__cel_estimate kc__cel_estimate_list_traversal(const kc__cel_estimate_args *args);

#endif
