/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_runtime_class.c: RuntimeClasses: what runs containers, what it costs, and where it is.
 */
#include "apiserver/kinds/pod_rules.h"
#include "apiserver/kinds/strategy.h"

static void check_handler(const kc__place *handler)
{
    kc__check_name(handler, KC_NAME_DNS_LABEL);
}

/* What a pod has beside its containers, checked as limits of one. */
static void check_overhead(const kc__place *overhead)
{
    kc_auto(kc_edit) *edit = kc_edit_new();
    const kc_value *fixed = kc_get(overhead->value, "podFixed");
    kc_scoped(kc_map) no_claims = {0};
    if (!fixed)
        return;
    kc_node *limits = kc_node_object(edit);
    kc_node_set(edit, limits, KC_STR("limits"), kc_node_copy(edit, fixed));
    kc_edit_set_root(edit, limits);
    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    kc__place shown = *overhead;
    shown.value = kc_view_root(view);
    kc__check_resources(&shown, &no_claims);
}

static void check_tolerations(const kc__place *tolerations)
{
    kc__place twice = kc__member(tolerations, "tolerations"); /* As Kubernetes has it. */
    twice.value = tolerations->value;
    kc__check_tolerations(&twice);
}

static const kc__rule scheduling_[] = {
    {"nodeSelector", .code = kc__check_labels},
    {"tolerations", .code = check_tolerations},
};
static const kc__rules scheduling = KC__RULES(scheduling_);
static const kc__rule class_[] = {
    {"handler", .code = check_handler},
    {"overhead", .code = check_overhead},
    {"scheduling", .of = &scheduling},
};
static const kc__rules class_rules = KC__RULES(class_);

static void validate(const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors);
    kc__rules_check(&class_rules, &root);
}

static void validate_update(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), handler = kc__member(&root, "handler");
    kc__check_same(&handler, kc_get(old, "handler"));
}

const kc__strategy kc__strategy_runtime_class = {
    .upserts = true,
    .conditional = true,
    .validate = validate,
    .validate_update = validate_update,
};
