/* SPDX-License-Identifier: Apache-2.0 */
/* crd_resource_internal.h: the internals of a compiled CRD. */
#ifndef KC_APISERVER_CRD_RESOURCE_INTERNAL_H
#define KC_APISERVER_CRD_RESOURCE_INTERNAL_H

#include "apiserver/crd/crd_conversion.h"
#include "apiserver/crd/crd_resource.h"
#include "apiserver/kinds/create_gate.h"
#include "apiserver/kinds/topology.h"
#include "apiserver/kinds/unservable_set.h"
#include "apiserver/printing/table.h"
#include "kc/jsonpath.h"
#include "kc/map.h"

/* Parts of a version that are not in its kc__custom. */
typedef struct kc__custom_parts {
    kc__print_columns columns;
    kc_jsonpath **paths; /* Paths of the columns after the name. */
    size_t n_paths;
    kc_str digest; /* Of the schema; equal digests mean equal schemas. */
    kc__custom_scale scale;
} kc__custom_parts;

struct kc__crd {
    kc__resource_set set; /* First member: registries count references to the set. */
    kc_arena arena;       /* All strings, arrays and structs. */
    kc__custom *versions;
    kc__custom_parts *parts; /* Parallel to the versions. */
    size_t n_versions;
    const kc__custom *storage;
    kc_map schemas;  /* The first version with each schema, by the schema's digest. */
    kc_str identity; /* Determines how objects are served: equal identities serve alike. */
    kc_str uid;
    kc__resource_create_gate *gate;
    kc__resource_unservable_set *unservable;
    const kc__crd_webhook *webhook; /* Converts between versions; NULL: strategy None. */
    kc__crd_converter *converter;   /* Calls the webhook; NULL: not in a server. */
    _Atomic bool converts;          /* See kc__crd_set_converting. */
};

/* crd_topology.c: the topology of a version, built by the first call. Any thread. */
struct kc__custom_topology {
    _Atomic(kc__resource_topology *) built;
};
const kc__resource_topology *kc__crd_topology(const kc__custom *version);
/* True if a version has a large schema and no topology yet. Any thread. */
bool kc__crd_topology_is_slow(const kc__crd *crd);
void kc__crd_topology_free(const kc__custom *version);
/* crd_columns.c: the columns of a version. */
void kc__crd_columns(kc_arena *arena, const kc_value *columns, kc__custom_parts *ret);

#endif
