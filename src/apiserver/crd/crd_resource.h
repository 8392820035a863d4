/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_resource.h: what a CustomResourceDefinition makes the server serve.
 *
 *     kc_auto(kc__crd) *robots = kc__crd_compile(crd, NULL, err);
 *     const kc__resource_set *additions[] = {kc__crd_resources(robots), …};
 *     kc__kinds *kinds = kc__kinds_new(&(kc__kinds_opts){.additions = additions, …});
 *
 * A compiled definition is immutable and counted: snapshots of the kinds hold it, and requests that
 * hold a snapshot may use all that is in it. When a definition changes, it is compiled anew; what
 * did not change in it (a schema, mostly) is taken over from the one before.
 */
#ifndef KC_APISERVER_CRD_RESOURCE_H
#define KC_APISERVER_CRD_RESOURCE_H

#include "apiserver/kinds/resource.h"
#include "kc/field_selector.h"
#include "kc/object.h"
#include "kc/path.h"
#include "kc/schema.h"

typedef struct kc__crd kc__crd;

/* Where the scale subresource finds its numbers. */
typedef struct kc__custom_scale {
    kc_path *spec_replicas, *status_replicas;
    kc_path *selector;                                                     /* NULL: it has none. */
    const char *spec_replicas_text, *status_replicas_text, *selector_text; /* ".spec.replicas" */
} kc__custom_scale;

/* One version of a definition: how its objects are read, checked and shown. */
typedef struct kc__custom {
    const kc__crd *crd;
    const char *group, *version, *kind;
    const char *api_version; /* "example.com/v1" */
    bool namespaced, served, storage;
    kc_schema *schema;             /* NULL: it has none, and nothing is checked. */
    kc_str schema_text;            /* As JSON, for who describes it to clients. */
    bool preserve;                 /* Unknown fields stay: the definition is of the old kind. */
    bool status;                   /* It has the subresource. */
    bool rules;                    /* It has x-kubernetes-validations. */
    bool embeds;                   /* It has x-kubernetes-embedded-resource. */
    const kc__custom_scale *scale; /* NULL: it has not. */
    kc_fields *fields;             /* What selectors may name. */
    const char *const *selectable; /* The definition's own of them, ended by NULL. */
    const char *deprecation;       /* What clients of this version are told; NULL: nothing. */
} kc__custom;

/*
 * Of a definition whose names are accepted (crd_status.h). `before` may be NULL: the same
 * definition compiled earlier, from which is taken what is the same. NULL on error: a schema or a
 * path that cannot be compiled, which validation would have refused. The caller drops the
 * reference.
 */
kc__crd *kc__crd_compile(const kc_object *crd, const kc__crd *before, kc_error *err);
kc__crd *kc__crd_ref(const kc__crd *crd);
kc__crd *kc__crd_unref(const kc__crd *crd);
KC_AUTO_DEFINE(kc__crd, kc__crd_unref)

/* A resource for each version that is served, for a snapshot; each has its kc__custom. */
const kc__resource_set *kc__crd_resources(const kc__crd *crd);
/* All versions, served or not, in the order of the definition. */
const kc__custom *kc__crd_versions(const kc__crd *crd, size_t *ret_n);
/* The one in which objects are stored. */
const kc__custom *kc__crd_storage(const kc__crd *crd);
/* Whether objects are served in the same way by both: neither the spec nor the accepted names have
 * changed, and it is the same definition. */
bool kc__crd_serves_alike(const kc__crd *a, const kc__crd *b);
/* Through which its objects are created (crd_gate.h); the same as that of `before`. */
struct kc__gate *kc__crd_gate(const kc__crd *crd);
/* Bytes it holds, its schemas included; those it shares with others too. */
size_t kc__crd_memory(const kc__crd *crd);

#endif
