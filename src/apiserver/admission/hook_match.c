/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_match.c: whether a request is a hook's: its rules say which resources and operations, two
 * selectors by the labels of the object (as it will be, or as it was) and of its namespace.
 *
 * A rule that names a resource in another version than the request's counts too, where the hook
 * asks for equivalents: it then sees the object in that version.
 */
#include "apiserver/admission/hook.h"

static bool has(const kc__texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->n; i++)
        if (kc_str_is(texts->items[i], "*") || kc_str_is(texts->items[i], text))
            return true;
    return false;
}

static bool is_namespace(const kc__resource *resource)
{
    return !*resource->group && !strcmp(resource->plural, "namespaces");
}

/* A namespace is in none, though its own name stands for one here. */
static bool in_scope(const kc__hook_rule *rule, const kc__resource *resource, kc_str ns)
{
    const bool cluster = is_namespace(resource) || kc_str_empty(ns);
    if (kc_str_is(rule->scope, "Cluster"))
        return cluster;
    return !kc_str_is(rule->scope, "Namespaced") || !cluster;
}

/* "pods", "pods/status", "pods/" and a star, a star and "/status": a star alone is no subresource.
 */
static bool has_resource(const kc__texts *texts, const char *plural, const char *part)
{
    for (size_t i = 0; i < texts->n; i++) {
        kc_str sub = texts->items[i], name = kc_str_cut(&sub, '/');
        if ((kc_str_is(name, "*") || kc_str_is(name, plural)) &&
            (kc_str_is(sub, "*") || kc_str_is(sub, part)))
            return true;
    }
    return false;
}

static bool rule_matches(const kc__hook_rule *rule, const kc__attributes *about,
                         const kc__resource *as)
{
    return in_scope(rule, as, about->ns) && has(&rule->operations, about->operation) &&
           has(&rule->groups, as->group) && has(&rule->versions, as->version) &&
           has_resource(&rule->resources, as->plural,
                        about->subresource ? about->subresource->name : "");
}

static const kc__resource *find_by_rules(const kc__hook *hook, const kc__attributes *about)
{
    for (size_t i = 0; i < hook->n_rules; i++)
        if (rule_matches(&hook->rules[i], about, about->resource))
            return about->resource;
    for (size_t i = 0; hook->equivalent && i < hook->n_rules; i++)
        for (size_t j = 0; j < about->n_equivalents; j++)
            if (rule_matches(&hook->rules[i], about, about->equivalents[j]))
                return about->equivalents[j];
    return NULL;
}

/* The labels that count as the namespace's: of one that is written those it shall have. */
static const kc_object *labelled_space(const kc__attributes *about)
{
    const bool written = about->object && !about->subresource;
    return is_namespace(about->resource) && written ? about->object : about->space;
}

static kc__hook_match_result match_namespace(const kc__hook *hook, const kc__attributes *about)
{
    if (kc_selector_is_everything(hook->namespaces) ||
        (kc_str_empty(about->ns) && strcmp(about->resource->plural, "namespaces") != 0))
        return KC__HOOK_CONCERNED;
    const kc_object *space = labelled_space(about);
    if (!space)
        return KC__HOOK_NO_NAMESPACE;
    return kc_selector_match(hook->namespaces, space) ? KC__HOOK_CONCERNED : KC__HOOK_UNCONCERNED;
}

static bool match_object(const kc__hook *hook, const kc__attributes *about)
{
    return kc_selector_is_everything(hook->objects) ||
           (about->object && kc_selector_match(hook->objects, about->object)) ||
           (about->old && kc_selector_match(hook->objects, about->old));
}

kc__hook_match_result kc__hook_match(const kc__hook *hook, const kc__attributes *about,
                                     const kc__resource **ret_as)
{
    const kc__hook_match_result space = match_namespace(hook, about);
    if (space == KC__HOOK_UNCONCERNED || !match_object(hook, about))
        return KC__HOOK_UNCONCERNED;
    const kc__resource *as = find_by_rules(hook, about);
    if (!as)
        return KC__HOOK_UNCONCERNED;
    *ret_as = as;
    return space;
}
