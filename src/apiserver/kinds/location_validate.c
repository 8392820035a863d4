/* SPDX-License-Identifier: Apache-2.0 */
/*
 * location_validate.c: checks that many kinds share, with Kubernetes' messages. To add a check: add
 * a function that takes a location, reads its value, and reports with kc__location_error.
 */
#include "apiserver/kinds/location.h"
#include "kc/diff.h"
#include "kc/metadata_validation.h"
#include "kc/quantity.h"

#include <arpa/inet.h>
#include <stdio.h>

void kc__validate_name(const kc__location *location, kc_name_rule rule)
{
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(rule, kc__location_text(location), messages);
    for (size_t i = 0; i < n; i++)
        kc__location_error(location, KC_FIELD_INVALID, "%s", messages[i]);
}

void kc__validate_needed_name(const kc__location *location, kc_name_rule rule)
{
    if (kc__location_is_set(location))
        kc__validate_name(location, rule);
    else
        kc__location_error(location, KC_FIELD_REQUIRED, NULL);
}

void kc__validate_at_least_0(const kc__location *location)
{
    if (kc__location_number(location) < 0)
        kc__location_error(location, KC_FIELD_INVALID, "must be greater than or equal to 0");
}

void kc__location_error_number(const kc__location *location, const char *detail)
{
    if (location->value)
        kc__location_error(location, KC_FIELD_INVALID, "%s", detail);
    else
        kc__location_error_json(location, KC_FIELD_INVALID, "0", "%s", detail);
}

void kc__validate_above_0(const kc__location *location)
{
    if (kc__location_number(location) <= 0)
        kc__location_error_number(location, "must be greater than 0");
}

void kc__validate_between(const kc__location *location, int64_t low, int64_t high)
{
    char text[80];
    snprintf(text, sizeof(text), "must be between %lld and %lld, inclusive", (long long)low,
             (long long)high);
    if (kc__location_number(location) < low || kc__location_number(location) > high)
        kc__location_error_number(location, text);
}

void kc__validate_port(const kc__location *location)
{
    kc__validate_between(location, 1, 65535);
}

void kc__validate_port_or_name(const kc__location *location)
{
    if (kc_value_type(location->value) == KC_JSON_STRING)
        kc__validate_name(location, KC_NAME_PORT);
    else
        kc__validate_port(location);
}

void kc__validate_labels(const kc__location *location)
{
    if (kc__location_is_set(location))
        kc_validate_labels(location->errors, kc__location_path(location), location->value);
}

/* ---- selectors ---- */

static void check_values(const kc__location *expression)
{
    kc__location op = kc__location_member(expression, "operator"),
                 values = kc__location_member(expression, "values");
    if (kc__location_text_is(&op, "In") || kc__location_text_is(&op, "NotIn")) {
        if (!kc_value_len(values.value))
            kc__location_error(&values, KC_FIELD_REQUIRED,
                               "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (kc__location_text_is(&op, "Exists") || kc__location_text_is(&op, "DoesNotExist")) {
        if (kc_value_len(values.value))
            kc__location_error(
                &values, KC_FIELD_FORBIDDEN,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
        kc__location_error(&op, KC_FIELD_INVALID, "not a valid selector operator");
    }
}

static void check_expression(const kc__location *expression)
{
    check_values(expression);
    kc__location key = kc__location_member(expression, "key"),
                 values = kc__location_member(expression, "values");
    kc__validate_name(&key, KC_NAME_QUALIFIED);
    size_t i = 0;
    kc_value_each_item (values.value, value) {
        kc__location item = kc__location_item(&values, value, i++);
        kc__validate_name(&item, KC_NAME_LABEL_VALUE);
    }
}

void kc__validate_selector(const kc__location *location)
{
    kc__location labels = kc__location_member(location, "matchLabels");
    kc__location expressions = kc__location_member(location, "matchExpressions");
    kc__validate_labels(&labels);
    size_t i = 0;
    kc_value_each_item (expressions.value, value) {
        kc__location item = kc__location_item(&expressions, value, i++);
        check_expression(&item);
    }
}

/* ---- addresses, quantities, numbers or percentages ---- */

void kc__validate_ip(const kc__location *location)
{
    unsigned char address[16];
    kc_str text = kc__location_text(location);
    bool valid = text.p && (inet_pton(AF_INET, text.p, address) == 1 ||
                            inet_pton(AF_INET6, text.p, address) == 1);
    if (!valid)
        kc__location_error(location, KC_FIELD_INVALID,
                           "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

void kc__validate_domain_path(const kc__location *location)
{
    kc_str path = kc__location_text(location), domain = kc_str_cut(&path, '/');
    const char *messages[KC_NAME_MESSAGES];
    if (!kc__location_is_set(location)) {
        kc__location_error(location, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (!domain.n || !path.n) {
        kc__location_error(location, KC_FIELD_INVALID,
                           "must be a domain-prefixed path (such as \"acme.io/foo\")");
        return;
    }
    size_t n = kc_name_check(KC_NAME_DNS_SUBDOMAIN, domain, messages);
    for (size_t i = 0; i < n; i++)
        kc__location_error_text(location, KC_FIELD_INVALID, domain, messages[i]);
}

void kc__validate_quantity_at_least_0(const kc__location *location)
{
    kc_quantity quantity;
    if (kc_quantity_from(location->value, &quantity, NULL) == 0 && kc_quantity_sign(quantity) < 0)
        kc__location_error(location, KC_FIELD_INVALID, "must be greater than or equal to 0");
}

int64_t kc__location_number_or_percent(const kc__location *location)
{
    kc_str text = kc__location_text(location);
    int64_t number = kc__location_number(location);
    if (text.n > 1)
        kc_str_to_i64(kc_str_sub(text, 0, text.n - 1), &number);
    return number;
}

void kc__validate_number_or_percent(const kc__location *location, bool at_most_100)
{
    if (kc_value_type(location->value) != KC_JSON_STRING) {
        kc__validate_at_least_0(location);
        return;
    }
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(KC_NAME_PERCENT, kc__location_text(location), messages);
    for (size_t i = 0; i < n; i++)
        kc__location_error(location, KC_FIELD_INVALID, "%s", messages[i]);
    if (!n && at_most_100 && kc__location_number_or_percent(location) > 100)
        kc__location_error(location, KC_FIELD_INVALID, "must not be greater than 100%%");
}

/* ---- comparison with other values ---- */

void kc__validate_unique(const kc__location *location, kc_map *seen)
{
    if (kc_map_get(seen, kc__location_text(location)))
        kc__location_error(location, KC_FIELD_DUPLICATE, NULL);
    else
        kc_map_put(seen, kc__location_text(location), seen);
}

void kc__validate_same(const kc__location *location, const kc_value *old)
{
    const kc_value *now = location->value;
    old = kc_value_type(old) == KC_JSON_NULL ? NULL : old;
    if (!now && !old)
        return;
    if (now && old && kc_value_equal(now, old, NULL))
        return;
    if (now)
        kc__location_error(location, KC_FIELD_INVALID, "field is immutable");
    else
        kc__location_error_json(location, KC_FIELD_INVALID, "null", "field is immutable");
}
