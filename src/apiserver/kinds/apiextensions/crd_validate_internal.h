/* SPDX-License-Identifier: Apache-2.0 */
/* crd_validate_internal.h: declarations shared by the files of CRD validation. */
#ifndef KC_APISERVER_CRD_VALIDATE_INTERNAL_H
#define KC_APISERVER_CRD_VALIDATE_INTERNAL_H

#include "apiserver/kinds/apiextensions/crd_internal.h"
#include "apiserver/kinds/apiextensions/crd_validate.h"
#include "kc/map.h"
#include "kc/names.h"
#include "kc/schema.h"

/* The state of one validation. */
typedef struct kc__crd_check {
    const kc_value *crd, *spec, *old; /* old: NULL if the CRD is new. */
    kc_field_errors *errors;
    const kc__crd_rules *rules;
    kc_buf path; /* Path of the value being validated. */
} kc__crd_check;

/* Appends to the path. Pass the result to kc__crd_leave. */
size_t kc__crd_enter(kc__crd_check *c, const char *fmt, ...) KC_PRINTF(2, 3);
void kc__crd_leave(kc__crd_check *c, size_t before);

/* Add an error about a member of the value at the path; "": about the value itself. */
void kc__crd_required(kc__crd_check *c, const char *member, const char *detail);
void kc__crd_forbidden(kc__crd_check *c, const char *member, const char *detail);
void kc__crd_invalid(kc__crd_check *c, const char *member, kc_str text, const char *detail);
/* Adds one error with all violations of a name rule, comma-separated, after `prefix`. */
void kc__crd_check_name(kc__crd_check *c, const char *member, kc_name_rule rule, kc_str text,
                        kc_str shown, const char *prefix);
/* The text is required and must be one of the words, which end with NULL. */
void kc__crd_check_word(kc__crd_check *c, const char *member, kc_str text,
                        const char *const *words);

/* crd_validate_names.c: validates the names at the path. */
void kc__crd_check_names(kc__crd_check *c, const kc_value *names);
/* crd_validate_version.c: validate parts of a version, or parts that all versions share, at the
 * path. */
void kc__crd_check_schema(kc__crd_check *c, const kc_value *version, bool status);
void kc__crd_check_subresources(kc__crd_check *c, const kc_value *subresources);
void kc__crd_check_columns(kc__crd_check *c, const kc_value *columns);
void kc__crd_check_selectable(kc__crd_check *c, const kc_value *version, const char *without);
void kc__crd_check_version(kc__crd_check *c, const kc_value *version, const bool *shared);
/* crd_validate_rules.c: checks the CEL rules of one schema. */
typedef struct kc__crd_rule_check {
    kc_schema_rule_checks checks; /* For kc_schema_check. */
    kc_map stored_rules, stored_messages;
    bool unchanged;
    int64_t budget; /* Cost of evaluating the rules of all defaults. */
} kc__crd_rule_check;

/* `old` is the CRD that is replaced, or NULL; `unchanged`: this schema is as before. */
void kc__crd_rule_check_init(kc__crd_rule_check *check, const kc_value *old, bool unchanged);
void kc__crd_rule_check_done(kc__crd_rule_check *check);
/* crd_validate_conversion.c */
void kc__crd_check_conversion(kc__crd_check *c);
/* crd_validate_text.c: writes the versions as Kubernetes shows them in an error. */
void kc__crd_write_versions(kc_buf *out, const kc_value *versions, const bool *shared);

#endif
