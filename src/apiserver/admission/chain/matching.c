/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matching.c: whether a webhook or a policy matches a request: its rules by resource and operation,
 * two selectors by the labels of the object (new or old) and of its namespace.
 *
 * With matchPolicy Equivalent, a rule that names another version of the resource matches too: the
 * webhook or policy then sees the object in that version.
 */
#include "apiserver/admission/chain/matching.h"

/* ---- reading ---- */

static kc__admission_strings read_strings(kc_arena *arena, const kc_value *list)
{
    kc_str *items = kc_arena_calloc(arena, kc_value_len(list) + 1, sizeof(*items));
    size_t n = 0;
    kc_value_each_item (list, item)
        items[n++] = kc_value_as_str(item);
    return (kc__admission_strings){items, n};
}

static const char *const operations[KC__ADMISSION_N_OPERATIONS] = {"CREATE", "UPDATE", "DELETE",
                                                                   "CONNECT"};

unsigned kc__admission_operation_index(const char *operation)
{
    unsigned i = 0;
    while (i < KC__ADMISSION_N_OPERATIONS - 1 && strcmp(operation, operations[i]) != 0)
        i++;
    return i;
}

static unsigned read_operations(const kc_value *list)
{
    unsigned set = 0;
    kc_value_each_item (list, item)
        for (unsigned i = 0; i < KC__ADMISSION_N_OPERATIONS; i++)
            if (kc_str_is(kc_value_as_str(item), "*") ||
                kc_str_is(kc_value_as_str(item), operations[i]))
                set |= 1U << i;
    return set;
}

static void read_resources(kc_arena *arena, const kc_value *list, kc__admission_rule *ret)
{
    kc__admission_rule_resource *resources =
        kc_arena_calloc(arena, kc_value_len(list) + 1, sizeof(*resources));
    ret->resources = resources;
    kc_value_each_item (list, item) {
        kc_str part = kc_value_as_str(item), name = kc_str_cut(&part, '/');
        resources[ret->n_resources++] =
            (kc__admission_rule_resource){.name = name,
                                          .part = part,
                                          .any_name = kc_str_is(name, "*"),
                                          .any_part = kc_str_is(part, "*")};
    }
}

static bool has_star(const kc__admission_strings *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        if (kc_str_is(texts->items[i], "*"))
            return true;
    return false;
}

static kc__admission_rule read_rule(kc_arena *arena, const kc_value *value)
{
    const kc_str scope = kc_value_as_str(kc_value_get(value, "scope"));
    kc__admission_rule rule = {.operations = read_operations(kc_value_get(value, "operations")),
                               .groups = read_strings(arena, kc_value_get(value, "apiGroups")),
                               .versions = read_strings(arena, kc_value_get(value, "apiVersions")),
                               .names = read_strings(arena, kc_value_get(value, "resourceNames")),
                               .scope = kc_str_is(scope, "Cluster")      ? KC__ADMISSION_CLUSTER
                                        : kc_str_is(scope, "Namespaced") ? KC__ADMISSION_NAMESPACED
                                                                         : KC__ADMISSION_ANY_SCOPE};
    rule.any_group = has_star(&rule.groups);
    rule.any_version = has_star(&rule.versions);
    read_resources(arena, kc_value_get(value, "resources"), &rule);
    return rule;
}

kc__admission_rules kc__admission_rules_read(kc_arena *arena, const kc_value *list)
{
    kc__admission_rule *rules = kc_arena_calloc(arena, kc_value_len(list) + 1, sizeof(*rules));
    size_t n = 0;
    kc_value_each_item (list, rule)
        rules[n++] = read_rule(arena, rule);
    return (kc__admission_rules){rules, n};
}

void kc__admission_criteria_read(kc_arena *arena, const kc_value *match,
                                 kc__admission_criteria *ret)
{
    const kc_value *namespaces = kc_value_get(match, "namespaceSelector"),
                   *objects = kc_value_get(match, "objectSelector");
    *ret = (kc__admission_criteria){
        .rules = kc__admission_rules_read(arena, kc_value_get(match, "resourceRules")),
        .excluded = kc__admission_rules_read(arena, kc_value_get(match, "excludeResourceRules")),
        .namespaces = namespaces ? kc_selector_of(namespaces, NULL) : NULL,
        .objects = objects ? kc_selector_of(objects, NULL) : NULL,
        .equivalent = !kc_str_is(kc_value_as_str(kc_value_get(match, "matchPolicy")), "Exact"),
        .rules_optional = true,
    };
}

void kc__admission_criteria_done(kc__admission_criteria *criteria)
{
    criteria->namespaces = kc_selector_free(criteria->namespaces);
    criteria->objects = kc_selector_free(criteria->objects);
}

/* ---- rules ---- */

static bool has_string(const kc__admission_strings *texts, kc_str text)
{
    for (size_t i = 0; i < texts->n; i++)
        if (kc_str_eq(texts->items[i], text))
            return true;
    return false;
}

static bool is_namespace(const kc__resource *resource)
{
    return !*resource->group && !strcmp(resource->plural, "namespaces");
}

/* A Namespace is cluster-scoped, although the request has its name as namespace. */
static bool in_scope(const kc__admission_rule *rule, const kc__resource *resource, kc_str ns)
{
    if (rule->scope == KC__ADMISSION_ANY_SCOPE)
        return true;
    const bool cluster = is_namespace(resource) || kc_str_empty(ns);
    return cluster == (rule->scope == KC__ADMISSION_CLUSTER);
}

/* "pods", "pods/status", "pods/" and a star, a star and "/status": a star alone matches no
 * subresource. */
static bool has_resource(const kc__admission_rule *rule, kc_str plural, kc_str part)
{
    for (size_t i = 0; i < rule->n_resources; i++) {
        const kc__admission_rule_resource *r = &rule->resources[i];
        if ((r->any_name || kc_str_eq(r->name, plural)) &&
            (r->any_part || kc_str_eq(r->part, part)))
            return true;
    }
    return false;
}

static bool has_name(const kc__admission_strings *names, kc_str name)
{
    for (size_t i = 0; i < names->n; i++)
        if (kc_str_eq(names->items[i], name))
            return true;
    return !names->n;
}

static bool rule_matches(const kc__admission_rule *rule, const kc__admission_attributes *about,
                         const kc__resource *as)
{
    return rule->operations & 1U << kc__admission_operation_index(about->operation) &&
           in_scope(rule, as, about->ns) &&
           (rule->any_group || has_string(&rule->groups, kc_cstr(as->group))) &&
           (rule->any_version || has_string(&rule->versions, kc_cstr(as->version))) &&
           has_resource(rule, kc_cstr(as->plural),
                        kc_cstr(about->subresource ? about->subresource->name : "")) &&
           has_name(&rule->names, about->name);
}

/* The version of the resource that a rule matches; NULL: none. */
static const kc__resource *find_by_rules(const kc__admission_rules *rules, bool equivalent,
                                         const kc__admission_attributes *about)
{
    for (size_t i = 0; i < rules->n; i++)
        if (rule_matches(&rules->items[i], about, about->resource))
            return about->resource;
    for (size_t i = 0; equivalent && i < rules->n; i++)
        for (size_t j = 0; j < about->n_equivalents; j++)
            if (rule_matches(&rules->items[i], about, about->equivalents[j]))
                return about->equivalents[j];
    return NULL;
}

/* ---- selectors ---- */

/* The namespace whose labels are matched: for a write of a Namespace, the new object. */
static const kc_object *labelled_space(const kc__admission_attributes *about)
{
    const bool written = about->object && !about->subresource;
    return is_namespace(about->resource) && written ? about->object : about->space;
}

static kc__admission_match_result match_namespace(const kc__admission_criteria *criteria,
                                                  const kc__admission_attributes *about)
{
    if (kc_selector_is_everything(criteria->namespaces) ||
        (kc_str_empty(about->ns) && strcmp(about->resource->plural, "namespaces") != 0))
        return KC__ADMISSION_MATCH;
    const kc_object *space = labelled_space(about);
    if (!space)
        return KC__ADMISSION_MATCH_NO_NAMESPACE;
    return kc_selector_match(criteria->namespaces, space) ? KC__ADMISSION_MATCH
                                                          : KC__ADMISSION_NO_MATCH;
}

static bool match_object(const kc__admission_criteria *criteria,
                         const kc__admission_attributes *about)
{
    return kc_selector_is_everything(criteria->objects) ||
           (about->object && kc_selector_match(criteria->objects, about->object)) ||
           (about->old && kc_selector_match(criteria->objects, about->old));
}

kc__admission_match_result kc__admission_match(const kc__admission_criteria *criteria,
                                               const kc__admission_attributes *about,
                                               const kc__resource **ret_as)
{
    const kc__admission_match_result space = match_namespace(criteria, about);
    if (space == KC__ADMISSION_NO_MATCH || !match_object(criteria, about) ||
        find_by_rules(&criteria->excluded, criteria->equivalent, about))
        return KC__ADMISSION_NO_MATCH;
    const kc__resource *as = criteria->rules_optional && !criteria->rules.n
                                 ? about->resource
                                 : find_by_rules(&criteria->rules, criteria->equivalent, about);
    if (!as)
        return KC__ADMISSION_NO_MATCH;
    *ret_as = as;
    return space;
}

bool kc__admission_may_match(const kc__admission_criteria *criteria, const kc__resource *resource)
{
    for (size_t i = 0; i < criteria->rules.n; i++) {
        const kc__admission_rule *rule = &criteria->rules.items[i];
        if (!rule->any_group && !has_string(&rule->groups, kc_cstr(resource->group)))
            continue;
        for (size_t j = 0; j < rule->n_resources; j++)
            if (rule->resources[j].any_name || kc_str_is(rule->resources[j].name, resource->plural))
                return true;
    }
    return criteria->rules_optional && !criteria->rules.n;
}
