/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.h: which resources the server has at a moment, and how they are found.
 *
 * A kc__kinds is a snapshot: immutable, counted, for any number of threads. When resources come or
 * go (custom ones), a new snapshot is made and replaces the old one as a whole (rest/snapshot.h);
 * requests under way go on with the one they took. Pointers out of a snapshot live as long as it.
 *
 *     const kc__resource *pods = kc__kinds_find(kinds, KC_STR(""), KC_STR("v1"), KC_STR("pods"));
 *     if (!pods)
 *         return …;                                                            404
 */
#ifndef KC_APISERVER_REGISTRY_H
#define KC_APISERVER_REGISTRY_H

#include "apiserver/kinds/resource.h"

typedef struct kc__kinds kc__kinds;

typedef struct kc__kinds_opts {
    /* What it holds; resources of a group version stand together. Both default to the built-in
     * table. The structs are copied; the text in them is kept, and outlives the snapshot. No group
     * version twice, no resource without its group version. */
    const kc__group *groups;
    size_t n_groups;
    const kc__resource *resources;
    size_t n_resources;
    /*
     * What comes in addition: custom resources. A reference to each set is kept as long as the
     * snapshot lives. Their groups come after the others, as Kubernetes orders those of custom
     * resources; of a group the most stable and newest version comes first. Resources in a group
     * version of the tables above are left out: there the server's own are found.
     */
    const kc__resource_set *const *additions;
    size_t n_additions;
    /* Fills in `type` by `type_name`: kc__definition_find. Defaults to leaving it as it is. */
    const kc__message *(*find_type)(kc_str name);
    /* Fills in `strategy` where a resource brings none. Defaults to leaving it NULL. */
    const kc__strategy *(*find_strategy)(const kc__resource *resource);
} kc__kinds_opts;

/* `opts` may be NULL. Never NULL. */
kc__kinds *kc__kinds_new(const kc__kinds_opts *opts);
kc__kinds *kc__kinds_ref(const kc__kinds *kinds);
kc__kinds *kc__kinds_unref(const kc__kinds *kinds);
KC_AUTO_DEFINE(kc__kinds, kc__kinds_unref)

/* A version of a group, and its resources by name. */
typedef struct kc__kinds_version {
    const char *group, *name;
    const kc__resource *resources;
    size_t n_resources;
    size_t index; /* Among the versions of all groups: for who keeps something for each. */
} kc__kinds_version;

/* A group, and its versions, the preferred one first. */
typedef struct kc__kinds_group {
    const char *name; /* "" is the core group. */
    const kc__kinds_version *versions;
    size_t n_versions;
    size_t index; /* Among all groups. */
} kc__kinds_group;

/* All of these: O(1); NULL when there is none. */
const kc__resource *kc__kinds_find(const kc__kinds *kinds, kc_str group, kc_str version,
                                   kc_str plural);
/* By kind: what an owner reference or a body names. */
const kc__resource *kc__kinds_find_kind(const kc__kinds *kinds, kc_str group, kc_str version,
                                        kc_str kind);
const kc__kinds_version *kc__kinds_find_version(const kc__kinds *kinds, kc_str group,
                                                kc_str version);
const kc__kinds_group *kc__kinds_find_group(const kc__kinds *kinds, kc_str group);

/* All groups in the order of discovery. */
const kc__kinds_group *kc__kinds_groups(const kc__kinds *kinds, size_t *ret_n);
/* The versions of all groups, in that order. */
const kc__kinds_version *kc__kinds_versions(const kc__kinds *kinds, size_t *ret_n);
/* All resources, group by group. */
const kc__resource *kc__kinds_resources(const kc__kinds *kinds, size_t *ret_n);

/* Whether version `a` comes before (< 0) or after (> 0) `b` in discovery: v2, v1, v2beta1,
 * v1alpha3, then names of other forms by the alphabet. */
int kc__version_order(kc_str a, kc_str b);

/* "status", "scale", …; NULL when it has no such one. */
const kc__subresource *kc__subresource_find(const kc__resource *resource, kc_str name);

#endif
