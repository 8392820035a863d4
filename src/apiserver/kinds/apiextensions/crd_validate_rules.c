/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_validate_rules.c: checks the CEL rules of a CRD (kc/cel_rules.h), and evaluates them for the
 * defaults of its schema.
 *
 * Expressions that the stored CRD contains anywhere may use the newest functions; new ones may use
 * those that the previous version of Kubernetes has, too.
 */
#include "apiserver/kinds/apiextensions/crd_validate_internal.h"
#include "kc/cel_rules.h"

/* ---- stored expressions ---- */

static void collect_rules(kc__crd_rule_check *check, const kc_value *rules)
{
    kc_value_each_item (rules, rule) {
        kc_str message = kc_value_as_str(kc_value_get(rule, "messageExpression"));
        kc_map_put(&check->stored_rules, kc_value_as_str(kc_value_get(rule, "rule")), check);
        if (message.n)
            kc_map_put(&check->stored_messages, message, check);
    }
}

/* Collects the rules of a schema and of all schemas in it. */
static void collect_expressions(kc__crd_rule_check *check, const kc_value *value)
{
    kc_value_each_item (value, item)
        collect_expressions(check, item);
    kc_value_each_member (value, name, member) {
        if (kc_str_is(name, "x-kubernetes-validations"))
            collect_rules(check, member);
        else
            collect_expressions(check, member);
    }
}

/* ---- checks ---- */

static void check_crd_rules(const kc_value *openapi, const kc_schema *schema, const char *path,
                            size_t first_error, kc_field_errors *errors, void *user)
{
    const kc__crd_rule_check *check = user;
    kc_cel_rules_check_opts opts = {.base = path,
                                    .first_error = first_error,
                                    .stored_rules = &check->stored_rules,
                                    .stored_messages = &check->stored_messages,
                                    .ignores_rule_costs = check->unchanged};
    kc_cel_rules_check(openapi, schema, &opts, errors);
}

/* A default must be valid as a new value, and as one that replaces itself. */
static void check_crd_default(const kc_value *json, const kc_schema *schema, bool is_resource,
                              const char *path, kc_field_errors *errors, void *user)
{
    kc__crd_rule_check *check = user;
    const kc_value *value = kc_value_get(json, "default");
    kc_auto(kc_cel_rules) *rules =
        kc_cel_rules_compile(json, schema, &(kc_cel_rules_compile_opts){.fragment = !is_resource});
    int64_t replaced = check->budget, created = check->budget;
    if (!rules || check->budget < 0)
        return;
    kc_cel_rules_opts opts = {.base = path, .old = value, .budget = &replaced};
    if (kc_cel_rules_validate(rules, value, &opts, errors) == KC_CEL_RULES_VALID) {
        opts = (kc_cel_rules_opts){.base = path, .budget = &created};
        kc_cel_rules_validate(rules, value, &opts, errors);
    }
    check->budget = KC_MIN(replaced, created);
}

void kc__crd_rule_check_init(kc__crd_rule_check *check, const kc_value *old, bool unchanged)
{
    *check = (kc__crd_rule_check){.unchanged = unchanged, .budget = KC_CEL_OBJECT_COST_MAX};
    check->checks = (kc_schema_rule_checks){
        .check_default = check_crd_default, .check_rules = check_crd_rules, .user = check};
    kc_value_each_item (kc_value_get(kc_value_get(old, "spec"), "versions"), version)
        collect_expressions(check, kc__crd_schema_of(version));
}

void kc__crd_rule_check_done(kc__crd_rule_check *check)
{
    kc_map_done(&check->stored_rules);
    kc_map_done(&check->stored_messages);
}
