/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h: which objects of a kind are kept: a namespace, labels, fields.
 */
#ifndef KC_RUNTIME_SCOPE_H
#define KC_RUNTIME_SCOPE_H

#include "kc/field_selector.h"
#include "kc/selector.h"

/* Immutable. The texts are what requests say; the rest is for matching here. */
typedef struct kc__scope {
    char *ns; /* NULL: all. */
    char *labels_text, *fields_text;
    kc_selector *labels;
    kc_field_selector *fields;
    kc_fields *field_paths;
} kc__scope;

/* Copies. KC_BAD_REQUEST when a selector is none; then `scope` is empty. */
int kc__scope_init(kc__scope *scope, const char *ns, const char *labels, const char *fields,
                   kc_error *err);
void kc__scope_done(kc__scope *scope);
/* Whether the object belongs to it. Fields are looked up at the paths they are named by; the
 * defaults that a server may know for absent ones are not known here. */
bool kc__scope_has(const kc__scope *scope, const kc_object *object);

/* The fields a selector names, at the paths of their names. NULL on error. */
kc_fields *kc__fields_named_by(const kc_field_selector *selector, kc_error *err);

#endif
