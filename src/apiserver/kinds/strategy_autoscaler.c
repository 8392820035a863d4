/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_autoscaler.c: HorizontalPodAutoscalers. Without metrics they look at the processor; who
 * says something about how fast to scale gets the rest of that filled in.
 */
#include "apiserver/kinds/strategy.h"

static void append_policy(kc_edit *edit, kc_node *list, const char *type, int64_t value)
{
    kc_node *policy = kc_node_object(edit);
    kc_node_set(edit, policy, KC_STR("type"), kc_node_str(edit, kc_cstr(type)));
    kc_node_set(edit, policy, KC_STR("value"), kc_node_i64(edit, value));
    kc_node_set(edit, policy, KC_STR("periodSeconds"), kc_node_i64(edit, 15));
    kc_node_append(list, policy);
}

static void complete_rules(kc_edit *edit, kc_node *behavior, const char *name, bool up)
{
    kc_node *rules = kc__default_set(edit, behavior, name, "{}");
    kc__default_set(edit, rules, "selectPolicy", "\"Max\"");
    if (up)
        kc__default_set(edit, rules, "stabilizationWindowSeconds", "0");
    if (!kc__node_absent(rules, "policies"))
        return;
    kc_node *policies = kc_node_array(edit);
    if (up)
        append_policy(edit, policies, "Pods", 4);
    append_policy(edit, policies, "Percent", 100);
    kc_node_set(edit, rules, KC_STR("policies"), policies);
}

static kc_node *processor_metric(kc_edit *edit)
{
    kc_node *metric = kc_node_object(edit), *resource = kc_node_object(edit);
    kc_node *target = kc_node_object(edit);
    kc_node_set(edit, target, KC_STR("type"), kc_node_str(edit, KC_STR("Utilization")));
    kc_node_set(edit, target, KC_STR("averageUtilization"), kc_node_i64(edit, 80));
    kc_node_set(edit, resource, KC_STR("name"), kc_node_str(edit, KC_STR("cpu")));
    kc_node_set(edit, resource, KC_STR("target"), target);
    kc_node_set(edit, metric, KC_STR("type"), kc_node_str(edit, KC_STR("Resource")));
    kc_node_set(edit, metric, KC_STR("resource"), resource);
    return metric;
}

static void complete(kc_edit *edit, kc_node *object)
{
    kc_node *spec = kc_node_get(object, KC_STR("spec"));
    kc_node *behavior = kc_node_get(spec, KC_STR("behavior"));
    if (spec)
        kc__default_set(edit, spec, "minReplicas", "1");
    /* Version 1 has one metric, which it calls by another name. */
    if (!spec || kc_str_is(kc__node_text(object, "apiVersion"), "autoscaling/v1"))
        return;
    if (!kc_node_len(kc_node_get(spec, KC_STR("metrics")))) {
        kc_node *metrics = kc_node_array(edit);
        kc_node_append(metrics, processor_metric(edit));
        kc_node_set(edit, spec, KC_STR("metrics"), metrics);
    }
    if (!behavior)
        return;
    complete_rules(edit, behavior, "scaleUp", true);
    complete_rules(edit, behavior, "scaleDown", false);
}

static const kc__defaults defaults = {.code = complete};

static void check_bounds(const kc__place *spec)
{
    kc__place low = kc__member(spec, "minReplicas"), high = kc__member(spec, "maxReplicas");
    if (low.value && kc__number(&low) < 1)
        kc__wrong(&low, KC_FIELD_INVALID, "must be greater than or equal to 1");
    kc__check_above_0(&high);
    if (low.value && kc__number(&high) < kc__number(&low)) {
        if (high.value)
            kc__wrong(&high, KC_FIELD_INVALID, "must be greater than or equal to `minReplicas`");
        else
            kc__wrong_as(&high, KC_FIELD_INVALID, "0",
                         "must be greater than or equal to `minReplicas`");
    }
}

static void check_group(const kc__place *version)
{
    if (kc_str_find(kc__text(version), '/') < 0 && !kc__text_is(version, "v1"))
        kc__wrong(version, KC_FIELD_INVALID, "apiVersion must specify API group");
}

static const kc__rule target_[] = {
    {"kind", .required = "", .name = &kc__path_segment},
    {"name", .required = "", .name = &kc__path_segment},
    {"apiVersion", .code = check_group},
};
static const kc__rules target = KC__RULES(target_);
/* Nothing runs whose processor could be measured. */
static void check_zero(const kc__place *spec)
{
    kc__place metrics = kc__member(spec, "metrics"), low = kc__member(spec, "minReplicas");
    bool other = false;
    kc_items (metrics.value, metric) {
        kc_str type = kc_as_str(kc_get(metric, "type"));
        other = other || kc_str_is(type, "Object") || kc_str_is(type, "External");
    }
    if (low.value && kc__number(&low) == 0 && !other)
        kc__wrong(&metrics, KC_FIELD_FORBIDDEN,
                  "must specify at least one Object or External metric to support scaling to zero "
                  "replicas");
}

static const kc__rule spec_[] = {
    {.code = check_bounds},
    {"scaleTargetRef", .of = &target},
    {.code = check_zero},
};
static const kc__rules spec_rules = KC__RULES(spec_);
static const kc__rule object_[] = {{"spec", .of = &spec_rules}};
static const kc__rules object_rules = KC__RULES(object_);

const kc__strategy kc__strategy_autoscaler = {.defaults = &defaults, .rules = &object_rules};
