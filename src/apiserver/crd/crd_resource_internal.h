/* SPDX-License-Identifier: Apache-2.0 */
/* crd_resource_internal.h: the inside of a compiled definition. */
#ifndef KC_APISERVER_CRD_RESOURCE_INTERNAL_H
#define KC_APISERVER_CRD_RESOURCE_INTERNAL_H

#include "apiserver/crd/crd_gate.h"
#include "apiserver/crd/crd_resource.h"
#include "apiserver/printing/table.h"
#include "kc/jsonpath.h"

/* What belongs to a version beside its kc__custom. */
typedef struct kc__custom_parts {
    kc__columns columns;
    kc_jsonpath **paths; /* Of the columns after the name. */
    size_t n_paths;
    kc_str digest; /* Of the schema: by which another one is seen to be the same. */
    kc__custom_scale scale;
} kc__custom_parts;

struct kc__crd {
    kc__resource_set set; /* First: the set is what snapshots count. */
    kc_arena arena;       /* All text, arrays and structs. */
    kc__custom *versions;
    kc__custom_parts *parts; /* At the same places. */
    size_t n_versions;
    const kc__custom *storage;
    kc_str identity; /* What decides how objects are served: two that have the same do it alike. */
    kc_str uid;
    kc__gate *gate;
};

/* crd_columns.c: the columns of a version. */
void kc__custom_columns(kc_arena *arena, const kc_value *columns, kc__custom_parts *ret);

#endif
