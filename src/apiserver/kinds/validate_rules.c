/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate_rules.c: the walk that checks validation rules. An absent field passes every check
 * except `required` and `code`.
 */
#include "apiserver/kinds/validate_rules.h"
#include "base/work.h"

const kc_name_rule kc__validate_name_dns_label = KC_NAME_DNS_LABEL,
                   kc__validate_name_dns_subdomain = KC_NAME_DNS_SUBDOMAIN,
                   kc__validate_name_label_value = KC_NAME_LABEL_VALUE,
                   kc__validate_name_qualified = KC_NAME_QUALIFIED,
                   kc__validate_name_path_segment = KC_NAME_PATH_SEGMENT,
                   kc__validate_name_annotation_key = KC_NAME_ANNOTATION_KEY;

void kc__validate_one_of(const kc__location *location, const char *const *values)
{
    for (size_t i = 0; values[i]; i++)
        if (kc__location_text_is(location, values[i]))
            return;
    kc__location_not_supported(location, values);
}

void kc__validate_items_by_rules(const kc__validate_rule_table *rules, const kc__location *location)
{
    if (kc_value_type(location->value) == KC_JSON_OBJECT) {
        kc__validate_by_rules(rules, location);
        return;
    }
    size_t i = 0;
    kc_value_each_item (location->value, value) {
        kc__location item = kc__location_item(location, value, i++);
        if (kc__work_is_over())
            break;
        kc__validate_by_rules(rules, &item);
    }
}

static void check_rule_number(const kc__location *location, kc__validate_number_rule rule)
{
    if (rule == KC__VALIDATE_AT_LEAST_0)
        kc__validate_at_least_0(location);
    else if (rule == KC__VALIDATE_ABOVE_0)
        kc__validate_above_0(location);
}

static void check_scalar(const kc__validate_rule *rule, const kc__location *location)
{
    if (rule->one_of)
        kc__validate_one_of(location, rule->one_of);
    if (rule->name)
        kc__validate_name(location, *rule->name);
    check_rule_number(location, rule->number);
    if (rule->low || rule->high)
        kc__validate_between(location, rule->low, rule->high);
}

static void check_value(const kc__validate_rule *rule, const kc__location *location)
{
    if (rule->of)
        kc__validate_items_by_rules(rule->of, location);
    if (kc_value_type(location->value) != KC_JSON_ARRAY) {
        check_scalar(rule, location);
        return;
    }
    size_t i = 0;
    kc_value_each_item (location->value, value) {
        kc__location item = kc__location_item(location, value, i++);
        if (kc__work_is_over())
            break;
        check_scalar(rule, &item);
    }
}

static void check_line(const kc__validate_rule *rule, const kc__location *location)
{
    if (rule->required && !kc__location_is_set(location)) {
        kc__location_error(location, KC_FIELD_REQUIRED, "%s", rule->required);
        return;
    }
    if (location->value)
        check_value(rule, location);
    if (rule->code)
        rule->code(location);
}

void kc__validate_by_rules(const kc__validate_rule_table *rules, const kc__location *location)
{
    for (size_t i = 0; i < rules->n; i++) {
        const kc__validate_rule *rule = &rules->list[i];
        if (!rule->field) {
            rule->code(location);
            continue;
        }
        kc__location member = kc__location_member(location, rule->field);
        check_line(rule, &member);
    }
}
