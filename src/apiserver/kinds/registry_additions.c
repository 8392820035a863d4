/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry_additions.c: sorts custom resources among the other resources.
 *
 * Kubernetes registers every group version under a name such as "v1.example.com" and sorts those of
 * custom resources, which all have the same priority, by that name; the position of a group is that
 * of its first version. So v1.zoo.io comes before v1alpha1.ant.io. Within a group, versions are
 * sorted by stability, then newest first.
 *
 * A group of the tables belongs to the server: additions to it are dropped. CRDs in such a group
 * are rejected earlier (key_layout.h).
 *
 * The algorithm sorts all additions once, then walks them once: O(n log n) for n resources.
 */
#include "apiserver/kinds/registry_additions.h"

#include "kc/ascii.h"
#include "kc/map.h"

#include <assert.h>

/* ---- versions ---- */

typedef struct addition_version {
    bool ok;
    int type; /* 0 alpha, 1 beta, 2 stable. */
    uint64_t major, minor;
} addition_version;

static size_t digits_at(kc_str text, size_t at)
{
    size_t n = 0;
    while (at + n < text.n && kc_is_digit(text.p[at + n]))
        n++;
    return n;
}

/* v1, v1alpha2, v1beta3. */
static addition_version parse_version(kc_str text)
{
    static const struct {
        const char *word;
        int type;
    } words[] = {{"alpha", 0}, {"beta", 1}};
    addition_version v = {0};
    if (!kc_str_starts(text, KC_STR("v")))
        return v;
    size_t n = digits_at(text, 1);
    if (!kc_str_to_u64(kc_str_sub(text, 1, 1 + n), &v.major))
        return v;
    kc_str rest = kc_str_sub(text, 1 + n, text.n);
    v.type = 2;
    v.ok = rest.n == 0;
    for (size_t i = 0; i < KC_COUNT(words); i++) {
        if (!kc_str_starts(rest, kc_cstr(words[i].word)))
            continue;
        kc_str minor = kc_str_sub(rest, strlen(words[i].word), rest.n);
        v.type = words[i].type;
        v.ok = digits_at(minor, 0) == minor.n && kc_str_to_u64(minor, &v.minor);
    }
    return v;
}

static int compare_addition_entries(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int kc__registry_version_order(kc_str a, kc_str b)
{
    addition_version x = parse_version(a), y = parse_version(b);
    if (!x.ok && !y.ok)
        return kc_str_cmp(a, b);
    if (x.ok != y.ok)
        return x.ok ? -1 : 1;
    if (x.type != y.type)
        return y.type - x.type;
    return x.major != y.major ? compare_addition_entries(y.major, x.major)
                              : compare_addition_entries(y.minor, x.minor);
}

/* ---- sorting ---- */

/* A group with additions. */
typedef struct group_place {
    const char *name;
    const char *first; /* Its version with the smallest name, which gives the group's position. */
} group_place;

typedef struct addition_entry {
    const kc__resource *resource;
    const group_place *group;
} addition_entry;

/* Compares two names such as "v1.example.com". */
static int compare_names(const group_place *a, const group_place *b)
{
    kc_str x = kc_cstr(a->first), y = kc_cstr(b->first);
    size_t n = KC_MIN(x.n, y.n);
    int order = memcmp(x.p, y.p, n);
    if (!order && x.n != y.n)
        order = (x.n > n ? x.p[n] : '.') - (y.n > n ? y.p[n] : '.');
    return order ? order : strcmp(a->name, b->name);
}

static int compare_entries(const void *a, const void *b)
{
    const addition_entry *x = a, *y = b;
    int order = x->group == y->group ? 0 : compare_names(x->group, y->group);
    if (!order)
        order = kc__registry_version_order(kc_cstr(x->resource->version),
                                           kc_cstr(y->resource->version));
    return order ? order : strcmp(x->resource->plural, y->resource->plural);
}

/* ---- adding ---- */

typedef struct adding {
    kc_arena *arena;
    const kc__registry_opts *opts;
    kc_map tables; /* Group to kc__resource_group of the tables. */
    kc_map places; /* Group to group_place. */
    addition_entry *entries;
    size_t n_entries;
} adding;

static void add_entry(adding *a, const kc__resource *resource)
{
    kc_str group = kc_cstr(resource->group);
    if (kc_map_get(&a->tables, group))
        return;
    group_place *place = kc_map_get(&a->places, group);
    if (!place) {
        place = kc_arena_new(a->arena, group_place);
        *place = (group_place){resource->group, resource->version};
        kc_map_put(&a->places, group, place);
    }
    if (strcmp(resource->version, place->first) < 0)
        place->first = resource->version;
    a->entries[a->n_entries++] = (addition_entry){resource, place};
}

static void add_entries(adding *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->opts->n_groups; i++)
        kc_map_put(&a->tables, kc_cstr(a->opts->groups[i].name), (void *)&a->opts->groups[i]);
    for (size_t i = 0; i < a->opts->n_additions; i++)
        n += a->opts->additions[i]->n;
    a->entries = kc_arena_alloc(a->arena, (n + 1) * sizeof(*a->entries));
    for (size_t i = 0; i < a->opts->n_additions; i++)
        for (size_t r = 0; r < a->opts->additions[i]->n; r++)
            add_entry(a, &a->opts->additions[i]->resources[r]);
    if (a->n_entries > 1)
        qsort(a->entries, a->n_entries, sizeof(*a->entries), compare_entries);
}

/* Returns the versions of the entries of one group. */
static const char *const *versions_of(adding *a, size_t from, size_t to)
{
    size_t n = 0;
    const char **versions = kc_arena_calloc(a->arena, to - from + 1, sizeof(*versions));
    for (size_t i = from; i < to; i++)
        if (!n || strcmp(versions[n - 1], a->entries[i].resource->version) != 0)
            versions[n++] = a->entries[i].resource->version;
    return versions;
}

static void put_groups(adding *a, kc__registry_opts *opts)
{
    size_t n = opts->n_groups;
    kc__resource_group *groups = kc_arena_calloc(a->arena, n + a->places.n + 1, sizeof(*groups));
    for (size_t i = 0; i < n; i++)
        groups[i] = opts->groups[i];
    for (size_t from = 0, to; from < a->n_entries; from = to) {
        const group_place *place = a->entries[from].group;
        for (to = from; to < a->n_entries && a->entries[to].group == place;)
            to++;
        groups[n++] = (kc__resource_group){place->name, versions_of(a, from, to)};
    }
    opts->groups = groups;
    opts->n_groups = n;
}

static void put_resources(adding *a, kc__registry_opts *opts)
{
    size_t n = opts->n_resources;
    kc__resource *all = kc_arena_alloc(a->arena, (n + a->n_entries + 1) * sizeof(*all));
    memcpy(all, opts->resources, n * sizeof(*all));
    for (size_t i = 0; i < a->n_entries; i++)
        all[n + i] = *a->entries[i].resource;
    opts->resources = all;
    opts->n_resources = n + a->n_entries;
}

void kc__registry_add_resources(kc__registry_opts *opts, kc__registry_additions *added)
{
    adding a = {.arena = &added->arena, .opts = opts};
    add_entries(&a);
    put_groups(&a, opts);
    put_resources(&a, opts);
    kc_map_done(&a.tables);
    kc_map_done(&a.places);
}

void kc__registry_additions_done(kc__registry_additions *added)
{
    kc_arena_done(&added->arena);
}
