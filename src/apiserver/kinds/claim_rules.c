/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_rules.c: what is checked in the spec of a PersistentVolumeClaim, on its own, in a template
 * of a StatefulSet and in an ephemeral volume of a pod.
 */
#include "apiserver/kinds/pod_rules.h"
#include "apiserver/kinds/storage_rules.h"
#include "kc/quantity.h"

static const char *const modes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                    "ReadWriteOncePod", NULL};
const char *const kc__volume_modes[] = {"Block", "Filesystem", NULL};

void kc__check_access_modes(const kc__place *list)
{
    bool alone = false, others = false;
    kc_items (list->value, value) {
        kc__place shown = *list;
        bool known = false;
        shown.value = value;
        for (size_t i = 0; modes[i]; i++)
            known = known || kc__text_is(&shown, modes[i]);
        if (!known)
            kc__not_supported(&shown, modes);
        bool one = kc__text_is(&shown, "ReadWriteOncePod");
        alone = alone || one;
        others = others || (known && !one);
    }
    if (alone && others)
        kc__wrong(list, KC_FIELD_FORBIDDEN, "may not use ReadWriteOncePod with other access modes");
}

void kc__check_basic(const kc__place *amount)
{
    kc_quantity quantity;
    if (kc_quantity_from(amount->value, &quantity, NULL) == 0 && kc_quantity_sign(quantity) < 0)
        kc__wrong_as(
            amount, KC_FIELD_INVALID,
            kc_arena_printf(&amount->errors->arena, "%lld", (long long)kc_quantity_value(quantity)),
            "must be a valid resource quantity");
}

void kc__check_positive(const kc__place *amount)
{
    kc_quantity quantity;
    if (kc_quantity_from(amount->value, &quantity, NULL) == 0 && kc_quantity_sign(quantity) <= 0)
        kc__wrong(amount, KC_FIELD_INVALID, "must be greater than zero");
}

static void check_size(const kc__place *spec)
{
    kc__place resources = kc__member(spec, "resources");
    const kc_value *size = kc_get(kc_get(resources.value, "requests"), "storage");
    kc__place shown = kc__entry(&resources, KC_STR("storage"), size);
    if (size)
        kc__check_positive(&shown);
    else
        kc__wrong(&shown, KC_FIELD_REQUIRED, NULL);
}

void kc__check_class_name(const kc__place *name)
{
    if (kc__there(name))
        kc__check_name(name, KC_NAME_DNS_SUBDOMAIN);
}

static void check_optional_selector(const kc__place *selector)
{
    if (selector->value)
        kc__check_selector(selector);
}

/* What a new volume shall hold at first: another claim, or an object of somebody's own. */
static void check_data_source(const kc__place *source)
{
    kc__place name = kc__member(source, "name"), kind = kc__member(source, "kind");
    kc__place group = kc__member(source, "apiGroup"), shown = *source;
    shown.value = kind.value;
    if (!source->value)
        return;
    if (!kc__there(&name))
        kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
    if (!kc__there(&kind))
        kc__wrong(&kind, KC_FIELD_REQUIRED, NULL);
    if (!kc__there(&group) && !kc__text_is(&kind, "PersistentVolumeClaim"))
        kc__wrong(&shown, KC_FIELD_INVALID,
                  "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    if (kc__there(&group))
        kc__check_name(&group, KC_NAME_DNS_SUBDOMAIN);
}

/* Who says it in both ways says the same. */
static void check_same_source(const kc__place *spec)
{
    static const char *const names[] = {"apiGroup", "kind", "name"};
    const kc_value *one = kc__member(spec, "dataSource").value;
    const kc_value *two = kc__member(spec, "dataSourceRef").value;
    if (!one || !two)
        return;
    if (kc_as_str(kc_get(two, "namespace")).n) {
        kc__wrong_as(spec, KC_FIELD_INVALID, "{}",
                     "may not be specified when dataSourceRef.namespace is specified");
        return;
    }
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        if (kc_str_eq(kc_as_str(kc_get(one, names[i])), kc_as_str(kc_get(two, names[i]))))
            continue;
        kc__wrong_as(spec, KC_FIELD_INVALID, "{}", "must match dataSourceRef");
        return;
    }
}

static const kc__rule claim_spec_[] = {
    {"accessModes", .required = "at least 1 access mode is required"},
    {"selector", .code = check_optional_selector},
    {"accessModes", .code = kc__check_access_modes},
    {.code = check_size},
    {"storageClassName", .code = kc__check_class_name},
    {"volumeMode", .one_of = kc__volume_modes},
    {"dataSource", .code = check_data_source},
    {"dataSourceRef", .code = check_data_source},
    {.code = check_same_source},
    {"volumeAttributesClassName", .code = kc__check_class_name},
};
static const kc__rules claim_spec = KC__RULES(claim_spec_);

void kc__check_claim_spec(const kc__place *spec)
{
    kc__rules_check(&claim_spec, spec);
}
