/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_storage_class.c: StorageClasses: who makes volumes, how, and where. How does not change
 * later.
 */
#include "apiserver/kinds/strategy.h"
#include "kc/ascii.h"
#include "kc/diff.h"
#include "kc/json.h"

static const kc__default class_default_[] = {
    {.field = "reclaimPolicy", .json = "\"Delete\""},
    {.field = "volumeBindingMode", .json = "\"Immediate\""},
};
static const kc__defaults class_defaults = KC__DEFAULTS(class_default_);

static const char *const class_reclaims[] = {"Delete", "Retain", NULL};
static const char *const binding_modes[] = {"Immediate", "WaitForFirstConsumer", NULL};

#define MAX_PARAMETERS       512
#define MAX_PARAMETERS_BYTES (256 * 1024)

/* Compared, and shown, in lower case. */
static void check_provisioner(const kc__place *provisioner)
{
    const char *messages[KC_NAME_MESSAGES];
    char *lower =
        kc_arena_printf(&provisioner->errors->arena, "%.*s", KC_ARG(kc__text(provisioner)));
    for (char *c = lower; *c; c++)
        *c = kc_lower(*c);
    size_t n = kc_name_check(KC_NAME_QUALIFIED, kc_cstr(lower), messages);
    for (size_t i = 0; i < n; i++)
        kc__wrong_text(provisioner, KC_FIELD_INVALID, kc_cstr(lower), messages[i]);
}

static void check_parameters(const kc__place *parameters)
{
    size_t bytes = 0;
    if (kc_len(parameters->value) > MAX_PARAMETERS)
        kc__wrong(parameters, KC_FIELD_TOO_LONG, "may not be more than %d bytes", MAX_PARAMETERS);
    kc_members (parameters->value, name, value) {
        if (!name.n)
            kc__wrong_text(parameters, KC_FIELD_INVALID, name, "field can not be empty.");
        bytes += name.n + kc_as_str(value).n;
    }
    if (bytes > MAX_PARAMETERS_BYTES)
        kc__wrong(parameters, KC_FIELD_TOO_LONG, "may not be more than %d bytes",
                  MAX_PARAMETERS_BYTES);
}

/* ---- where volumes of a class may be ---- */

static void check_topology_values(const kc__place *values)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    if (!kc__there(values))
        kc__wrong(values, KC_FIELD_REQUIRED, NULL);
    kc_items (values->value, value) {
        kc__place item = kc__item(values, value, i++);
        kc__check_unique(&item, &seen);
    }
}

static void check_topology(const kc__place *expressions)
{
    kc_scoped(kc_map) keys = {0};
    size_t i = 0;
    kc_items (expressions->value, value) {
        kc__place item = kc__item(expressions, value, i++), key = kc__member(&item, "key");
        kc__place values = kc__member(&item, "values");
        check_topology_values(&values);
        kc__check_name(&key, KC_NAME_QUALIFIED);
        kc__check_unique(&key, &keys);
    }
}

/* No two are the same; one without expressions is the same as none. */
static void check_topologies(const kc__place *topologies)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (topologies->value, value) {
        kc__place item = kc__item(topologies, value, i++);
        kc__place expressions = kc__member(&item, "matchLabelExpressions");
        kc_scoped(kc_buf) text = {0};
        check_topology(&expressions);
        kc_json_write(&text, expressions.value);
        const char *key = kc_arena_printf(&item.errors->arena, "%s", kc_buf_cstr(&text));
        if (kc_map_put(&seen, kc_cstr(key), &seen) || !kc__there(&expressions))
            kc__wrong_as(&expressions, KC_FIELD_DUPLICATE, "\"\"", NULL);
    }
}

static const kc__rule class_[] = {
    {"provisioner", .required = "", .code = check_provisioner},
    {"parameters", .code = check_parameters},
    {"reclaimPolicy", .one_of = class_reclaims},
    {"volumeBindingMode", .required = "", .one_of = binding_modes},
    {"allowedTopologies", .code = check_topologies},
};
static const kc__rules class_rules = KC__RULES(class_);

static void validate_class_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    static const char *const fixed[] = {"parameters", "provisioner", "reclaimPolicy"};
    kc__place root = kc__place_root(object, errors), mode = kc__member(&root, "volumeBindingMode");
    for (size_t i = 0; i < KC_COUNT(fixed); i++) {
        kc__place member = kc__member(&root, fixed[i]);
        const kc_value *before = kc_get(old, fixed[i]);
        if (!!member.value != !!before || (before && !kc_value_equal(member.value, before, NULL)))
            kc__wrong(&member, KC_FIELD_FORBIDDEN, "updates to %s are forbidden.", fixed[i]);
    }
    kc__check_same(&mode, kc_get(old, "volumeBindingMode"));
}

const kc__strategy kc__strategy_storage_class = {
    .shows_deleted = true,
    .defaults = &class_defaults,
    .rules = &class_rules,
    .validate_update = validate_class_update,
};
