/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_policy.c: kinds that rule pods: PodDisruptionBudgets and PriorityClasses.
 */
#include "apiserver/kinds/inner.h"
#include "apiserver/kinds/strategy.h"

/* ---- PodDisruptionBudget ---- */

static const char *const evictions[] = {"AlwaysAllow", "IfHealthyBudget", NULL};

static void check_share(const kc__place *share)
{
    if (share->value)
        kc__check_number_or_percent(share, true);
}

static void check_one_bound(const kc__place *spec)
{
    if (kc_get(spec->value, "minAvailable") && kc_get(spec->value, "maxUnavailable"))
        kc__wrong_as(spec, KC_FIELD_INVALID,
                     kc__inner_json("io.k8s.api.policy.v1.PodDisruptionBudgetSpec", spec->value,
                                    &spec->errors->arena),
                     "minAvailable and maxUnavailable cannot be both set");
}

static void check_optional_selector(const kc__place *selector)
{
    if (selector->value)
        kc__check_selector(selector);
}

static const kc__rule budget_spec_[] = {
    {.code = check_one_bound},
    {"minAvailable", .code = check_share},
    {"maxUnavailable", .code = check_share},
    {"selector", .code = check_optional_selector},
    {"unhealthyPodEvictionPolicy", .one_of = evictions},
};
static const kc__rules budget_spec = KC__RULES(budget_spec_);
static const kc__rule budget_[] = {{"spec", .of = &budget_spec}};
static const kc__rules budget_rules = KC__RULES(budget_);

static void validate_budget_status(const kc_value *object, const kc_value *old,
                                   kc_field_errors *errors)
{
    static const char *const counts[] = {"disruptionsAllowed", "currentHealthy", "desiredHealthy",
                                         "expectedPods"};
    kc__place root = kc__place_root(object, errors), status = kc__member(&root, "status");
    (void)old;
    for (size_t i = 0; i < KC_COUNT(counts); i++) {
        kc__place count = kc__member(&status, counts[i]);
        kc__check_at_least_0(&count);
    }
}

const kc__strategy kc__strategy_budget = {
    .generation = true,
    .conditional = true,
    .rules = &budget_rules,
    .validate_status = validate_budget_status,
};

/* ---- PriorityClass ---- */

#define MAX_PRIORITY 1000000000

static const kc__default class_[] = {
    {.field = "preemptionPolicy", .json = "\"PreemptLowerPriority\""}};
static const kc__defaults class_defaults = KC__DEFAULTS(class_);
static const char *const policies[] = {"PreemptLowerPriority", "Never", NULL};

static bool is_systems_own(const kc__place *root, kc_str name)
{
    kc__place value = kc__member(root, "value");
    return (kc_str_is(name, "system-cluster-critical") && kc__number(&value) == 2000000000) ||
           (kc_str_is(name, "system-node-critical") && kc__number(&value) == 2000001000);
}

static void validate_class(const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), metadata = kc__member(&root, "metadata");
    kc__place name = kc__member(&metadata, "name"), value = kc__member(&root, "value");
    kc__place policy = kc__member(&root, "preemptionPolicy");
    if (kc_str_starts(kc__text(&name), KC_STR("system-"))) {
        if (!is_systems_own(&root, kc__text(&name)))
            kc__wrong(&name, KC_FIELD_FORBIDDEN,
                      "priority class names with 'system-' prefix are reserved for system use "
                      "only. error: %.*s is not a known system priority class",
                      KC_ARG(kc__text(&name)));
    } else if (kc__number(&value) > MAX_PRIORITY) {
        kc__wrong(&value, KC_FIELD_FORBIDDEN,
                  "maximum allowed value of a user defined priority is %d", MAX_PRIORITY);
    }
    if (policy.value && !kc__text_is(&policy, "Never") &&
        !kc__text_is(&policy, "PreemptLowerPriority"))
        kc__not_supported(&policy, policies);
}

static void validate_class_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), value = kc__member(&root, "value");
    kc__place policy = kc__member(&root, "preemptionPolicy");
    if (kc__number(&value) != kc_as_i64_or(kc_get(old, "value"), 0))
        kc__wrong(&value, KC_FIELD_FORBIDDEN, "may not be changed in an update.");
    kc__check_same(&policy, kc_get(old, "preemptionPolicy"));
}

const kc__strategy kc__strategy_priority_class = {
    .generation = true,
    .defaults = &class_defaults,
    .validate = validate_class,
    .validate_update = validate_class_update,
};
