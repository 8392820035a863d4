/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.c: the walk that checks rules. What is absent passes everything but `required` and `code`.
 */
#include "apiserver/kinds/rules.h"

const kc_name_rule kc__dns_label = KC_NAME_DNS_LABEL, kc__dns_subdomain = KC_NAME_DNS_SUBDOMAIN,
                   kc__label_value = KC_NAME_LABEL_VALUE, kc__qualified_name = KC_NAME_QUALIFIED,
                   kc__path_segment = KC_NAME_PATH_SEGMENT,
                   kc__annotation_key = KC_NAME_ANNOTATION_KEY;

void kc__check_one_of(const kc__place *place, const char *const *values)
{
    for (size_t i = 0; values[i]; i++)
        if (kc__text_is(place, values[i]))
            return;
    kc__not_supported(place, values);
}

void kc__rules_check_below(const kc__rules *rules, const kc__place *place)
{
    if (kc_type_of(place->value) == KC_OBJECT) {
        kc__rules_check(rules, place);
        return;
    }
    size_t i = 0;
    kc_items (place->value, value) {
        kc__place item = kc__item(place, value, i++);
        kc__rules_check(rules, &item);
    }
}

static void check_number(const kc__place *place, kc__number_rule rule)
{
    if (rule == KC__AT_LEAST_0)
        kc__check_at_least_0(place);
    else if (rule == KC__ABOVE_0)
        kc__check_above_0(place);
}

static void check_scalar(const kc__rule *rule, const kc__place *place)
{
    if (rule->one_of)
        kc__check_one_of(place, rule->one_of);
    if (rule->name)
        kc__check_name(place, *rule->name);
    check_number(place, rule->number);
    if (rule->low || rule->high)
        kc__check_between(place, rule->low, rule->high);
}

static void check_value(const kc__rule *rule, const kc__place *place)
{
    if (rule->of)
        kc__rules_check_below(rule->of, place);
    if (kc_type_of(place->value) != KC_ARRAY) {
        check_scalar(rule, place);
        return;
    }
    size_t i = 0;
    kc_items (place->value, value) {
        kc__place item = kc__item(place, value, i++);
        check_scalar(rule, &item);
    }
}

static void check_line(const kc__rule *rule, const kc__place *place)
{
    if (rule->required && !kc__there(place)) {
        kc__wrong(place, KC_FIELD_REQUIRED, "%s", rule->required);
        return;
    }
    if (place->value)
        check_value(rule, place);
    if (rule->code)
        rule->code(place);
}

void kc__rules_check(const kc__rules *rules, const kc__place *place)
{
    for (size_t i = 0; i < rules->n; i++) {
        const kc__rule *rule = &rules->list[i];
        if (!rule->field) {
            rule->code(place);
            continue;
        }
        kc__place member = kc__member(place, rule->field);
        check_line(rule, &member);
    }
}
