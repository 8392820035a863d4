/* SPDX-License-Identifier: Apache-2.0 */
/* crd_internal.h: a CRD under construction. */
#ifndef KC_GENERATE_CRD_INTERNAL_H
#define KC_GENERATE_CRD_INTERNAL_H

#include "generate/schema/make.h"

typedef struct kc__gen_crd_version {
    const kc__gen_package *package;
    const kc__gen_type *type;
    kc__gen_schema *schema;
    bool is_served, is_storage, is_deprecated, is_skipped;
    bool has_subresources, has_status;
    kc_str warning, scale;      /* JSON; p == NULL: none. */
    kc_buf columns, selectable; /* JSON: comma-separated items. */
} kc__gen_crd_version;

/* A label or annotation. */
typedef struct kc__gen_crd_pair {
    kc_str name, value;
} kc__gen_crd_pair;

typedef struct kc__gen_crd {
    kc_str group, kind, plural, singular, scope;
    kc_str short_names, categories; /* JSON; p == NULL: none. */
    KC_VEC(kc__gen_crd_pair) annotations;
    KC_VEC(kc__gen_crd_pair) labels;
    KC_VEC(kc__gen_crd_version) versions;
} kc__gen_crd;

void kc__gen_crd_done(kc__gen_crd *crd);

/* Applies the markers of a version to the CRD and the version. */
void kc__gen_crd_apply(kc__gen_schema_maker *maker, kc__gen_crd *crd, kc__gen_crd_version *version);

/* Reports CEL rules that the API server would reject (crd_rules.c). */
void kc__gen_crd_check_rules(kc__gen_schema_maker *maker, const kc__gen_crd_version *version);

/* Appends it as JSON. */
void kc__gen_crd_write(const kc__gen_crd *crd, const char *generator_version, kc_buf *out);

#endif
