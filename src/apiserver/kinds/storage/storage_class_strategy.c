/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_class_strategy.c: the strategies of StorageClasses, which define the provisioner,
 * parameters and topology of new volumes, and of VolumeAttributesClasses, which define how a volume
 * is modified later. Both are immutable.
 */
#include "apiserver/kinds/strategy.h"
#include "kc/ascii.h"
#include "kc/diff.h"
#include "kc/json.h"

static const kc__defaults_entry class_default_[] = {
    {.field = "reclaimPolicy", .json = "\"Delete\""},
    {.field = "volumeBindingMode", .json = "\"Immediate\""},
};
static const kc__defaults class_defaults = KC__DEFAULTS(class_default_);

static const char *const class_reclaims[] = {"Delete", "Retain", NULL};
static const char *const binding_modes[] = {"Immediate", "WaitForFirstConsumer", NULL};

#define MAX_PARAMETERS       512
#define MAX_PARAMETERS_BYTES (256 * 1024)

/* The name is validated, and shown in errors, in lower case. */
static void check_provisioner(const kc__location *provisioner)
{
    const char *messages[KC_NAME_MESSAGES];
    char *lower = kc_arena_printf(&provisioner->errors->arena, "%.*s",
                                  KC_ARG(kc__location_text(provisioner)));
    for (char *c = lower; *c; c++)
        *c = kc_lower(*c);
    size_t n = kc_name_check(KC_NAME_QUALIFIED, kc_cstr(lower), messages);
    for (size_t i = 0; i < n; i++)
        kc__location_error_text(provisioner, KC_FIELD_INVALID, kc_cstr(lower), messages[i]);
}

static void check_parameters(const kc__location *parameters)
{
    size_t bytes = 0;
    if (kc_value_len(parameters->value) > MAX_PARAMETERS)
        kc__location_error(parameters, KC_FIELD_TOO_LONG, "may not be more than %d bytes",
                           MAX_PARAMETERS);
    kc_value_each_member (parameters->value, name, value) {
        if (!name.n)
            kc__location_error_text(parameters, KC_FIELD_INVALID, name, "field can not be empty.");
        bytes += name.n + kc_value_as_str(value).n;
    }
    if (bytes > MAX_PARAMETERS_BYTES)
        kc__location_error(parameters, KC_FIELD_TOO_LONG, "may not be more than %d bytes",
                           MAX_PARAMETERS_BYTES);
}

/* ---- allowed topologies ---- */

static void check_topology_values(const kc__location *values)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    if (!kc__location_is_set(values))
        kc__location_error(values, KC_FIELD_REQUIRED, NULL);
    kc_value_each_item (values->value, value) {
        kc__location item = kc__location_item(values, value, i++);
        kc__validate_unique(&item, &seen);
    }
}

static void check_topology(const kc__location *expressions)
{
    kc_scoped(kc_map) keys = {0};
    size_t i = 0;
    kc_value_each_item (expressions->value, value) {
        kc__location item = kc__location_item(expressions, value, i++),
                     key = kc__location_member(&item, "key");
        kc__location values = kc__location_member(&item, "values");
        check_topology_values(&values);
        kc__validate_name(&key, KC_NAME_QUALIFIED);
        kc__validate_unique(&key, &keys);
    }
}

/* No two terms may be equal; a term without expressions counts as a duplicate. */
static void check_topologies(const kc__location *topologies)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (topologies->value, value) {
        kc__location item = kc__location_item(topologies, value, i++);
        kc__location expressions = kc__location_member(&item, "matchLabelExpressions");
        kc_scoped(kc_buf) text = {0};
        check_topology(&expressions);
        kc_json_write(&text, expressions.value);
        const char *key = kc_arena_printf(&item.errors->arena, "%s", kc_buf_cstr(&text));
        if (kc_map_put(&seen, kc_cstr(key), &seen) || !kc__location_is_set(&expressions))
            kc__location_error_json(&expressions, KC_FIELD_DUPLICATE, "\"\"", NULL);
    }
}

static const kc__validate_rule class_[] = {
    {"provisioner", .required = "", .code = check_provisioner},
    {"parameters", .code = check_parameters},
    {"reclaimPolicy", .one_of = class_reclaims},
    {"volumeBindingMode", .required = "", .one_of = binding_modes},
    {"allowedTopologies", .code = check_topologies},
};
static const kc__validate_rule_table class_rules = KC__VALIDATE_RULES(class_);

static void forbid_change(const kc__location *root, const kc_value *old, const char *name)
{
    kc__location member = kc__location_member(root, name);
    const kc_value *before = kc_value_get(old, name);
    if (!!member.value != !!before || (before && !kc_value_equal(member.value, before, NULL)))
        kc__location_error(&member, KC_FIELD_FORBIDDEN, "updates to %s are forbidden.", name);
}

static void validate_storage_class_update(const kc_value *object, const kc_value *old,
                                          kc_field_errors *errors)
{
    static const char *const fixed[] = {"parameters", "provisioner", "reclaimPolicy"};
    kc__location root = kc__location_root(object, errors),
                 mode = kc__location_member(&root, "volumeBindingMode");
    for (size_t i = 0; i < KC_COUNT(fixed); i++)
        forbid_change(&root, old, fixed[i]);
    kc__validate_same(&mode, kc_value_get(old, "volumeBindingMode"));
}

const kc__strategy kc__strategy_storage_class = {
    .shows_deleted = true,
    .defaults = &class_defaults,
    .rules = &class_rules,
    .validate_update = validate_storage_class_update,
};

/* ---- VolumeAttributesClass ---- */

static void check_some_parameters(const kc__location *root)
{
    kc__location parameters = kc__location_member(root, "parameters");
    check_parameters(&parameters);
    if (!kc_value_len(parameters.value))
        kc__location_error(&parameters, KC_FIELD_REQUIRED,
                           "must contain at least one key/value pair");
}

static const kc__validate_rule attributes_[] = {
    {"driverName", .required = "", .code = check_provisioner},
    {.code = check_some_parameters},
};
static const kc__validate_rule_table attributes_rules = KC__VALIDATE_RULES(attributes_);

static void validate_attributes_update(const kc_value *object, const kc_value *old,
                                       kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors);
    forbid_change(&root, old, "driverName");
    forbid_change(&root, old, "parameters");
}

const kc__strategy kc__strategy_attributes_class = {
    .shows_deleted = true,
    .rules = &attributes_rules,
    .validate_update = validate_attributes_update,
};
