/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_strategy.c: the strategies of devices for pods: device classes (DeviceClass), requests
 * (ResourceClaim, ResourceClaimTemplate), and available devices (ResourceSlice). device_rules.c and
 * the files beside it validate them.
 */
#include "apiserver/kinds/internal_form.h"
#include "apiserver/kinds/resource/device_rules.h"
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"

/* ---- defaults of requests ---- */

static void choose_count(kc_edit *edit, kc_node *request)
{
    if (!kc__defaults_node_text(request, "allocationMode").n)
        kc_node_set(edit, request, KC_STR("allocationMode"),
                    kc_node_str(edit, KC_STR("ExactCount")));
    if (kc_str_is(kc__defaults_node_text(request, "allocationMode"), "ExactCount"))
        kc__defaults_set(edit, request, "count", "1");
}

static const kc__defaults_entry toleration_[] = {{.field = "operator", .json = "\"Equal\""}};
static const kc__defaults toleration = KC__DEFAULTS(toleration_);
static const kc__defaults_entry devices_of_[] = {{.field = "tolerations", .of = &toleration}};
static const kc__defaults devices_of = {
    .list = devices_of_, .n = KC_COUNT(devices_of_), .code = choose_count};
static const kc__defaults_entry request_[] = {
    {.field = "exactly", .of = &devices_of},
    {.field = "firstAvailable", .of = &devices_of},
};
static const kc__defaults request = KC__DEFAULTS(request_);
static const kc__defaults_entry claim_devices_[] = {{.field = "requests", .of = &request}};
static const kc__defaults claim_devices = KC__DEFAULTS(claim_devices_);
static const kc__defaults_entry claim_spec_[] = {{.field = "devices", .of = &claim_devices}};
static const kc__defaults claim_spec = KC__DEFAULTS(claim_spec_);
static const kc__defaults_entry claim_[] = {{.field = "spec", .of = &claim_spec}};
static const kc__defaults claim_defaults = KC__DEFAULTS(claim_);
static const kc__defaults_entry template_[] = {{.field = "spec", .of = &claim_defaults}};
static const kc__defaults template_defaults = KC__DEFAULTS(template_);

/* ---- ResourceClaim and ResourceClaimTemplate ---- */

static const kc__validate_rule claim_spec_rule_[] = {
    {"devices", .code = kc__validate_device_claim}};
static const kc__validate_rule_table claim_spec_rules = KC__VALIDATE_RULES(claim_spec_rule_);
static const kc__validate_rule claim_rule_[] = {{"spec", .of = &claim_spec_rules}};
static const kc__validate_rule_table claim_rules = KC__VALIDATE_RULES(claim_rule_);

static void check_same_spec(const kc_value *object, const kc_value *old, const char *type,
                            kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    if (!kc_value_equal(spec.value, kc_value_get(old, "spec"), NULL))
        kc__location_error_json(&spec, KC_FIELD_INVALID,
                                kc__internal_form_json(type, spec.value, &errors->arena),
                                "field is immutable");
}

static void validate_claim_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    check_same_spec(object, old, "io.k8s.api.resource.v1.ResourceClaimSpec", errors);
}

/* Whether a status belongs to the device of an allocation result. */
static bool is_device(const kc_node *status, const kc_value *result)
{
    static const char *const names[] = {"driver", "pool", "device"};
    bool same = true;
    for (size_t i = 0; i < KC_COUNT(names); i++)
        same = same && kc_str_eq(kc__defaults_node_text(status, names[i]),
                                 kc_value_as_str(kc_value_get(result, names[i])));
    return same;
}

static bool is_allocated(const kc_node *allocation, const kc_value *device)
{
    const kc_node *devices = kc_node_get(allocation, KC_STR("devices"));
    bool found = false;
    kc_node_each_item (kc_node_get(devices, KC_STR("results")), result)
        found = found || is_device(result, device);
    return found;
}

/* Removes the status of devices that are no longer allocated. There are at most 32 of them. */
static void prepare_claim_update(kc_edit *edit, const kc_value *old, const char *subresource)
{
    kc_node *status = kc_node_get(kc_edit_root(edit), KC_STR("status"));
    kc_node *devices = kc_node_get(status, KC_STR("devices"));
    const kc_node *allocation = kc_node_get(status, KC_STR("allocation"));
    if (!subresource || kc_node_type(devices) != KC_JSON_ARRAY)
        return;
    kc_value_each_item (kc_value_nested(old, "status.allocation.devices.results"), device) {
        if (is_allocated(allocation, device))
            continue;
        for (size_t i = kc_node_len(devices); i-- > 0;)
            if (is_device(kc_node_at(devices, i), device))
                kc_node_remove_at(devices, i);
    }
    if (!kc_node_len(devices))
        kc_node_remove(status, KC_STR("devices"));
}

static void validate_claim_status(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors);
    kc__validate_claim_status(&root, old);
}

const kc__strategy kc__strategy_resource_claim = {
    .shows_deleted = true,
    .defaults = &claim_defaults,
    .prepare_update = prepare_claim_update,
    .rules = &claim_rules,
    .validate_update = validate_claim_update,
    .validate_status = validate_claim_status,
};

static const kc__validate_rule template_metadata_[] = {{"labels", .code = kc__validate_labels}};
static const kc__validate_rule_table template_metadata = KC__VALIDATE_RULES(template_metadata_);
static const kc__validate_rule template_spec_rule_[] = {
    {"metadata", .of = &template_metadata},
    {"spec", .of = &claim_spec_rules},
};
static const kc__validate_rule_table template_spec_rules = KC__VALIDATE_RULES(template_spec_rule_);
static const kc__validate_rule template_rule_[] = {{"spec", .of = &template_spec_rules}};
static const kc__validate_rule_table template_rules = KC__VALIDATE_RULES(template_rule_);

static void validate_template_update(const kc_value *object, const kc_value *old,
                                     kc_field_errors *errors)
{
    check_same_spec(object, old, "io.k8s.api.resource.v1.ResourceClaimTemplateSpec", errors);
}

const kc__strategy kc__strategy_resource_claim_template = {
    .shows_deleted = true,
    .defaults = &template_defaults,
    .rules = &template_rules,
    .validate_update = validate_template_update,
};

/* ---- DeviceClass ---- */

static void check_class(const kc__location *spec)
{
    kc__location selectors = kc__location_member(spec, "selectors"),
                 config = kc__location_member(spec, "config");
    kc__validate_device_list(&selectors, KC__MAX_DEVICE_SELECTORS, kc__validate_device_selector,
                             NULL);
    kc__validate_device_list(&config, KC__MAX_DEVICE_CONFIGS, kc__validate_device_configuration,
                             NULL);
}

static const kc__validate_rule class_rule_[] = {{"spec", .code = check_class}};
static const kc__validate_rule_table class_rules = KC__VALIDATE_RULES(class_rule_);

const kc__strategy kc__strategy_device_class = {
    .generation = true,
    .shows_deleted = true,
    .rules = &class_rules,
};

/* ---- ResourceSlice ---- */

static const kc_field_def slice_fields[] = {{.field = "spec.nodeName"}, {.field = "spec.driver"}};
static const kc__validate_rule slice_rule_[] = {{"spec", .code = kc__validate_resource_slice}};
static const kc__validate_rule_table slice_rules = KC__VALIDATE_RULES(slice_rule_);

static void validate_slice_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location pool = kc__location_member(&spec, "pool"),
                 name = kc__location_member(&pool, "name");
    kc__location driver = kc__location_member(&spec, "driver"),
                 node = kc__location_member(&spec, "nodeName");
    kc__validate_same(&name, kc_value_nested(old, "spec.pool.name"));
    kc__validate_same(&driver, kc_value_nested(old, "spec.driver"));
    kc__validate_same(&node, kc_value_nested(old, "spec.nodeName"));
}

const kc__strategy kc__strategy_resource_slice = {
    .generation = true,
    .shows_deleted = true,
    .selectable = slice_fields,
    .n_selectable = KC_COUNT(slice_fields),
    .rules = &slice_rules,
    .validate_update = validate_slice_update,
};
