/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_class_strategy.c: the strategy of RuntimeClasses: the container runtime handler, its
 * overhead, and the nodes that support it.
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/strategy.h"

static void check_handler(const kc__location *handler)
{
    kc__validate_name(handler, KC_NAME_DNS_LABEL);
}

/* The overhead of a pod, validated like the limits of a container. */
static void check_overhead(const kc__location *overhead)
{
    kc_auto(kc_edit) *edit = kc_edit_new();
    const kc_value *fixed = kc_value_get(overhead->value, "podFixed");
    kc_scoped(kc_map) no_claims = {0};
    if (!fixed)
        return;
    kc_node *limits = kc_node_object(edit);
    kc_node_set(edit, limits, KC_STR("limits"), kc_node_from_value(edit, fixed));
    kc_edit_set_root(edit, limits);
    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    kc__location shown = *overhead;
    shown.value = kc_view_root(view);
    kc__validate_resources(&shown, &no_claims);
}

static void check_tolerations(const kc__location *tolerations)
{
    kc__location twice =
        kc__location_member(tolerations, "tolerations"); /* As in Kubernetes' path. */
    twice.value = tolerations->value;
    kc__validate_tolerations(&twice);
}

static const kc__validate_rule scheduling_[] = {
    {"nodeSelector", .code = kc__validate_labels},
    {"tolerations", .code = check_tolerations},
};
static const kc__validate_rule_table scheduling = KC__VALIDATE_RULES(scheduling_);
static const kc__validate_rule class_[] = {
    {"handler", .code = check_handler},
    {"overhead", .code = check_overhead},
    {"scheduling", .of = &scheduling},
};
static const kc__validate_rule_table class_rules = KC__VALIDATE_RULES(class_);

static void validate_runtime_class(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors);
    kc__validate_by_rules(&class_rules, &root);
}

static void validate_runtime_class_update(const kc_value *object, const kc_value *old,
                                          kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 handler = kc__location_member(&root, "handler");
    kc__validate_same(&handler, kc_value_get(old, "handler"));
}

const kc__strategy kc__strategy_runtime_class = {
    .upserts = true,
    .conditional = true,
    .validate = validate_runtime_class,
    .validate_update = validate_runtime_class_update,
};
