/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_node.c: Nodes. They register themselves, and bring their status along.
 */
#include "apiserver/kinds/strategy.h"

/* What may be given to pods is all there is, unless the node says otherwise. */
static void complete_status(kc_edit *edit, kc_node *status)
{
    kc_node *capacity = kc_node_get(status, KC_STR("capacity"));
    if (kc_node_len(capacity) && kc__node_absent(status, "allocatable"))
        kc_node_set(edit, status, KC_STR("allocatable"), kc_node_clone(edit, capacity));
}

static const kc__defaults status_defaults = {.code = complete_status};
static const kc__default node_[] = {{.field = "status", .of = &status_defaults}};
static const kc__defaults defaults = KC__DEFAULTS(node_);

/* A new one takes no pods until somebody found it ready. */
static void prepare(kc_edit *edit)
{
    static const char key[] = "node.kubernetes.io/not-ready";
    kc_node *spec = kc_node_need_object(edit, kc_edit_root(edit), KC_STR("spec"));
    kc_node *taints = kc_node_get(spec, KC_STR("taints")), *taint = kc_node_object(edit);
    if (!taints) {
        taints = kc_node_array(edit);
        kc_node_set(edit, spec, KC_STR("taints"), taints);
    }
    kc_node_items (taints, item)
        if (kc_str_is(kc__node_text(item, "key"), key) &&
            kc_str_is(kc__node_text(item, "effect"), "NoSchedule"))
            return;
    kc_node_set(edit, taint, KC_STR("key"), kc_node_str(edit, kc_cstr(key)));
    kc_node_set(edit, taint, KC_STR("effect"), kc_node_str(edit, KC_STR("NoSchedule")));
    kc_node_append(taints, taint);
}

/* Kubernetes tells of taints under metadata. */
static void validate(const kc_value *object, kc_field_errors *errors)
{
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
    kc__place root = kc__place_root(object, errors), metadata = kc__member(&root, "metadata");
    kc__place taints = kc__member(&metadata, "taints");
    size_t i = 0;
    taints.value = kc_get(kc_get(object, "spec"), "taints");
    kc_items (taints.value, value) {
        kc__place taint = kc__item(&taints, value, i++), effect = kc__member(&taint, "effect");
        kc__place key = kc__member(&taint, "key"), text = kc__member(&taint, "value");
        kc__check_name(&key, KC_NAME_QUALIFIED);
        kc__check_name(&text, KC_NAME_LABEL_VALUE);
        if (!kc__there(&effect))
            kc__wrong(&effect, KC_FIELD_REQUIRED, NULL);
        else if (!kc__text_is(&effect, "NoSchedule") && !kc__text_is(&effect, "NoExecute") &&
                 !kc__text_is(&effect, "PreferNoSchedule"))
            kc__not_supported(&effect, effects);
    }
}

static void validate_update(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place provider = kc__member(&spec, "providerID");
    const kc_value *before = kc_get(kc_get(old, "spec"), "providerID");
    validate(object, errors);
    if (before && !kc_str_eq(kc__text(&provider), kc_as_str(before)))
        kc__wrong(&provider, KC_FIELD_FORBIDDEN,
                  "node updates may not change providerID except from \"\" to valid");
}

static const kc_field_def selectable[] = {{.field = "spec.unschedulable", .otherwise = "false"}};

const kc__strategy kc__strategy_node = {
    .keeps_status = true,
    .selectable = selectable,
    .n_selectable = KC_COUNT(selectable),
    .defaults = &defaults,
    .prepare = prepare,
    .validate = validate,
    .validate_update = validate_update,
};
