/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_resource.h: a compiled CustomResourceDefinition: the resources that the server serves for it.
 *
 *     kc_auto(kc__crd) *robots = kc__crd_compile(crd, NULL, err);
 *     const kc__resource_set *additions[] = {kc__crd_resources(robots), …};
 *     kc__registry *kinds = kc__registry_new(&(kc__registry_opts){.additions = additions, …});
 *
 * A compiled CRD is immutable and reference-counted: registries reference it, and a request that
 * holds a registry may use everything in it. When a CRD changes, it is compiled again; unchanged
 * parts (mostly schemas) are shared with the previous one.
 */
#ifndef KC_APISERVER_CRD_RESOURCE_H
#define KC_APISERVER_CRD_RESOURCE_H

#include "apiserver/kinds/resource.h"
#include "kc/cel_rules.h"
#include "kc/field_selector.h"
#include "kc/object.h"
#include "kc/path.h"
#include "kc/schema.h"

typedef struct kc__crd kc__crd;

/* The paths of the scale subresource. */
typedef struct kc__custom_scale {
    kc_path *spec_replicas, *status_replicas;
    kc_path *selector;                                                     /* NULL: none. */
    const char *spec_replicas_text, *status_replicas_text, *selector_text; /* ".spec.replicas" */
} kc__custom_scale;

/* One version of a CRD: how its objects are decoded, validated and printed. */
typedef struct kc__custom_topology kc__custom_topology;

typedef struct kc__custom {
    const kc__crd *crd;
    const char *group, *version, *kind;
    const char *api_version; /* "example.com/v1" */
    bool namespaced, served, storage;
    kc_schema *schema;   /* NULL: none, nothing is validated. */
    kc_str schema_text;  /* As JSON, for OpenAPI. */
    bool preserve;       /* Keeps unknown fields: a legacy CRD (spec.preserveUnknownFields). */
    bool status;         /* Has the status subresource. */
    kc_cel_rules *rules; /* Those of the schema (x-kubernetes-validations); NULL: none. */
    bool embeds;         /* Uses x-kubernetes-embedded-resource. */
    const kc__custom_scale *scale;        /* NULL: no scale subresource. */
    kc_fields *fields;                    /* Fields that selectors may name. */
    const char *const *selectable;        /* Those that the CRD defines; ends with NULL. */
    struct kc__custom_topology *topology; /* crd_topology.c. */
    const char *deprecation;              /* Warning for clients of this version; NULL: none. */
} kc__custom;

/*
 * Compiles a CRD whose names are accepted (crd_status.h). `before` is the same CRD compiled
 * earlier, from which unchanged parts are shared; may be NULL. NULL on error: a schema or a path
 * that cannot be compiled, or one of the server's own groups, which validation would have refused.
 * The caller drops the reference.
 */
kc__crd *kc__crd_compile(const kc_object *crd, const kc__crd *before, kc_error *err);
kc__crd *kc__crd_unref(const kc__crd *crd);
KC_AUTO_DEFINE(kc__crd, kc__crd_unref)

/* A resource for each served version, for a registry; each has its kc__custom. */
const kc__resource_set *kc__crd_resources(const kc__crd *crd);
/* All versions, served or not, in the order of the CRD. */
const kc__custom *kc__crd_versions(const kc__crd *crd, size_t *ret_n);
/* The storage version. */
const kc__custom *kc__crd_storage(const kc__crd *crd);
/* The version with this apiVersion, served or not; NULL: there is none. */
const kc__custom *kc__crd_version(const kc__crd *crd, kc_str api_version);
/* Whether both serve objects in the same way: it is the same CRD, and neither the spec nor the
 * accepted names have changed. */
bool kc__crd_serves_alike(const kc__crd *a, const kc__crd *b);
/* The gate of creates (kinds/create_gate.h). A CRD that is compiled again keeps its gate. */
struct kc__resource_create_gate *kc__crd_gate(const kc__crd *crd);

#endif
