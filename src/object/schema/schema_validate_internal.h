/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_validate_internal.h: shared by the parts of validation: validate.c traverses,
 * schema_scalar.c validates single values, report.c formats errors.
 */
#ifndef KC_SCHEMA_VALIDATE_INTERNAL_H
#define KC_SCHEMA_VALIDATE_INTERNAL_H

#include "object/schema/schema_internal.h"

typedef struct kc__schema_validator {
    kc_field_errors *errors; /* NULL in the quiet pass, which stops at the first error. */
    const char *base;
    uint64_t matches; /* Checks passed, as kube-openapi counts them. */
    uint64_t spent;   /* Of the budget: one step per KC__SCHEMA_STEP_BYTES bytes, or per value. */
    unsigned inside;  /* Nesting depth of branches around the current value. */
    unsigned depth;
    bool exhausted;
    bool counting;          /* In the second pass: selecting the best branch, without reports. */
    uint64_t pattern_steps; /* Left for patterns (object/regex/regex.h). */
    kc__schema_last_rows last_rows[KC__SCHEMA_LAST_LEVELS];
    /* Ratcheting, only in the second pass (ratchet.c). */
    const kc_value *old;      /* The value that the current one replaces; NULL: none. */
    const kc_map *old_things; /* Its members by name, or items by key, if it is long. */
    bool differs;             /* Some part of the current value is known to be new. */
} kc__schema_validator;

/*
 * The budget of a traversal beyond visiting each value once: values visited inside of branches, and
 * text that is compared, written or searched there or for an enum. About 0.2 s for each pass.
 */
enum { KC__SCHEMA_VALIDATE_BUDGET = 4 * 1000 * 1000, KC__SCHEMA_STEP_BYTES = 16 };

/* Charges the work on this many bytes to the budget; checked at the next value. */
static inline void kc__schema_charge_bytes(kc__schema_validator *v, size_t bytes)
{
    v->spent += 1 + bytes / KC__SCHEMA_STEP_BYTES;
}

/* The same for a whole value, without its strings. */
static inline void kc__schema_charge_value(kc__schema_validator *v, const kc_value *value)
{
    v->spent += kc_value_count(value);
}

void kc__schema_validator_init(kc__schema_validator *v, const kc_schema_validate_opts *opts);

/* Kubernetes treats larger integers as floating point. */
static inline bool kc__schema_is_beyond_int64(const yyjson_val *value)
{
    return (value->tag & 31) == (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT) &&
           value->uni.u64 > INT64_MAX;
}

/* True when a number is surely valid: plain bounds are all rules, and it is between them. The value
 * must be an integer that fits int64_t, or floating point. */
static inline bool kc__schema_is_in_bounds(const kc__schema_number_rules *rules,
                                           const yyjson_val *value)
{
    if (rules->has & ~(uint64_t)(KC__SCHEMA_MIN | KC__SCHEMA_MAX))
        return false;
    if ((value->tag & 31) == (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL))
        return value->uni.f64 >= rules->min && value->uni.f64 <= rules->max;
    return value->uni.i64 >= rules->whole_min && value->uni.i64 <= rules->whole_max;
}

/* ---- schema_scalar.c: each returns true if valid, and reports in the second pass ---- */

/* True if there is a type to check: declared, or implied by a format. */
bool kc__schema_has_type(const kc_schema *schema);
/* For a value whose type is not accepted without further checks. */
bool kc__schema_check_type(kc__schema_validator *v, const kc_schema *schema, yyjson_val *value,
                           const kc__schema_path_frame *at, uint8_t bits);
bool kc__schema_check_text(kc__schema_validator *v, const kc__schema_text_rules *rules,
                           yyjson_val *value, const kc__schema_path_frame *at);
bool kc__schema_check_number(kc__schema_validator *v, const kc__schema_number_rules *rules,
                             yyjson_val *value, const kc__schema_path_frame *at);
bool kc__schema_check_enum(kc__schema_validator *v, const kc__schema_enum *choice,
                           yyjson_val *value, const kc__schema_path_frame *at);
bool kc__schema_check_items(kc__schema_validator *v, const kc__schema_size_rules *rules,
                            yyjson_val *array, const kc__schema_path_frame *at);
bool kc__schema_check_properties(kc__schema_validator *v, const kc__schema_size_rules *rules,
                                 size_t n, const kc__schema_path_frame *at);

/* ---- ratchet.c ---- */

/* The parts of an old object or list, by name or key. */
typedef struct kc__schema_old_children {
    kc_map map;
    kc_arena arena;
    const kc_map *outer; /* Those of the enclosing value. */
} kc__schema_old_children;

/* For the children of the current value. Ended by kc__schema_old_leave. */
void kc__schema_old_enter_object(kc__schema_validator *v, kc__schema_old_children *things);
void kc__schema_old_enter_list(kc__schema_validator *v, const kc_schema *schema,
                               kc__schema_old_children *things);
void kc__schema_old_leave(kc__schema_validator *v, kc__schema_old_children *things);
/* The value that a child replaces; NULL when there is none. */
const kc_value *kc__schema_old_member(const kc__schema_validator *v, kc_str name);
const kc_value *kc__schema_old_item(const kc__schema_validator *v, const kc_schema *schema,
                                    const kc_value *item);

/* ---- report.c: no effect in the quiet pass; all return false ---- */

/* "spec.replicas: Invalid value: 11: spec.replicas in body should be …"; the value is text, the
 * sentence starts after "in body ". */
bool kc__schema_report(kc__schema_validator *v, const kc__schema_path_frame *at,
                       kc_field_error_type type, kc_str value, const char *fmt, ...)
    KC_PRINTF(5, 6);
/* The same with a value. */
bool kc__schema_report_value(kc__schema_validator *v, const kc__schema_path_frame *at,
                             kc_field_error_type type, const kc_value *value, const char *fmt, ...)
    KC_PRINTF(5, 6);
/* Without a path in the sentence: "spec.tags: Too many: 4: must have at most 3 items". */
bool kc__schema_report_plain(kc__schema_validator *v, const kc__schema_path_frame *at,
                             kc_field_error_type type, kc_str value, const char *fmt, ...)
    KC_PRINTF(5, 6);
/* About a combination: the field is the base, the sentence contains the quoted path. */
bool kc__schema_report_composite(kc__schema_validator *v, const kc__schema_path_frame *at,
                                 const char *fmt, ...) KC_PRINTF(3, 4);
bool kc__schema_report_type(kc__schema_validator *v, const kc_schema *schema, const char *found,
                            const kc__schema_path_frame *at);
bool kc__schema_report_required(kc__schema_validator *v, const kc__schema_path_frame *at,
                                const kc__schema_property_row *row);
bool kc__schema_report_forbidden(kc__schema_validator *v, const kc__schema_path_frame *at,
                                 kc_str name);

#endif
