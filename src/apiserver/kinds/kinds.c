/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.c: a snapshot of the resources, and how one is found in it.
 *
 *     groups   "" ─▶ group   versions "v1" ─▶ version   by_plural  "pods" ─▶ resource
 *              "apps" ─▶ …            └─ …              by_kind    "Pod"  ─▶ resource
 *
 * Three look-ups in small maps, none of which builds a key. Groups, versions and resources lie in
 * arrays of their own, in the order of discovery; what goes out of here points into them.
 *
 * Nothing changes after kc__kinds_new has returned, so readers need no lock.
 *
 * What is added to the tables (additions.c) is sorted into groups and versions first; then all of
 * it goes the same way. A thousand custom resources take less than a millisecond; what is large
 * about them, their schemas, is counted and shared with the snapshot before.
 */
#include "apiserver/kinds/registry.h"

#include "apiserver/kinds/additions.h"
#include "kc/map.h"
#include "kc/ref.h"

#include <assert.h>

/* What stands behind a kc__kinds_version. */
typedef struct version_index {
    kc_map by_plural, by_kind; /* To kc__resource. */
} version_index;

/* What stands behind a kc__kinds_group. */
typedef struct group_index {
    kc_map versions; /* To kc__kinds_version. */
} group_index;

struct kc__kinds {
    kc_ref refs;
    kc_map by_name; /* To kc__kinds_group. */
    /* Each index stands at the place its group or version has. */
    kc__kinds_group *groups;
    group_index *group_indexes;
    size_t n_groups;
    kc__kinds_version *versions;
    version_index *version_indexes;
    size_t n_versions;
    kc__resource *resources;
    size_t n_resources;
    const kc__resource_set **additions; /* Counted. */
    size_t n_additions;
};

/* ---- making one ---- */

static size_t versions_of(const kc__group *group)
{
    size_t n = 0;
    while (group->versions[n])
        n++;
    return n;
}

/* Groups and versions, still without resources. */
static void add_groups(kc__kinds *kinds, const kc__group *groups, size_t n_groups)
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
        kc__kinds_group *group = &kinds->groups[i];
        group->index = i;
        group->name = groups[i].name;
        group->versions = &kinds->versions[kinds->n_versions];
        group->n_versions = versions_of(&groups[i]);
        void *twice = kc_map_put(&kinds->by_name, kc_cstr(group->name), group);
        assert(!twice);
        for (size_t v = 0; v < group->n_versions; v++) {
            kc__kinds_version *version = &kinds->versions[kinds->n_versions++];
            version->index = (size_t)(version - kinds->versions);
            version->group = group->name;
            version->name = groups[i].versions[v];
            twice = kc_map_put(&kinds->group_indexes[i].versions, kc_cstr(version->name), version);
            assert(!twice);
        }
        (void)twice;
    }
}

static version_index *index_of(const kc__kinds *kinds, const kc__kinds_version *version)
{
    return &kinds->version_indexes[version->index];
}

static void add_resource(kc__kinds *kinds, kc__resource *resource)
{
    kc__kinds_version *version = (kc__kinds_version *)kc__kinds_find_version(
        kinds, kc_cstr(resource->group), kc_cstr(resource->version));
    assert(version && "a resource needs its group version in the groups");
    if (!version->n_resources)
        version->resources = resource;
    assert(version->resources + version->n_resources == resource &&
           "resources of a group version stand together");
    version->n_resources++;
    void *twice =
        kc_map_put(&index_of(kinds, version)->by_plural, kc_cstr(resource->plural), resource);
    assert(!twice);
    (void)twice;
    kc_map_put(&index_of(kinds, version)->by_kind, kc_cstr(resource->kind), resource);
}

static void add_resources(kc__kinds *kinds, const kc__kinds_opts *opts)
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
        add_resource(kinds, resource);
    }
}

static void keep_additions(kc__kinds *kinds, const kc__kinds_opts *opts)
{
    kinds->n_additions = opts->n_additions;
    kinds->additions = kc_calloc(opts->n_additions, sizeof(*kinds->additions));
    for (size_t i = 0; i < opts->n_additions; i++) {
        kinds->additions[i] = opts->additions[i];
        kc__resource_set_ref(kinds->additions[i]);
    }
}

kc__kinds *kc__kinds_new(const kc__kinds_opts *opts)
{
    kc__kinds_opts all = opts ? *opts : (kc__kinds_opts){0};
    if (!all.groups) {
        all.groups = kc__builtin_groups;
        all.n_groups = kc__n_builtin_groups;
    }
    if (!all.resources) {
        all.resources = kc__builtin_resources;
        all.n_resources = kc__n_builtin_resources;
    }
    kc__kinds *kinds = kc_new(kc__kinds);
    kc_ref_init(&kinds->refs);
    kc_scoped(kc__added) added = {0};
    if (all.n_additions)
        kc__add_resources(&all, &added);
    add_groups(kinds, all.groups, all.n_groups);
    add_resources(kinds, &all);
    keep_additions(kinds, &all);
    return kinds;
}

/* ---- counting ---- */

kc__kinds *kc__kinds_ref(const kc__kinds *kinds)
{
    kc__kinds *counted = (kc__kinds *)kinds;
    kc_ref_add(&counted->refs);
    return counted;
}

static void free_all(kc__kinds *kinds)
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

kc__kinds *kc__kinds_unref(const kc__kinds *kinds)
{
    kc__kinds *counted = (kc__kinds *)kinds;
    if (counted && kc_ref_drop(&counted->refs))
        free_all(counted);
    return NULL;
}

/* ---- finding ---- */

const kc__kinds_group *kc__kinds_find_group(const kc__kinds *kinds, kc_str group)
{
    return kc_map_get(&kinds->by_name, group);
}

const kc__kinds_version *kc__kinds_find_version(const kc__kinds *kinds, kc_str group,
                                                kc_str version)
{
    const kc__kinds_group *found = kc__kinds_find_group(kinds, group);
    if (!found)
        return NULL;
    return kc_map_get(&kinds->group_indexes[found->index].versions, version);
}

const kc__resource *kc__kinds_find(const kc__kinds *kinds, kc_str group, kc_str version,
                                   kc_str plural)
{
    const kc__kinds_version *found = kc__kinds_find_version(kinds, group, version);
    return found ? kc_map_get(&index_of(kinds, found)->by_plural, plural) : NULL;
}

const kc__resource *kc__kinds_find_kind(const kc__kinds *kinds, kc_str group, kc_str version,
                                        kc_str kind)
{
    const kc__kinds_version *found = kc__kinds_find_version(kinds, group, version);
    return found ? kc_map_get(&index_of(kinds, found)->by_kind, kind) : NULL;
}

const kc__kinds_group *kc__kinds_groups(const kc__kinds *kinds, size_t *ret_n)
{
    *ret_n = kinds->n_groups;
    return kinds->groups;
}

const kc__kinds_version *kc__kinds_versions(const kc__kinds *kinds, size_t *ret_n)
{
    *ret_n = kinds->n_versions;
    return kinds->versions;
}

const kc__resource *kc__kinds_resources(const kc__kinds *kinds, size_t *ret_n)
{
    *ret_n = kinds->n_resources;
    return kinds->resources;
}

const kc__subresource *kc__subresource_find(const kc__resource *resource, kc_str name)
{
    const kc__subresource *sub = resource->subresources;
    for (; sub && sub->name; sub++)
        if (kc_str_is(name, sub->name))
            return sub;
    return NULL;
}
