/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rbac_rules.c: matches requests with the rules of roles.
 *
 * What "*" means depends on the list: any verb, any group, any resource and subresource, any path.
 * A resource is "pods", "pods/status" or "*", and "*" followed by a subresource stands for this
 * subresource of every resource. A path may end in "*". No list of resource names means every name;
 * in a list of names "*" is a name like any other.
 */
#include "apiserver/authz/rbac_rules.h"

/* ---- compiling ---- */

static kc__rbac_names names_of(const kc_value *list, kc_arena *arena)
{
    const size_t n = kc_value_len(list);
    kc_str *items = n ? kc_arena_calloc(arena, n, sizeof(*items)) : NULL;
    kc__rbac_names names = {.items = items, .n = (uint32_t)n};
    size_t i = 0;
    kc_value_each_item (list, item) {
        items[i] = kc_arena_str(arena, kc_value_as_str(item));
        names.any |= kc_str_is(items[i++], "*");
    }
    return names;
}

unsigned kc__rbac_verb_bit(kc_str verb)
{
    static const char *const verbs[] = {"get",    "list",  "watch",  "create",
                                        "update", "patch", "delete", "deletecollection"};
    for (unsigned i = 0; i < KC_COUNT(verbs); i++)
        if (kc_str_is(verb, verbs[i]))
            return 1U << i;
    return 0;
}

static unsigned verb_bits_of(const kc__rbac_names *verbs)
{
    unsigned bits = verbs->any ? ~0U : 0;
    for (size_t i = 0; i < verbs->n; i++)
        bits |= kc__rbac_verb_bit(verbs->items[i]);
    return bits;
}

kc__rbac_rule kc__rbac_rule_of(const kc_value *rule, kc_arena *arena)
{
    kc__rbac_rule compiled = {.verbs = names_of(kc_value_get(rule, "verbs"), arena),
                              .groups = names_of(kc_value_get(rule, "apiGroups"), arena),
                              .resources = names_of(kc_value_get(rule, "resources"), arena),
                              .names = names_of(kc_value_get(rule, "resourceNames"), arena),
                              .urls = names_of(kc_value_get(rule, "nonResourceURLs"), arena)};
    compiled.verb_bits = verb_bits_of(&compiled.verbs);
    return compiled;
}

kc__rbac_rules *kc__rbac_rules_new(const kc_value *list)
{
    kc__rbac_rules *rules = kc_new(kc__rbac_rules);
    size_t i = 0;
    atomic_init(&rules->refs, 1);
    rules->n = kc_value_len(list);
    if (rules->n)
        rules->items = kc_arena_calloc(&rules->arena, rules->n, sizeof(*rules->items));
    kc_value_each_item (list, rule) {
        rules->items[i] = kc__rbac_rule_of(rule, &rules->arena);
        rules->verb_bits |= rules->items[i++].verb_bits;
    }
    return rules;
}

kc__rbac_rules *kc__rbac_rules_ref(kc__rbac_rules *rules)
{
    if (rules)
        atomic_fetch_add_explicit(&rules->refs, 1, memory_order_relaxed);
    return rules;
}

kc__rbac_rules *kc__rbac_rules_unref(kc__rbac_rules *rules)
{
    if (!rules || atomic_fetch_sub_explicit(&rules->refs, 1, memory_order_acq_rel) > 1)
        return NULL;
    kc_arena_done(&rules->arena);
    free(rules);
    return NULL;
}

/* ---- matching a request ---- */

static bool contains_name(const kc__rbac_names *names, kc_str name)
{
    for (size_t i = 0; i < names->n; i++)
        if (kc_str_eq(names->items[i], name))
            return true;
    return false;
}

static bool matches_name(const kc__rbac_names *names, kc_str name)
{
    return names->any || contains_name(names, name);
}

/* "pods/status" as it is written in a rule, compared in parts. */
static bool is_resource_path(kc_str path, kc_str resource, kc_str subresource)
{
    if (kc_str_empty(subresource))
        return kc_str_eq(path, resource);
    return path.n == resource.n + 1 + subresource.n && path.p[resource.n] == '/' &&
           kc_str_starts(path, resource) && kc_str_ends(path, subresource);
}

static bool matches_resource(const kc__rbac_names *resources, const kc__authz_attributes *a)
{
    if (resources->any)
        return true;
    for (size_t i = 0; i < resources->n; i++) {
        const kc_str path = resources->items[i];
        if (is_resource_path(path, a->resource, a->subresource) ||
            (!kc_str_empty(a->subresource) && is_resource_path(path, KC_STR("*"), a->subresource)))
            return true;
    }
    return false;
}

/* Whether a path of a rule, which may end in "*" (several count as one), matches a path. */
static bool matches_url_pattern(kc_str pattern, kc_str path)
{
    size_t n = pattern.n;
    if (kc_str_eq(pattern, path))
        return true;
    while (n && pattern.p[n - 1] == '*')
        n--;
    return n < pattern.n && kc_str_starts(path, kc_str_sub(pattern, 0, n));
}

static bool matches_url(const kc__rbac_names *urls, kc_str path)
{
    for (size_t i = 0; i < urls->n; i++)
        if (matches_url_pattern(urls->items[i], path))
            return true;
    return false;
}

bool kc__rbac_rule_allows(const kc__rbac_rule *rule, const kc__authz_attributes *a)
{
    if (a->verb_bit ? !(rule->verb_bits & a->verb_bit) : !matches_name(&rule->verbs, a->verb))
        return false;
    if (!a->is_resource)
        return matches_url(&rule->urls, a->path);
    return matches_name(&rule->groups, a->group) && matches_resource(&rule->resources, a) &&
           (rule->names.n == 0 || contains_name(&rule->names, a->name));
}

bool kc__rbac_rules_allow(const kc__rbac_rules *rules, const kc__authz_attributes *a)
{
    if (!rules || (a->verb_bit && !(rules->verb_bits & a->verb_bit)))
        return false;
    for (size_t i = 0; i < rules->n; i++)
        if (kc__rbac_rule_allows(&rules->items[i], a))
            return true;
    return false;
}

/* ---- covering another rule ---- */

static bool covers_resource(const kc__rbac_names *owner, kc_str path)
{
    if (owner->any || contains_name(owner, path))
        return true;
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] == '/') {
            const kc_str subresource = kc_str_sub(path, i + 1, path.n);
            for (size_t j = 0; j < owner->n; j++)
                if (is_resource_path(owner->items[j], KC_STR("*"), subresource))
                    return true;
            return false;
        }
    return false;
}

/* A URL pattern covers another if it matches the other's text; "*" at its end is a character. */
bool kc__rbac_rule_covers(const kc__rbac_rule *owner, const kc__rbac_rule *part)
{
    if (!matches_name(&owner->verbs, part->verbs.items[0]))
        return false;
    if (part->urls.n)
        return owner->names.n == 0 && matches_url(&owner->urls, part->urls.items[0]);
    return owner->resources.n && matches_name(&owner->groups, part->groups.items[0]) &&
           covers_resource(&owner->resources, part->resources.items[0]) &&
           (owner->names.n == 0 ||
            (part->names.n && contains_name(&owner->names, part->names.items[0])));
}

/* ---- splitting ---- */

/* A list of the item at an index. */
static kc__rbac_names one_name(const kc__rbac_names *names, size_t i)
{
    return (kc__rbac_names){
        .items = &names->items[i], .n = 1, .any = kc_str_is(names->items[i], "*")};
}

static bool push_part(kc__rbac_rule_list *parts, size_t max, kc__rbac_rule part)
{
    if (parts->n >= max)
        return false;
    kc_vec_push(parts, part);
    return true;
}

static bool split_verbs_and_names(const kc__rbac_rule *rule, kc__rbac_rule part, size_t max,
                                  kc__rbac_rule_list *parts)
{
    for (size_t v = 0; v < rule->verbs.n; v++) {
        part.verbs = one_name(&rule->verbs, v);
        for (size_t i = 0; i < rule->names.n; i++) {
            part.names = one_name(&rule->names, i);
            if (!push_part(parts, max, part))
                return false;
        }
        if (!rule->names.n && !push_part(parts, max, part))
            return false;
    }
    return true;
}

static bool split_resources(const kc__rbac_rule *rule, size_t max, kc__rbac_rule_list *parts)
{
    for (size_t g = 0; g < rule->groups.n; g++)
        for (size_t r = 0; r < rule->resources.n; r++) {
            const kc__rbac_rule part = {.groups = one_name(&rule->groups, g),
                                        .resources = one_name(&rule->resources, r)};
            if (!split_verbs_and_names(rule, part, max, parts))
                return false;
        }
    return true;
}

bool kc__rbac_rule_split(const kc__rbac_rule *rule, size_t max, kc__rbac_rule_list *parts)
{
    if (!split_resources(rule, max, parts))
        return false;
    for (size_t u = 0; u < rule->urls.n; u++)
        for (size_t v = 0; v < rule->verbs.n; v++)
            if (!push_part(parts, max,
                           (kc__rbac_rule){.verbs = one_name(&rule->verbs, v),
                                           .urls = one_name(&rule->urls, u)}))
                return false;
    return true;
}
