/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_validate_internal.h: what the parts of validation share: schema_validate.c walks,
 * schema_scalar.c judges single values, schema_report.c finds the words.
 */
#ifndef KC_SCHEMA_VALIDATE_INTERNAL_H
#define KC_SCHEMA_VALIDATE_INTERNAL_H

#include "object/schema_internal.h"

typedef struct kc__validator {
    kc_field_errors *errors; /* NULL in the quiet pass, which stops at the first error. */
    const char *base;
    uint64_t matches; /* Checks passed, as kube-openapi counts them. */
    uint64_t spent;   /* Of the budget. */
    unsigned inside;  /* Branches around the current value. */
    unsigned depth;
    bool exhausted;
    kc__matcher matcher;
    /* Ratcheting, in the second pass only (schema_ratchet.c). */
    const kc_value *old;      /* What stood in the place of the current value; NULL: nothing. */
    const kc_map *old_things; /* Of it, if it is long: members by name, or items by key. */
    bool differs;             /* Something in the current value is known to be new. */
} kc__validator;

void kc__validator_init(kc__validator *v, const kc_schema_validate_opts *opts);

/* Whole numbers above that are floating point to Kubernetes. */
static inline bool kc__is_beyond_int64(const yyjson_val *value)
{
    return (value->tag & 31) == (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT) &&
           value->uni.u64 > INT64_MAX;
}

/* ---- schema_scalar.c: each returns whether all is well, and reports in the second pass ---- */

/* A type to check: declared, or implied by a format. */
bool kc__has_type(const kc_schema *schema);
/* For a value whose type is not one that is accepted at first sight. */
bool kc__check_type(kc__validator *v, const kc_schema *schema, yyjson_val *value,
                    const kc__frame *at, uint8_t bits);
bool kc__check_text(kc__validator *v, const kc__text_rules *rules, yyjson_val *value,
                    const kc__frame *at);
bool kc__check_number(kc__validator *v, const kc__number_rules *rules, yyjson_val *value,
                      const kc__frame *at);
bool kc__check_choice(kc__validator *v, const kc__choice *choice, yyjson_val *value,
                      const kc__frame *at);
bool kc__check_items(kc__validator *v, const kc__size_rules *rules, yyjson_val *array,
                     const kc__frame *at);
bool kc__check_properties(kc__validator *v, const kc__size_rules *rules, size_t n,
                          const kc__frame *at);

/* ---- schema_ratchet.c ---- */

/* The places of an old object or list, found by name or key. */
typedef struct kc__old_things {
    kc_map map;
    kc_arena arena;
    const kc_map *outer; /* Those of the value around. */
} kc__old_things;

/* For the children of the current value. Ended by kc__old_leave. */
void kc__old_enter_object(kc__validator *v, kc__old_things *things);
void kc__old_enter_list(kc__validator *v, const kc_schema *schema, kc__old_things *things);
void kc__old_leave(kc__validator *v, kc__old_things *things);
/* What a child replaces; NULL when that is nothing. */
const kc_value *kc__old_member(const kc__validator *v, kc_str name);
const kc_value *kc__old_item(const kc__validator *v, const kc_schema *schema, const kc_value *item);

/* ---- schema_report.c: do nothing in the quiet pass; all return false ---- */

/* "spec.replicas: Invalid value: 11: spec.replicas in body should be …"; the value is text already,
 * the sentence begins after "in body ". */
bool kc__report(kc__validator *v, const kc__frame *at, kc_field_error_type type, kc_str value,
                const char *fmt, ...) KC_PRINTF(5, 6);
/* The same with a value as it is. */
bool kc__report_value(kc__validator *v, const kc__frame *at, kc_field_error_type type,
                      const kc_value *value, const char *fmt, ...) KC_PRINTF(5, 6);
/* Without a path in the sentence: "spec.tags: Too many: 4: must have at most 3 items". */
bool kc__report_plain(kc__validator *v, const kc__frame *at, kc_field_error_type type, kc_str value,
                      const char *fmt, ...) KC_PRINTF(5, 6);
/* About a combination: the field is the base, the path is in the sentence, quoted. */
bool kc__report_composite(kc__validator *v, const kc__frame *at, const char *fmt, ...)
    KC_PRINTF(3, 4);
bool kc__report_type(kc__validator *v, const kc_schema *schema, const char *found,
                     const kc__frame *at);
bool kc__report_required(kc__validator *v, const kc__frame *at, const kc__row *row);
bool kc__report_forbidden(kc__validator *v, const kc__frame *at, kc_str name);

#endif
