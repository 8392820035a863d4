/* SPDX-License-Identifier: Apache-2.0 */
/* crd_internal.h: a CRD while it is put together. */
#ifndef KC_GENERATE_CRD_INTERNAL_H
#define KC_GENERATE_CRD_INTERNAL_H

#include "generate/schema_make.h"

typedef struct kc__crd_version {
    const kc__gen_package *package;
    const kc__gen_type *type;
    kc__schema *schema;
    bool is_served, is_storage, is_deprecated, is_skipped;
    bool has_subresources, has_status;
    kc_str warning, scale;      /* JSON; p == NULL: none. */
    kc_buf columns, selectable; /* JSON, items with commas between. */
} kc__crd_version;

/* A label or annotation. */
typedef struct kc__crd_pair {
    kc_str name, value;
} kc__crd_pair;

typedef struct kc__crd {
    kc_str group, kind, plural, singular, scope;
    kc_str short_names, categories; /* JSON; p == NULL: none. */
    KC_VEC(kc__crd_pair) annotations;
    KC_VEC(kc__crd_pair) labels;
    KC_VEC(kc__crd_version) versions;
} kc__crd;

void kc__crd_done(kc__crd *crd);

/* Applies what a version's markers say of the CRD and of the version. */
void kc__crd_apply(kc__schema_maker *maker, kc__crd *crd, kc__crd_version *version);

/* Appends it as JSON. */
void kc__crd_write(const kc__crd *crd, const char *generator_version, kc_buf *out);

#endif
