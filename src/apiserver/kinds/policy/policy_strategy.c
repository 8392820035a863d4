/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_strategy.c: the strategies of PodDisruptionBudgets and PriorityClasses.
 */
#include "apiserver/kinds/internal_form.h"
#include "apiserver/kinds/strategy.h"

/* ---- PodDisruptionBudget ---- */

static const char *const evictions[] = {"AlwaysAllow", "IfHealthyBudget", NULL};

static void check_share(const kc__location *share)
{
    if (share->value)
        kc__validate_number_or_percent(share, true);
}

static void check_one_bound(const kc__location *spec)
{
    if (kc_value_get(spec->value, "minAvailable") && kc_value_get(spec->value, "maxUnavailable"))
        kc__location_error_json(
            spec, KC_FIELD_INVALID,
            kc__internal_form_json("io.k8s.api.policy.v1.PodDisruptionBudgetSpec", spec->value,
                                   &spec->errors->arena),
            "minAvailable and maxUnavailable cannot be both set");
}

static void check_optional_selector(const kc__location *selector)
{
    if (selector->value)
        kc__validate_selector(selector);
}

static const kc__validate_rule budget_spec_[] = {
    {.code = check_one_bound},
    {"minAvailable", .code = check_share},
    {"maxUnavailable", .code = check_share},
    {"selector", .code = check_optional_selector},
    {"unhealthyPodEvictionPolicy", .one_of = evictions},
};
static const kc__validate_rule_table budget_spec = KC__VALIDATE_RULES(budget_spec_);
static const kc__validate_rule budget_[] = {{"spec", .of = &budget_spec}};
static const kc__validate_rule_table budget_rules = KC__VALIDATE_RULES(budget_);

static void validate_budget_status(const kc_value *object, const kc_value *old,
                                   kc_field_errors *errors)
{
    static const char *const counts[] = {"disruptionsAllowed", "currentHealthy", "desiredHealthy",
                                         "expectedPods"};
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    (void)old;
    for (size_t i = 0; i < KC_COUNT(counts); i++) {
        kc__location count = kc__location_member(&status, counts[i]);
        kc__validate_at_least_0(&count);
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

static const kc__defaults_entry class_[] = {
    {.field = "preemptionPolicy", .json = "\"PreemptLowerPriority\""}};
static const kc__defaults class_defaults = KC__DEFAULTS(class_);
static const char *const policies[] = {"PreemptLowerPriority", "Never", NULL};

static bool is_systems_own(const kc__location *root, kc_str name)
{
    kc__location value = kc__location_member(root, "value");
    return (kc_str_is(name, "system-cluster-critical") &&
            kc__location_number(&value) == 2000000000) ||
           (kc_str_is(name, "system-node-critical") && kc__location_number(&value) == 2000001000);
}

static void validate_class(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 metadata = kc__location_member(&root, "metadata");
    kc__location name = kc__location_member(&metadata, "name"),
                 value = kc__location_member(&root, "value");
    kc__location policy = kc__location_member(&root, "preemptionPolicy");
    if (kc_str_starts(kc__location_text(&name), KC_STR("system-"))) {
        if (!is_systems_own(&root, kc__location_text(&name)))
            kc__location_error(
                &name, KC_FIELD_FORBIDDEN,
                "priority class names with 'system-' prefix are reserved for system use "
                "only. error: %.*s is not a known system priority class",
                KC_ARG(kc__location_text(&name)));
    } else if (kc__location_number(&value) > MAX_PRIORITY) {
        kc__location_error(&value, KC_FIELD_FORBIDDEN,
                           "maximum allowed value of a user defined priority is %d", MAX_PRIORITY);
    }
    if (policy.value && !kc__location_text_is(&policy, "Never") &&
        !kc__location_text_is(&policy, "PreemptLowerPriority"))
        kc__location_not_supported(&policy, policies);
}

static void validate_priority_class_update(const kc_value *object, const kc_value *old,
                                           kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 value = kc__location_member(&root, "value");
    kc__location policy = kc__location_member(&root, "preemptionPolicy");
    if (kc__location_number(&value) != kc_value_as_i64_or(kc_value_get(old, "value"), 0))
        kc__location_error(&value, KC_FIELD_FORBIDDEN, "may not be changed in an update.");
    kc__validate_same(&policy, kc_value_get(old, "preemptionPolicy"));
}

const kc__strategy kc__strategy_priority_class = {
    .generation = true,
    .stays_first = true,
    .defaults = &class_defaults,
    .validate = validate_class,
    .validate_update = validate_priority_class_update,
};
