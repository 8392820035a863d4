/* SPDX-License-Identifier: Apache-2.0 */
/* crd_validate_internal.h: what the parts of a definition's validation share. */
#ifndef KC_APISERVER_CRD_VALIDATE_INTERNAL_H
#define KC_APISERVER_CRD_VALIDATE_INTERNAL_H

#include "apiserver/crd/crd_internal.h"
#include "apiserver/crd/crd_validate.h"
#include "kc/names.h"

/* One validation. */
typedef struct kc__crd_check {
    const kc_value *crd, *spec, *old; /* old: NULL when it is new. */
    kc_field_errors *errors;
    const kc__crd_rules *rules;
    kc_buf path; /* Of what is being looked at. */
} kc__crd_check;

/* Appends to the path; the result is what kc__crd_leave takes. */
size_t kc__crd_enter(kc__crd_check *c, const char *fmt, ...) KC_PRINTF(2, 3);
void kc__crd_leave(kc__crd_check *c, size_t before);

/* Errors about a member of what is at the path; "" for that itself. */
void kc__crd_required(kc__crd_check *c, const char *member, const char *detail);
void kc__crd_forbidden(kc__crd_check *c, const char *member, const char *detail);
void kc__crd_invalid(kc__crd_check *c, const char *member, kc_str text, const char *detail);
/* One error for all that is wrong with a name, joined by commas, after `prefix`. */
void kc__crd_check_name(kc__crd_check *c, const char *member, kc_name_rule rule, kc_str text,
                        kc_str shown, const char *prefix);
/* One of the words, ended by NULL; required. */
void kc__crd_check_word(kc__crd_check *c, const char *member, kc_str text,
                        const char *const *words);

/* crd_validate_names.c: names at the path. */
void kc__crd_check_names(kc__crd_check *c, const kc_value *names);
/* crd_validate_version.c: parts of a version, or those all versions share, at the path. */
void kc__crd_check_schema(kc__crd_check *c, const kc_value *version, bool status);
void kc__crd_check_subresources(kc__crd_check *c, const kc_value *subresources);
void kc__crd_check_columns(kc__crd_check *c, const kc_value *columns);
void kc__crd_check_selectable(kc__crd_check *c, const kc_value *version, const char *without);
void kc__crd_check_version(kc__crd_check *c, const kc_value *version, const bool *shared);
/* crd_validate_conversion.c */
void kc__crd_check_conversion(kc__crd_check *c);
/* crd_validate_text.c: the versions as Kubernetes shows them in an error. */
void kc__crd_write_versions(kc_buf *out, const kc_value *versions, const bool *shared);

#endif
