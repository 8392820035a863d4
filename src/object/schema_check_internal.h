/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_check_internal.h: what the rules of CRDs share. They look at the schema as it was written,
 * since what breaks them may not compile. A keyword counts as absent when it is null or of the
 * wrong type; the latter is for the decoder of CRDs to refuse.
 */
#ifndef KC_SCHEMA_CHECK_INTERNAL_H
#define KC_SCHEMA_CHECK_INTERNAL_H

#include "object/schema_internal.h"

typedef struct kc__check {
    kc_buf path; /* Of the schema being looked at. */
    kc_field_errors *errors;
    kc_map indexes; /* Of long objects, by address; see kc__check_member. */
    kc_arena memory;
} kc__check;

/* A member of an object, which may be asked for many: long objects are indexed once. */
const kc_value *kc__check_member(kc__check *c, const kc_value *object, kc_str name);

/* Appends to the path ("items", "properties[spec]"); the result is what kc__check_leave takes. */
size_t kc__check_enter(kc__check *c, const char *fmt, ...) KC_PRINTF(2, 3);
void kc__check_leave(kc__check *c, size_t before);

/* An error about a keyword below the path; "" for the schema itself. */
void kc__check_required(kc__check *c, const char *keyword, const char *detail);
void kc__check_forbid(kc__check *c, const char *keyword, const char *detail);
/* `value` may be NULL, which is shown as "". */
void kc__check_invalid(kc__check *c, const char *keyword, const kc_value *value,
                       const char *detail);
/* Adds an error at the path as it is. */
void kc__check_add(kc__check *c, kc_field_error_type type, const char *keyword, kc_str value,
                   const char *detail);

/* Keywords by type; empty, false or NULL when absent. */
kc_str kc__word_of(const kc_value *schema, const char *keyword);
bool kc__is_true(const kc_value *schema, const char *keyword);
/* There and not null. */
const kc_value *kc__given(const kc_value *schema, const char *keyword);
/* A subschema. */
const kc_value *kc__subschema(const kc_value *schema, const char *keyword);

/* schema_structural.c: what makes a schema structural. Errors are added sorted. */
void kc__check_structural(kc__check *c, const kc_value *schema);
/* What keeps a schema from having a structure at all; NULL when nothing does. */
const char *kc__unstructurable(const kc_value *schema);
/* schema_openapi.c: which keywords may be used, and how. */
void kc__check_openapi(kc__check *c, const kc_value *schema);

#endif
