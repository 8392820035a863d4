/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath_compare.c: the comparisons of a filter. Numbers compare with numbers, strings with
 * strings (by bytes), booleans only for equality. Any other comparison is an error, as in
 * client-go: it reveals a filter that could never match.
 */
#include "object/path/jsonpath_internal.h"

typedef enum family { NONE, BOOLEAN, NUMBER, STRING } family;

static family family_of(const kc_value *value)
{
    switch (kc_value_type(value)) {
    case KC_JSON_BOOL: return BOOLEAN;
    case KC_JSON_INT:
    case KC_JSON_FLOAT: return NUMBER;
    case KC_JSON_STRING: return STRING;
    default: return NONE;
    }
}

static int order_of_numbers(const kc_value *a, const kc_value *b)
{
    int64_t a_signed, b_signed;
    uint64_t a_unsigned, b_unsigned;
    double a_double = 0, b_double = 0;
    if (kc_value_as_i64(a, &a_signed) && kc_value_as_i64(b, &b_signed))
        return (a_signed > b_signed) - (a_signed < b_signed);
    if (kc_value_as_u64(a, &a_unsigned) && kc_value_as_u64(b, &b_unsigned))
        return (a_unsigned > b_unsigned) - (a_unsigned < b_unsigned);
    kc_value_as_f64(a, &a_double);
    kc_value_as_f64(b, &b_double);
    return (a_double > b_double) - (a_double < b_double);
}

static int order_of(const kc_value *a, const kc_value *b)
{
    switch (family_of(a)) {
    case NUMBER: return order_of_numbers(a, b);
    case STRING: return kc_str_cmp(kc_value_as_str(a), kc_value_as_str(b));
    default: return kc_value_as_bool(a, false) - kc_value_as_bool(b, false);
    }
}

int kc__jsonpath_compare(const kc_value *left, kc_str op, const kc_value *right, kc_error *err)
{
    /* For each operator: whether it holds for less, equal, greater. */
    static const struct {
        const char *op;
        bool holds[3], orders;
    } operators[] = {
        {"==", {false, true, false}, false}, {"!=", {true, false, true}, false},
        {"<", {true, false, false}, true},   {"<=", {true, true, false}, true},
        {">", {false, false, true}, true},   {">=", {false, true, true}, true},
    };
    size_t at = 0;
    while (at < KC_COUNT(operators) && !kc_str_is(op, operators[at].op))
        at++;
    if (at == KC_COUNT(operators))
        return kc_error_set(err, KC_BAD_REQUEST, "unrecognized filter operator %.*s", KC_ARG(op));
    family a = family_of(left), b = family_of(right);
    if (a == NONE || b == NONE || (a == BOOLEAN && a == b && operators[at].orders))
        return kc_error_set(err, KC_BAD_REQUEST, "invalid type for comparison");
    if (a != b)
        return kc_error_set(err, KC_BAD_REQUEST, "incompatible types for comparison");
    int order = order_of(left, right);
    return operators[at].holds[order < 0 ? 0 : order == 0 ? 1 : 2];
}
