/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.c: an immutable set of resources, and the lookups in it.
 *
 *     groups   "" ─▶ group   versions "v1" ─▶ version   by_plural  "pods" ─▶ resource
 *              "apps" ─▶ …            └─ …              by_kind    "Pod"  ─▶ resource
 *
 * A lookup takes three lookups in small maps, none of which builds a key. Groups, versions and
 * resources are in arrays of their own, in discovery order; returned pointers point into them.
 *
 * Nothing changes after kc__registry_new has returned, so readers need no lock.
 *
 * registry_additions.c first sorts the additions into groups and versions; after that they are
 * handled like the tables. A thousand custom resources take less than a millisecond; their large
 * parts, the schemas, are reference-counted and shared with the previous registry.
 */
#include "apiserver/kinds/registry.h"

#include "apiserver/kinds/registry_additions.h"
#include "apiserver/kinds/resource_ops.h"
#include "kc/map.h"
#include "kc/ref.h"

#include <assert.h>

/* The maps of a kc__registry_version. */
typedef struct version_index {
    kc_map by_plural, by_kind; /* To kc__resource. */
} version_index;

/* The map of a kc__registry_group. */
typedef struct group_index {
    kc_map versions; /* To kc__registry_version. */
} group_index;

struct kc__registry {
    kc_ref refs;
    kc_map by_name; /* To kc__registry_group. */
    /* The index of a group or version is at the same position as the group or version. */
    kc__registry_group *groups;
    group_index *group_indexes;
    size_t n_groups;
    kc__registry_version *versions;
    version_index *version_indexes;
    size_t n_versions;
    kc__resource *resources;
    size_t n_resources;
    const kc__resource_set **additions; /* Holds a reference to each. */
    size_t n_additions;
};

/* ---- construction ---- */

static size_t versions_of(const kc__resource_group *group)
{
    size_t n = 0;
    while (group->versions[n])
        n++;
    return n;
}

/* Adds groups and versions, still without resources. */
static void add_groups(kc__registry *kinds, const kc__resource_group *groups, size_t n_groups)
{
    size_t n_versions = 0;
    for (size_t i = 0; i < n_groups; i++)
        n_versions += versions_of(&groups[i]);
    kinds->groups = kc_calloc(n_groups, sizeof(*kinds->groups));
    kinds->group_indexes = kc_calloc(n_groups, sizeof(*kinds->group_indexes));
    kinds->versions = kc_calloc(n_versions, sizeof(*kinds->versions));
    kinds->version_indexes = kc_calloc(n_versions, sizeof(*kinds->version_indexes));
    kinds->n_groups = n_groups;

    for (size_t i = 0; i < n_groups; i++) {
        kc__registry_group *group = &kinds->groups[i];
        group->index = i;
        group->name = groups[i].name;
        group->versions = &kinds->versions[kinds->n_versions];
        group->n_versions = versions_of(&groups[i]);
        void *twice = kc_map_put(&kinds->by_name, kc_cstr(group->name), group);
        assert(!twice);
        for (size_t v = 0; v < group->n_versions; v++) {
            kc__registry_version *version = &kinds->versions[kinds->n_versions++];
            version->index = (size_t)(version - kinds->versions);
            version->group = group->name;
            version->name = groups[i].versions[v];
            twice = kc_map_put(&kinds->group_indexes[i].versions, kc_cstr(version->name), version);
            assert(!twice);
        }
        (void)twice;
    }
}

static version_index *index_of(const kc__registry *kinds, const kc__registry_version *version)
{
    return &kinds->version_indexes[version->index];
}

static void add_resource(kc__registry *kinds, kc__resource *resource)
{
    kc__registry_version *version = (kc__registry_version *)kc__registry_find_version(
        kinds, kc_cstr(resource->group), kc_cstr(resource->version));
    assert(version && "the group version of a resource is registered");
    if (!version->n_resources)
        version->resources = resource;
    assert(version->resources + version->n_resources == resource &&
           "resources of a group version are contiguous");
    version->n_resources++;
    void *twice =
        kc_map_put(&index_of(kinds, version)->by_plural, kc_cstr(resource->plural), resource);
    assert(!twice);
    (void)twice;
    kc_map_put(&index_of(kinds, version)->by_kind, kc_cstr(resource->kind), resource);
}

static void add_resources(kc__registry *kinds, const kc__registry_opts *opts)
{
    kinds->n_resources = opts->n_resources;
    kinds->resources = kc_calloc(opts->n_resources, sizeof(*kinds->resources));
    for (size_t i = 0; i < opts->n_resources; i++) {
        kc__resource *resource = &kinds->resources[i];
        *resource = opts->resources[i];
        if (opts->find_type && resource->type_name)
            resource->type = opts->find_type(kc_cstr(resource->type_name));
        if (opts->find_strategy && !resource->strategy)
            resource->strategy = opts->find_strategy(resource);
        if (!resource->ops)
            resource->ops = &kc__builtin_resource_ops;
        if (!resource->accepted_verbs)
            resource->accepted_verbs = resource->verbs;
        add_resource(kinds, resource);
    }
}

static void keep_additions(kc__registry *kinds, const kc__registry_opts *opts)
{
    kinds->n_additions = opts->n_additions;
    kinds->additions = kc_calloc(opts->n_additions, sizeof(*kinds->additions));
    for (size_t i = 0; i < opts->n_additions; i++) {
        kinds->additions[i] = opts->additions[i];
        kc__resource_set_ref(kinds->additions[i]);
    }
}

kc__registry *kc__registry_new(const kc__registry_opts *opts)
{
    kc__registry_opts all = opts ? *opts : (kc__registry_opts){0};
    if (!all.groups) {
        all.groups = kc__resource_builtin_groups;
        all.n_groups = kc__resource_n_builtin_groups;
    }
    if (!all.resources) {
        all.resources = kc__resource_builtins;
        all.n_resources = kc__resource_n_builtins;
    }
    kc__registry *kinds = kc_new(kc__registry);
    kc_ref_init(&kinds->refs);
    kc_scoped(kc__registry_additions) added = {0};
    if (all.n_additions)
        kc__registry_add_resources(&all, &added);
    add_groups(kinds, all.groups, all.n_groups);
    add_resources(kinds, &all);
    keep_additions(kinds, &all);
    return kinds;
}

/* ---- reference counting ---- */

kc__registry *kc__registry_ref(const kc__registry *kinds)
{
    kc__registry *counted = (kc__registry *)kinds;
    kc_ref_add(&counted->refs);
    return counted;
}

static void free_registry(kc__registry *kinds)
{
    for (size_t i = 0; i < kinds->n_versions; i++) {
        kc_map_done(&kinds->version_indexes[i].by_plural);
        kc_map_done(&kinds->version_indexes[i].by_kind);
    }
    for (size_t i = 0; i < kinds->n_groups; i++)
        kc_map_done(&kinds->group_indexes[i].versions);
    kc_map_done(&kinds->by_name);
    free(kinds->groups);
    free(kinds->group_indexes);
    free(kinds->versions);
    free(kinds->version_indexes);
    free(kinds->resources);
    for (size_t i = 0; i < kinds->n_additions; i++)
        kc__resource_set_unref(kinds->additions[i]);
    free(kinds->additions);
    free(kinds);
}

kc__registry *kc__registry_unref(const kc__registry *kinds)
{
    kc__registry *counted = (kc__registry *)kinds;
    if (counted && kc_ref_drop(&counted->refs))
        free_registry(counted);
    return NULL;
}

/* ---- lookups ---- */

const kc__registry_group *kc__registry_find_group(const kc__registry *kinds, kc_str group)
{
    return kc_map_get(&kinds->by_name, group);
}

const kc__registry_version *kc__registry_find_version(const kc__registry *kinds, kc_str group,
                                                      kc_str version)
{
    const kc__registry_group *found = kc__registry_find_group(kinds, group);
    if (!found)
        return NULL;
    return kc_map_get(&kinds->group_indexes[found->index].versions, version);
}

const kc__resource *kc__registry_find(const kc__registry *kinds, kc_str group, kc_str version,
                                      kc_str plural)
{
    const kc__registry_version *found = kc__registry_find_version(kinds, group, version);
    return found ? kc_map_get(&index_of(kinds, found)->by_plural, plural) : NULL;
}

const kc__resource *kc__registry_find_kind(const kc__registry *kinds, kc_str group, kc_str version,
                                           kc_str kind)
{
    const kc__registry_version *found = kc__registry_find_version(kinds, group, version);
    return found ? kc_map_get(&index_of(kinds, found)->by_kind, kind) : NULL;
}

const kc__registry_group *kc__registry_groups(const kc__registry *kinds, size_t *ret_n)
{
    *ret_n = kinds->n_groups;
    return kinds->groups;
}

const kc__registry_version *kc__registry_versions(const kc__registry *kinds, size_t *ret_n)
{
    *ret_n = kinds->n_versions;
    return kinds->versions;
}

const kc__resource *kc__registry_resources(const kc__registry *kinds, size_t *ret_n)
{
    *ret_n = kinds->n_resources;
    return kinds->resources;
}

kc_str kc__resource_api_version(const kc__resource *resource, kc_arena *arena)
{
    const kc_str group = kc_cstr(resource->group), version = kc_cstr(resource->version);
    return group.n ? kc_arena_join(arena, group, KC_STR("/"), version) : version;
}

const kc__resource_subresource *kc__resource_find_subresource(const kc__resource *resource,
                                                              kc_str name)
{
    const kc__resource_subresource *sub = resource->subresources;
    for (; sub && sub->name; sub++)
        if (kc_str_is(name, sub->name))
            return sub;
    return NULL;
}
