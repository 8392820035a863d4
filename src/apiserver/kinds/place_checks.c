/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_checks.c: what many kinds check, in the words of Kubernetes. To add one: a function that
 * takes a place, looks at its value, and complains with kc__wrong.
 */
#include "apiserver/kinds/place.h"
#include "kc/diff.h"
#include "kc/metadata_validation.h"
#include "kc/quantity.h"

#include <arpa/inet.h>
#include <stdio.h>

void kc__check_name(const kc__place *place, kc_name_rule rule)
{
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(rule, kc__text(place), messages);
    for (size_t i = 0; i < n; i++)
        kc__wrong(place, KC_FIELD_INVALID, "%s", messages[i]);
}

void kc__check_needed_name(const kc__place *place, kc_name_rule rule)
{
    if (kc__there(place))
        kc__check_name(place, rule);
    else
        kc__wrong(place, KC_FIELD_REQUIRED, NULL);
}

void kc__check_at_least_0(const kc__place *place)
{
    if (kc__number(place) < 0)
        kc__wrong(place, KC_FIELD_INVALID, "must be greater than or equal to 0");
}

void kc__wrong_number(const kc__place *place, const char *detail)
{
    if (place->value)
        kc__wrong(place, KC_FIELD_INVALID, "%s", detail);
    else
        kc__wrong_as(place, KC_FIELD_INVALID, "0", "%s", detail);
}

void kc__check_above_0(const kc__place *place)
{
    if (kc__number(place) <= 0)
        kc__wrong_number(place, "must be greater than 0");
}

void kc__check_between(const kc__place *place, int64_t low, int64_t high)
{
    char text[80];
    snprintf(text, sizeof(text), "must be between %lld and %lld, inclusive", (long long)low,
             (long long)high);
    if (kc__number(place) < low || kc__number(place) > high)
        kc__wrong_number(place, text);
}

void kc__check_port(const kc__place *place)
{
    kc__check_between(place, 1, 65535);
}

void kc__check_port_or_name(const kc__place *place)
{
    if (kc_type_of(place->value) == KC_STRING)
        kc__check_name(place, KC_NAME_PORT);
    else
        kc__check_port(place);
}

void kc__check_labels(const kc__place *place)
{
    if (kc__there(place))
        kc_validate_labels(place->errors, kc__place_path(place), place->value);
}

/* ---- selectors ---- */

static void check_values(const kc__place *expression)
{
    kc__place op = kc__member(expression, "operator"), values = kc__member(expression, "values");
    if (kc__text_is(&op, "In") || kc__text_is(&op, "NotIn")) {
        if (!kc_len(values.value))
            kc__wrong(&values, KC_FIELD_REQUIRED,
                      "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (kc__text_is(&op, "Exists") || kc__text_is(&op, "DoesNotExist")) {
        if (kc_len(values.value))
            kc__wrong(&values, KC_FIELD_FORBIDDEN,
                      "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
        kc__wrong(&op, KC_FIELD_INVALID, "not a valid selector operator");
    }
}

static void check_expression(const kc__place *expression)
{
    check_values(expression);
    kc__place key = kc__member(expression, "key"), values = kc__member(expression, "values");
    kc__check_name(&key, KC_NAME_QUALIFIED);
    size_t i = 0;
    kc_items (values.value, value) {
        kc__place item = kc__item(&values, value, i++);
        kc__check_name(&item, KC_NAME_LABEL_VALUE);
    }
}

void kc__check_selector(const kc__place *place)
{
    kc__place labels = kc__member(place, "matchLabels");
    kc__place expressions = kc__member(place, "matchExpressions");
    kc__check_labels(&labels);
    size_t i = 0;
    kc_items (expressions.value, value) {
        kc__place item = kc__item(&expressions, value, i++);
        check_expression(&item);
    }
}

/* ---- addresses, quantities, numbers or percentages ---- */

void kc__check_ip(const kc__place *place)
{
    unsigned char address[16];
    kc_str text = kc__text(place);
    bool valid = text.p && (inet_pton(AF_INET, text.p, address) == 1 ||
                            inet_pton(AF_INET6, text.p, address) == 1);
    if (!valid)
        kc__wrong(place, KC_FIELD_INVALID,
                  "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

void kc__check_domain_path(const kc__place *place)
{
    kc_str path = kc__text(place), domain = kc_str_cut(&path, '/');
    const char *messages[KC_NAME_MESSAGES];
    if (!kc__there(place)) {
        kc__wrong(place, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (!domain.n || !path.n) {
        kc__wrong(place, KC_FIELD_INVALID,
                  "must be a domain-prefixed path (such as \"acme.io/foo\")");
        return;
    }
    size_t n = kc_name_check(KC_NAME_DNS_SUBDOMAIN, domain, messages);
    for (size_t i = 0; i < n; i++)
        kc__wrong_text(place, KC_FIELD_INVALID, domain, messages[i]);
}

void kc__check_quantity_at_least_0(const kc__place *place)
{
    kc_quantity quantity;
    if (kc_quantity_from(place->value, &quantity, NULL) == 0 && kc_quantity_sign(quantity) < 0)
        kc__wrong(place, KC_FIELD_INVALID, "must be greater than or equal to 0");
}

int64_t kc__number_or_percent(const kc__place *place)
{
    kc_str text = kc__text(place);
    int64_t number = kc__number(place);
    if (text.n > 1)
        kc_str_to_i64(kc_str_sub(text, 0, text.n - 1), &number);
    return number;
}

void kc__check_number_or_percent(const kc__place *place, bool whole)
{
    if (kc_type_of(place->value) != KC_STRING) {
        kc__check_at_least_0(place);
        return;
    }
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(KC_NAME_PERCENT, kc__text(place), messages);
    for (size_t i = 0; i < n; i++)
        kc__wrong(place, KC_FIELD_INVALID, "%s", messages[i]);
    if (!n && whole && kc__number_or_percent(place) > 100)
        kc__wrong(place, KC_FIELD_INVALID, "must not be greater than 100%%");
}

/* ---- compared with others ---- */

void kc__check_unique(const kc__place *place, kc_map *seen)
{
    if (kc_map_get(seen, kc__text(place)))
        kc__wrong(place, KC_FIELD_DUPLICATE, NULL);
    else
        kc_map_put(seen, kc__text(place), seen);
}

void kc__check_same(const kc__place *place, const kc_value *old)
{
    const kc_value *now = place->value;
    old = kc_type_of(old) == KC_NULL ? NULL : old;
    if (!now && !old)
        return;
    if (now && old && kc_value_equal(now, old, NULL))
        return;
    if (now)
        kc__wrong(place, KC_FIELD_INVALID, "field is immutable");
    else
        kc__wrong_as(place, KC_FIELD_INVALID, "null", "field is immutable");
}
