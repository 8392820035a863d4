/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes.c: the scopes of quotas. A quota with scopes applies to objects that are in all of them;
 * an object of a resource without scopes is in none.
 */
#include "quota/quota_internal.h"

kc_quota_scope kc_quota_scope_of(const kc_value *expression)
{
    return (kc_quota_scope){.name = kc_value_as_str(kc_value_get(expression, "scopeName")),
                            .operator= kc_value_as_str(kc_value_get(expression, "operator")),
                            .values = kc_value_get(expression, "values")};
}

bool kc_quota_scope_next(const kc_value *quota, size_t *at, kc_quota_scope *ret)
{
    const kc_value *spec = kc_value_get(quota, "spec"), *scopes = kc_value_get(spec, "scopes"),
                   *expressions = kc_value_nested(spec, "scopeSelector.matchExpressions");
    const size_t i = (*at)++, n = kc_value_len(scopes);
    if (i < n)
        *ret = (kc_quota_scope){.name = kc_value_as_str(kc_value_at(scopes, i)),
                                .operator= KC_STR("Exists")};
    else if (i - n < kc_value_len(expressions))
        *ret = kc_quota_scope_of(kc_value_at(expressions, i - n));
    else
        return false;
    return true;
}

/* ---- requirements about a name ---- */

static bool is_listed(const kc_value *values, kc_str name)
{
    kc_value_each_item (values, value)
        if (kc_str_eq(kc_value_as_str(value), name))
            return true;
    return false;
}

/* Whether one of an object's names fulfils the requirement; an object without names fulfils only
 * NotIn and DoesNotExist. */
static bool names_match(const kc_quota_scope *scope, const kc_str *names, size_t n)
{
    const bool in = kc_str_is(scope->operator, "In"), not_in = kc_str_is(scope->operator, "NotIn");
    if (kc_str_is(scope->operator, "Exists"))
        return n > 0;
    if (kc_str_is(scope->operator, "DoesNotExist"))
        return n == 0;
    if (n == 0)
        return not_in;
    for (size_t i = 0; i < n; i++) {
        const bool listed = is_listed(scope->values, names[i]);
        if ((in && listed) || (not_in && !listed))
            return true;
    }
    return false;
}

/* ---- pods ---- */

static bool has_positive_amount(const kc_value *resources)
{
    static const char *const members[] = {"requests", "limits"}, *const names[] = {"cpu", "memory"};
    kc_quota_amount amount;
    for (size_t i = 0; i < KC_COUNT(members) * KC_COUNT(names); i++)
        if (kc_quota_amount_read(
                kc_value_get(kc_value_get(resources, members[i / 2]), names[i % 2]), &amount) &&
            kc_quantity_sign(amount.value) > 0)
            return true;
    return false;
}

static bool containers_have_amounts(const kc_value *containers)
{
    kc_value_each_item (containers, container)
        if (has_positive_amount(kc_value_get(container, "resources")))
            return true;
    return false;
}

static bool is_best_effort(const kc_value *pod)
{
    const kc_value *spec = kc_value_get(pod, "spec"), *own = kc_value_get(spec, "resources");
    const kc_str class = kc_value_as_str(kc_value_nested(pod, "status.qosClass"));
    if (class.n)
        return kc_str_is(class, "BestEffort");
    if (kc_value_type(own) == KC_JSON_OBJECT)
        return !has_positive_amount(own);
    return !containers_have_amounts(kc_value_get(spec, "containers")) &&
           !containers_have_amounts(kc_value_get(spec, "initContainers"));
}

static bool is_cross_namespace(const kc_value *term)
{
    return kc_value_len(kc_value_get(term, "namespaces")) ||
           kc_value_type(kc_value_get(term, "namespaceSelector")) == KC_JSON_OBJECT;
}

static bool terms_cross_namespaces(const kc_value *affinity)
{
    kc_value_each_item (kc_value_get(affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
                        term)
        if (is_cross_namespace(term))
            return true;
    kc_value_each_item (kc_value_get(affinity, "preferredDuringSchedulingIgnoredDuringExecution"),
                        weighted)
        if (is_cross_namespace(kc_value_get(weighted, "podAffinityTerm")))
            return true;
    return false;
}

static bool has_cross_namespace_affinity(const kc_value *pod)
{
    const kc_value *affinity = kc_value_nested(pod, "spec.affinity");
    return terms_cross_namespaces(kc_value_get(affinity, "podAffinity")) ||
           terms_cross_namespaces(kc_value_get(affinity, "podAntiAffinity"));
}

bool kc__usage_pod_is_in_scope(const kc_quota_scope *scope, const kc_value *pod)
{
    const kc_str class = kc_value_as_str(kc_value_nested(pod, "spec.priorityClassName"));
    if (kc_str_is(scope->name, "Terminating"))
        return kc_quota_pod_is_terminating(pod);
    if (kc_str_is(scope->name, "NotTerminating"))
        return !kc_quota_pod_is_terminating(pod);
    if (kc_str_is(scope->name, "BestEffort"))
        return is_best_effort(pod);
    if (kc_str_is(scope->name, "NotBestEffort"))
        return !is_best_effort(pod);
    if (kc_str_is(scope->name, "PriorityClass"))
        return names_match(scope, &class, class.n > 0);
    if (kc_str_is(scope->name, "CrossNamespacePodAffinity"))
        return has_cross_namespace_affinity(pod);
    return false;
}

/* ---- PersistentVolumeClaims ---- */

bool kc__usage_claim_is_in_scope(const kc_quota_scope *scope, const kc_value *claim)
{
    static const char *const paths[] = {
        "spec.volumeAttributesClassName", "status.currentVolumeAttributesClassName",
        "status.modifyVolumeStatus.targetVolumeAttributesClassName"};
    kc_str names[KC_COUNT(paths)];
    size_t n = 0;
    if (!kc_str_is(scope->name, "VolumeAttributesClass"))
        return false;
    for (size_t i = 0; i < KC_COUNT(paths); i++) {
        names[n] = kc_value_as_str(kc_value_nested(claim, paths[i]));
        n += names[n].n > 0;
    }
    return names_match(scope, names, n);
}

/* ---- any resource ---- */

bool kc_quota_scope_matches(const kc_quota_resource *resource, const kc_quota_scope *scope,
                            const kc_value *object)
{
    const kc__usage_evaluator *evaluator = kc__usage_evaluator_of(resource);
    return evaluator->is_in_scope && evaluator->is_in_scope(scope, object);
}

bool kc_quota_is_in_scopes(const kc_quota_resource *resource, const kc_value *quota,
                           const kc_value *object)
{
    kc_quota_scope scope;
    for (size_t at = 0; kc_quota_scope_next(quota, &at, &scope);)
        if (!kc_quota_scope_matches(resource, &scope, object))
            return false;
    return true;
}

bool kc_quota_matches(const kc_quota_resource *resource, const kc_value *quota,
                      const kc_value *object)
{
    kc_value_each_member (kc_value_nested(quota, "status.hard"), name, value) {
        (void)value;
        if (kc_quota_tracks(resource, name))
            return kc_quota_is_in_scopes(resource, quota, object);
    }
    return false;
}
