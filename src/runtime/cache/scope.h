/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h: the objects of a kind that an informer caches: a namespace, labels, fields.
 */
#ifndef KC_RUNTIME_SCOPE_H
#define KC_RUNTIME_SCOPE_H

#include "kc/field_selector.h"
#include "kc/selector.h"

/* Immutable. The strings are sent in requests; the rest is for matching on the client side. */
typedef struct kc__cache_scope {
    char *ns; /* NULL: all. */
    char *labels_text, *fields_text;
    kc_selector *labels;
    kc_field_selector *fields;
    kc_fields *field_paths;
} kc__cache_scope;

/* Copies the strings. KC_BAD_REQUEST if a selector is invalid; then `scope` is empty. */
int kc__cache_scope_init(kc__cache_scope *scope, const char *ns, const char *labels,
                         const char *fields, kc_error *err);
void kc__cache_scope_done(kc__cache_scope *scope);
/* Whether the object is in scope. Fields are looked up at the paths that they are named by;
 * defaults that a server may apply to absent fields are unknown here. */
bool kc__cache_scope_has(const kc__cache_scope *scope, const kc_object *object);

/* The fields that a selector names, at the paths of their names. NULL on error. */
kc_fields *kc__cache_fields_named_by(const kc_field_selector *selector, kc_error *err);

#endif
