/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_rules.c: validates the spec of a PersistentVolumeClaim: of the object itself, in a template
 * of a StatefulSet, and in an ephemeral volume of a pod.
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/core/storage_rules.h"
#include "kc/quantity.h"

static const char *const modes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                    "ReadWriteOncePod", NULL};
const char *const kc__validate_volume_modes[] = {"Block", "Filesystem", NULL};

void kc__validate_access_modes(const kc__location *list)
{
    bool alone = false, others = false;
    kc_value_each_item (list->value, value) {
        kc__location shown = *list;
        bool known = false;
        shown.value = value;
        for (size_t i = 0; modes[i]; i++)
            known = known || kc__location_text_is(&shown, modes[i]);
        if (!known)
            kc__location_not_supported(&shown, modes);
        bool one = kc__location_text_is(&shown, "ReadWriteOncePod");
        alone = alone || one;
        others = others || (known && !one);
    }
    if (alone && others)
        kc__location_error(list, KC_FIELD_FORBIDDEN,
                           "may not use ReadWriteOncePod with other access modes");
}

void kc__validate_basic(const kc__location *amount)
{
    kc_quantity quantity;
    if (kc_quantity_from(amount->value, &quantity, NULL) == 0 && kc_quantity_sign(quantity) < 0)
        kc__location_error_json(
            amount, KC_FIELD_INVALID,
            kc_arena_printf(&amount->errors->arena, "%lld", (long long)kc_quantity_value(quantity)),
            "must be a valid resource quantity");
}

void kc__validate_positive(const kc__location *amount)
{
    kc_quantity quantity;
    if (kc_quantity_from(amount->value, &quantity, NULL) == 0 && kc_quantity_sign(quantity) <= 0)
        kc__location_error(amount, KC_FIELD_INVALID, "must be greater than zero");
}

static void check_claim_size(const kc__location *spec)
{
    kc__location resources = kc__location_member(spec, "resources");
    const kc_value *size = kc_value_get(kc_value_get(resources.value, "requests"), "storage");
    kc__location shown = kc__location_entry(&resources, KC_STR("storage"), size);
    if (size)
        kc__validate_positive(&shown);
    else
        kc__location_error(&shown, KC_FIELD_REQUIRED, NULL);
}

void kc__validate_class_name(const kc__location *name)
{
    if (kc__location_is_set(name))
        kc__validate_name(name, KC_NAME_DNS_SUBDOMAIN);
}

static void check_optional_selector(const kc__location *selector)
{
    if (selector->value)
        kc__validate_selector(selector);
}

/* Validates the source of a new volume's data: another claim, or a custom object. */
static void check_data_source(const kc__location *source)
{
    kc__location name = kc__location_member(source, "name"),
                 kind = kc__location_member(source, "kind");
    kc__location group = kc__location_member(source, "apiGroup"), shown = *source;
    shown.value = kind.value;
    if (!source->value)
        return;
    if (!kc__location_is_set(&name))
        kc__location_error(&name, KC_FIELD_REQUIRED, NULL);
    if (!kc__location_is_set(&kind))
        kc__location_error(&kind, KC_FIELD_REQUIRED, NULL);
    if (!kc__location_is_set(&group) && !kc__location_text_is(&kind, "PersistentVolumeClaim"))
        kc__location_error(&shown, KC_FIELD_INVALID,
                           "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    if (kc__location_is_set(&group))
        kc__validate_name(&group, KC_NAME_DNS_SUBDOMAIN);
}

/* dataSource and dataSourceRef must agree if both are set. */
static void check_same_source(const kc__location *spec)
{
    static const char *const names[] = {"apiGroup", "kind", "name"};
    const kc_value *one = kc__location_member(spec, "dataSource").value;
    const kc_value *two = kc__location_member(spec, "dataSourceRef").value;
    if (!one || !two)
        return;
    if (kc_value_as_str(kc_value_get(two, "namespace")).n) {
        kc__location_error_json(spec, KC_FIELD_INVALID, "{}",
                                "may not be specified when dataSourceRef.namespace is specified");
        return;
    }
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        if (kc_str_eq(kc_value_as_str(kc_value_get(one, names[i])),
                      kc_value_as_str(kc_value_get(two, names[i]))))
            continue;
        kc__location_error_json(spec, KC_FIELD_INVALID, "{}", "must match dataSourceRef");
        return;
    }
}

static const kc__validate_rule claim_spec_[] = {
    {"accessModes", .required = "at least 1 access mode is required"},
    {"selector", .code = check_optional_selector},
    {"accessModes", .code = kc__validate_access_modes},
    {.code = check_claim_size},
    {"storageClassName", .code = kc__validate_class_name},
    {"volumeMode", .one_of = kc__validate_volume_modes},
    {"dataSource", .code = check_data_source},
    {"dataSourceRef", .code = check_data_source},
    {.code = check_same_source},
    {"volumeAttributesClassName", .code = kc__validate_class_name},
};
static const kc__validate_rule_table claim_spec = KC__VALIDATE_RULES(claim_spec_);

void kc__validate_claim_spec(const kc__location *spec)
{
    kc__validate_by_rules(&claim_spec, spec);
}
