/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autoscaler_strategy.c: the strategy of HorizontalPodAutoscalers. The default metric is CPU
 * utilization; a partly set scaling behavior gets the defaults of its other fields.
 */
#include "apiserver/kinds/autoscaling/autoscaler.h"
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
    kc_node *rules = kc__defaults_set(edit, behavior, name, "{}");
    kc__defaults_set(edit, rules, "selectPolicy", "\"Max\"");
    if (up)
        kc__defaults_set(edit, rules, "stabilizationWindowSeconds", "0");
    if (!kc__defaults_node_absent(rules, "policies"))
        return;
    kc_node *policies = kc_node_array(edit);
    if (up)
        append_policy(edit, policies, "Pods", 4);
    append_policy(edit, policies, "Percent", 100);
    kc_node_set(edit, rules, KC_STR("policies"), policies);
}

static void complete_autoscaler(kc_edit *edit, kc_node *object)
{
    kc_node *spec = kc_node_get(object, KC_STR("spec"));
    bool old = kc_str_is(kc__defaults_node_text(object, "apiVersion"), "autoscaling/v1");
    kc_node *behavior = kc_node_get(spec, KC_STR("behavior"));
    if (spec)
        kc__defaults_set(edit, spec, "minReplicas", "1");
    /* v1 has the other fields in annotations, which only the conversion reads; v2 has no such
     * annotations. */
    if (old)
        return;
    kc__autoscaler_drop_annotations(edit);
    if (!spec)
        return;
    if (!kc_node_len(kc_node_get(spec, KC_STR("metrics")))) {
        kc_node *metrics = kc_node_array(edit);
        kc_node_append(metrics, kc__autoscaler_cpu_metric(edit, 80));
        kc_node_set(edit, spec, KC_STR("metrics"), metrics);
    }
    if (!behavior)
        return;
    complete_rules(edit, behavior, "scaleUp", true);
    complete_rules(edit, behavior, "scaleDown", false);
}

static const kc__defaults defaults = {.code = complete_autoscaler};

const kc__strategy kc__strategy_autoscaler = {
    .defaults = &defaults,
    .validate = kc__autoscaler_check,
    .validate_update = kc__autoscaler_check_update,
    .validate_status = kc__autoscaler_check_status,
};
