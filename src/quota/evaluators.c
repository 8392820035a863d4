/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluators.c: the table of evaluators, and what follows from it. Every resource has a count of
 * its objects, "count/PLURAL.GROUP"; the table names the resources that have more.
 *
 * To add an evaluator: its functions in a file of its own, and a row.
 */
#include "quota/quota_internal.h"

#define COUNT "count/"

static const kc__usage_evaluator evaluators[] = {
    {.plural = "pods",
     .group = "",
     .tracks = kc__usage_pod_tracks,
     .measure = kc__usage_pod_measure,
     .is_in_scope = kc__usage_pod_is_in_scope,
     .is_freed_by = kc__usage_pod_is_freed_by},
    {.plural = "services",
     .group = "",
     .alias = "services",
     .tracks = kc__usage_service_tracks,
     .measure = kc__usage_service_measure,
     .is_freed_by = kc__usage_service_is_freed_by},
    {.plural = "persistentvolumeclaims",
     .group = "",
     .alias = "persistentvolumeclaims",
     .tracks = kc__usage_claim_tracks,
     .measure = kc__usage_claim_measure,
     .is_in_scope = kc__usage_claim_is_in_scope,
     .is_freed_by = kc__usage_claim_is_freed_by},
    {.plural = "resourceclaims",
     .group = "resource.k8s.io",
     .tracks = kc__usage_device_claim_tracks,
     .measure = kc__usage_device_claim_measure},
    {.plural = "configmaps", .group = "", .alias = "configmaps"},
    {.plural = "resourcequotas", .group = "", .alias = "resourcequotas"},
    {.plural = "replicationcontrollers", .group = "", .alias = "replicationcontrollers"},
    {.plural = "secrets", .group = "", .alias = "secrets"},
};

const kc__usage_evaluator *kc__usage_evaluator_of(const kc_quota_resource *resource)
{
    static const kc__usage_evaluator counting;
    for (size_t i = 0; i < KC_COUNT(evaluators); i++)
        if (kc_str_is(resource->plural, evaluators[i].plural) &&
            kc_str_is(resource->group, evaluators[i].group))
            return &evaluators[i];
    return &counting;
}

bool kc_quota_is_ignored(const kc_quota_resource *resource)
{
    static const struct {
        const char *group, *plural;
    } ignored[] = {{"", "bindings"},
                   {"", "componentstatuses"},
                   {"", "events"},
                   {"events.k8s.io", "events"},
                   {"authentication.k8s.io", "tokenreviews"},
                   {"authentication.k8s.io", "selfsubjectreviews"},
                   {"authorization.k8s.io", "subjectaccessreviews"},
                   {"authorization.k8s.io", "selfsubjectaccessreviews"},
                   {"authorization.k8s.io", "localsubjectaccessreviews"},
                   {"authorization.k8s.io", "selfsubjectrulesreviews"}};
    for (size_t i = 0; i < KC_COUNT(ignored); i++)
        if (kc_str_is(resource->plural, ignored[i].plural) &&
            kc_str_is(resource->group, ignored[i].group))
            return true;
    return false;
}

/* ---- names ---- */

/* Whether the name is "count/PLURAL.GROUP" of the resource. */
static bool is_count_name(const kc_quota_resource *resource, kc_str name)
{
    if (!kc_str_starts(name, KC_STR(COUNT)))
        return false;
    const kc_str counted = kc_str_sub(name, strlen(COUNT), name.n);
    if (!resource->group.n)
        return kc_str_eq(counted, resource->plural);
    const size_t n = resource->plural.n;
    return counted.n == n + 1 + resource->group.n && counted.p[n] == '.' &&
           kc_str_starts(counted, resource->plural) && kc_str_ends(counted, resource->group);
}

bool kc_quota_tracks(const kc_quota_resource *resource, kc_str name)
{
    const kc__usage_evaluator *evaluator = kc__usage_evaluator_of(resource);
    return is_count_name(resource, name) ||
           (evaluator->alias && kc_str_is(name, evaluator->alias)) ||
           (evaluator->tracks && evaluator->tracks(name));
}

/* ---- usage ---- */

bool kc_quota_measures(const kc_quota_resource *resource)
{
    return kc__usage_evaluator_of(resource)->measure;
}

void kc_quota_usage(const kc_quota_resource *resource, const kc_value *object, kc_time now,
                    kc_quota_amounts *ret)
{
    const kc__usage_evaluator *evaluator = kc__usage_evaluator_of(resource);
    const char *count = kc_arena_printf(&ret->arena, COUNT "%.*s%s%.*s", KC_ARG(resource->plural),
                                        resource->group.n ? "." : "",
                                        KC_ARG(resource->group.n ? resource->group : KC_STR("")));
    kc_quota_amounts_set_count(ret, kc_cstr(count), 1);
    if (evaluator->alias)
        kc_quota_amounts_set_count(ret, kc_cstr(evaluator->alias), 1);
    if (evaluator->measure)
        evaluator->measure(object, now, ret);
}

bool kc_quota_is_freed_by(const kc_quota_resource *resource, const kc_value *old,
                          const kc_value *object, kc_time now)
{
    const kc__usage_evaluator *evaluator = kc__usage_evaluator_of(resource);
    return evaluator->is_freed_by && evaluator->is_freed_by(old, object, now);
}
