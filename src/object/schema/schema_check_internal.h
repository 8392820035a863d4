/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_check_internal.h: shared by the rules for CRDs. They inspect the original schema, since an
 * invalid one may not compile. A keyword counts as absent when it is null or of the wrong type; the
 * decoder of CRDs rejects the latter.
 */
#ifndef KC_SCHEMA_CHECK_INTERNAL_H
#define KC_SCHEMA_CHECK_INTERNAL_H

#include "object/schema/schema_internal.h"

typedef struct kc__schema_checker {
    kc_buf path; /* Of the current schema. */
    kc_field_errors *errors;
    const kc_schema_rule_checks *rules; /* NULL: rules are checked for form only. */
    kc_map indexes; /* Of long objects, by address; see kc__schema_check_member. */
    kc_arena memory;
} kc__schema_checker;

/* A member of an object; for many lookups: long objects are indexed once. */
const kc_value *kc__schema_check_member(kc__schema_checker *c, const kc_value *object, kc_str name);

/* Appends to the path ("items", "properties[spec]"); pass the result to kc__schema_check_leave. */
size_t kc__schema_check_enter(kc__schema_checker *c, const char *fmt, ...) KC_PRINTF(2, 3);
void kc__schema_check_leave(kc__schema_checker *c, size_t before);

/* Adds an error about a keyword below the path; "" for the schema itself. */
void kc__schema_check_required(kc__schema_checker *c, const char *keyword, const char *detail);
void kc__schema_check_forbid(kc__schema_checker *c, const char *keyword, const char *detail);
/* `value` may be NULL, which is shown as "". */
void kc__schema_check_invalid(kc__schema_checker *c, const char *keyword, const kc_value *value,
                              const char *detail);
/* Adds an error at the current path. */
void kc__schema_check_add(kc__schema_checker *c, kc_field_error_type type, const char *keyword,
                          kc_str value, const char *detail);

/* Keywords by type; empty, false or NULL when absent. */
kc_str kc__schema_keyword_text(const kc_value *schema, const char *keyword);
bool kc__schema_keyword_is_true(const kc_value *schema, const char *keyword);
/* Present and not null. */
const kc_value *kc__schema_keyword_value(const kc_value *schema, const char *keyword);
/* A subschema. */
const kc_value *kc__schema_subschema(const kc_value *schema, const char *keyword);

/* structural.c: the rules for structural schemas. Errors are added sorted. */
void kc__schema_check_structural(kc__schema_checker *c, const kc_value *schema);
/* The reason why a schema cannot be structural at all; NULL when there is none. */
const char *kc__schema_structural_obstacle(const kc_value *schema);
/* openapi.c: the allowed keywords and their use. */
void kc__schema_check_openapi(kc__schema_checker *c, const kc_value *schema);

#endif
