/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.h: the resources that the server serves at one moment, and the lookups for them.
 *
 * A kc__registry is immutable, reference-counted and usable from any number of threads. When custom
 * resources are added or removed, the server builds a new registry, which replaces the old one as a
 * whole (call/catalog.h); requests in flight continue with the catalog that they hold. Pointers
 * into a registry are valid as long as the registry.
 *
 *     const kc__resource *pods =
 *         kc__registry_find(kinds, KC_STR(""), KC_STR("v1"), KC_STR("pods"));
 *     if (!pods)
 *         return …; 404
 */
#ifndef KC_APISERVER_REGISTRY_H
#define KC_APISERVER_REGISTRY_H

#include "apiserver/kinds/resource.h"
#include "kc/arena.h"

typedef struct kc__registry kc__registry;

typedef struct kc__registry_opts {
    /* The contents; the resources of a group version are adjacent. Both default to the built-in
     * table. The structs are copied. The strings in them are not and must outlive the registry.
     * No group version may occur twice, and no resource may lack its group version. */
    const kc__resource_group *groups;
    size_t n_groups;
    const kc__resource *resources;
    size_t n_resources;
    /*
     * Additional resources: custom resources. The registry keeps a reference to each set. Their
     * groups follow the others, in the order that Kubernetes uses for groups of custom resources;
     * within a group the most stable and newest version comes first. Resources in a group of the
     * tables above are dropped, because that group belongs to the server.
     */
    const kc__resource_set *const *additions;
    size_t n_additions;
    /* Sets `type` from `type_name`: kc__type_lookup. Defaults to leaving `type` unchanged. */
    const kc__type_message *(*find_type)(kc_str name);
    /* Sets `strategy` of resources without one. Defaults to leaving it NULL. */
    const kc__strategy *(*find_strategy)(const kc__resource *resource);
} kc__registry_opts;

/* Creates a registry. `opts` may be NULL. Never returns NULL. */
kc__registry *kc__registry_new(const kc__registry_opts *opts);
kc__registry *kc__registry_ref(const kc__registry *kinds);
kc__registry *kc__registry_unref(const kc__registry *kinds);
KC_AUTO_DEFINE(kc__registry, kc__registry_unref)

/* A version of a group, with its resources sorted by name. */
typedef struct kc__registry_version {
    const char *group, *name;
    const kc__resource *resources;
    size_t n_resources;
    size_t index; /* Among the versions of all groups, for arrays with one entry each. */
} kc__registry_version;

/* A group and its versions, the preferred version first. */
typedef struct kc__registry_group {
    const char *name; /* "" is the core group. */
    const kc__registry_version *versions;
    size_t n_versions;
    size_t index; /* Index among all groups. */
} kc__registry_group;

/* Lookups. All are O(1) and return NULL if there is no match. */
const kc__resource *kc__registry_find(const kc__registry *kinds, kc_str group, kc_str version,
                                      kc_str plural);
/* Finds a resource by kind, for owner references and request bodies. */
const kc__resource *kc__registry_find_kind(const kc__registry *kinds, kc_str group, kc_str version,
                                           kc_str kind);
const kc__registry_version *kc__registry_find_version(const kc__registry *kinds, kc_str group,
                                                      kc_str version);
const kc__registry_group *kc__registry_find_group(const kc__registry *kinds, kc_str group);

/* Returns all groups in discovery order. */
const kc__registry_group *kc__registry_groups(const kc__registry *kinds, size_t *ret_n);
/* Returns the versions of all groups, in the same order. */
const kc__registry_version *kc__registry_versions(const kc__registry *kinds, size_t *ret_n);
/* Returns all resources, group by group. */
const kc__resource *kc__registry_resources(const kc__registry *kinds, size_t *ret_n);

/* Orders versions as discovery does: negative if `a` comes before `b`, positive if after. v2,
 * v1, v2beta1, v1alpha3, then names of any other form alphabetically. */
int kc__registry_version_order(kc_str a, kc_str b);

/* The version that clients write: "apps/v1", "v1". Lives as long as the resource and the arena. */
kc_str kc__resource_api_version(const kc__resource *resource, kc_arena *arena);

/* Finds a subresource by name: "status", "scale", …; NULL if the resource does not have it. */
const kc__resource_subresource *kc__resource_find_subresource(const kc__resource *resource,
                                                              kc_str name);

#endif
