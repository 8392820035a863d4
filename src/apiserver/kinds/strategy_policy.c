/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_policy.c: kinds that rule others: PodDisruptionBudgets, PriorityClasses, ResourceQuotas,
 * LimitRanges.
 */
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"

/* ---- PodDisruptionBudget ---- */

static const char *const evictions[] = {"AlwaysAllow", "IfHealthyBudget", NULL};

static void check_share(const kc__place *share)
{
    if (share->value)
        kc__check_number_or_percent(share, true);
}

/* The error shows the spec as Kubernetes' own struct, which cannot be told from here in full. */
static void check_one_bound(const kc__place *spec)
{
    if (kc_get(spec->value, "minAvailable") && kc_get(spec->value, "maxUnavailable"))
        kc__wrong(spec, KC_FIELD_INVALID, "minAvailable and maxUnavailable cannot be both set");
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

/* ---- ResourceQuota ---- */

static void check_hard(const kc__place *hard)
{
    kc_members (hard->value, name, value) {
        kc__place entry = kc__entry(hard, name, value);
        const char *messages[KC_NAME_MESSAGES];
        size_t n = kc_name_check(KC_NAME_QUALIFIED, name, messages);
        for (size_t i = 0; i < n; i++)
            kc__wrong_text(&entry, KC_FIELD_INVALID, name, messages[i]);
        kc__check_quantity_at_least_0(&entry);
    }
}

static const kc__rule quota_spec_[] = {{"hard", .code = check_hard}};
static const kc__rules quota_spec = KC__RULES(quota_spec_);
static const kc__rule quota_[] = {{"spec", .of = &quota_spec}};
static const kc__rules quota_rules = KC__RULES(quota_);

static void validate_quota_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place scopes = kc__member(&spec, "scopes");
    kc__check_same(&scopes, kc_get(kc_get(old, "spec"), "scopes"));
}

const kc__strategy kc__strategy_quota = {
    .shows_deleted = true,
    .rules = &quota_rules,
    .validate_update = validate_quota_update,
};

/* ---- LimitRange ---- */

/* Copies what `to` lacks. */
static void add_missing(kc_edit *edit, kc_node *limit, const char *from, const char *to)
{
    kc_node *source = kc_node_get(limit, kc_cstr(from));
    if (!kc_node_len(source))
        return;
    kc_node *target = kc_node_need_object(edit, limit, kc_cstr(to));
    kc_node_members (source, name, value)
        if (!kc_node_get(target, name))
            kc_node_set(edit, target, name, kc_node_clone(edit, value));
}

static void complete_limit(kc_edit *edit, kc_node *limit)
{
    if (!kc_str_is(kc__node_text(limit, "type"), "Container"))
        return;
    add_missing(edit, limit, "max", "default");
    add_missing(edit, limit, "default", "defaultRequest");
    add_missing(edit, limit, "min", "defaultRequest");
}

static const kc__defaults limit_defaults = {.code = complete_limit};
static const kc__default range_spec_[] = {{.field = "limits", .of = &limit_defaults}};
static const kc__defaults range_spec = KC__DEFAULTS(range_spec_);
static const kc__default range_[] = {{.field = "spec", .of = &range_spec}};
static const kc__defaults range_defaults = KC__DEFAULTS(range_);

static void check_limit_types(const kc__place *limits)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (limits->value, value) {
        kc__place limit = kc__item(limits, value, i++), type = kc__member(&limit, "type");
        kc__check_name(&type, KC_NAME_QUALIFIED);
        kc__check_unique(&type, &seen);
    }
}

static const kc__rule range_rule_[] = {{"limits", .code = check_limit_types}};
static const kc__rules range_rule = KC__RULES(range_rule_);
static const kc__rule range_object_[] = {{"spec", .of = &range_rule}};
static const kc__rules range_rules = KC__RULES(range_object_);

const kc__strategy kc__strategy_limit_range = {
    .upserts = true,
    .defaults = &range_defaults,
    .rules = &range_rules,
};
