/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity.c: resource quantities: quantity("1.5Gi").isLessThan(…).
 *
 * How Kubernetes keeps a number shows in its conversions to integers and doubles, so a value
 * remembers it: as an integer times a power of ten (1.50 is 150 and -2), or as a decimal when that
 * does not fit 64 bits. Only the former, without a fraction part, is an integer; the latter has
 * nine digits behind the point.
 */
#include "cel/library/library_internal.h"

#include "kc/ascii.h"
#include "kc/quantity.h"

#include <math.h>
#include <stdio.h>

typedef struct cel_quantity {
    kc_quantity number;
    int32_t exponent; /* The power of ten that Kubernetes keeps. */
    bool is_decimal;
    bool computed; /* By add or sub: Kubernetes cannot compare such a value on the right of ==. */
} cel_quantity;

static const cel_quantity *quantity_data(kc_cel_value v)
{
    return v.opaque.data;
}

static kc__cel_equality equal_quantities(const void *a, const void *b)
{
    const cel_quantity *x = a, *y = b;
    if (y->computed)
        return KC__CEL_INCOMPARABLE;
    return kc__cel_equality_of(kc_quantity_cmp(x->number, y->number) == 0);
}

static void write_quantity(const void *data, kc_buf *out)
{
    char text[KC_QUANTITY_MAX];
    kc_buf_append(out, kc_quantity_print(((const cel_quantity *)data)->number, text));
}

const kc_cel_type kc__cel_type_quantity =
    KC__CEL_OPAQUE("kubernetes.Quantity", equal_quantities, write_quantity, .function = "quantity",
                   .go_name = "*resource.Quantity");

static kc_quantity quantity_of(kc_cel_value v)
{
    return quantity_data(v)->number;
}

static kc_cel_value quantity_value(kc__cel_eval *ev, const cel_quantity *q)
{
    return kc__cel_opaque(ev, &kc__cel_type_quantity, q, sizeof(*q));
}

/* The power of a suffix: of 2 for Ki to Ei (*ret_binary), otherwise of 10. */
static int suffix_power(kc_str suffix, bool *ret_binary)
{
    static const char letters[] = "numkMGTPE";
    static const int powers[] = {-9, -6, -3, 3, 6, 9, 12, 15, 18};
    static const char binary[] = "KMGTPE";
    int64_t exponent = 0;
    *ret_binary = suffix.n == 2 && suffix.p[1] == 'i';
    if (*ret_binary)
        return 10 * (int)(strchr(binary, suffix.p[0]) - binary + 1);
    const char *letter = suffix.n == 1 ? strchr(letters, suffix.p[0]) : NULL;
    if (letter)
        return powers[letter - letters];
    if (suffix.n > 1)
        kc_str_to_i64(kc_str_sub(suffix, 1 + (suffix.p[1] == '+'), suffix.n), &exponent);
    return (int)exponent;
}

enum { NANO = -9 };

/* The exponent of a decimal that was read: that of nano, except for zero and for a binary number
 * that is capped. */
static int32_t decimal_exponent(kc_quantity q, int written, bool binary)
{
    if (!q.mantissa)
        return written;
    __int128 magnitude = q.mantissa < 0 ? -q.mantissa : q.mantissa;
    return binary && !q.scale && magnitude == INT64_MAX ? 0 : NANO;
}

/* How Kubernetes keeps a valid text: its fast path takes up to 18 digits, fewer with a binary
 * suffix. */
static void classify_quantity(kc_str text, cel_quantity *q)
{
    size_t i = text.n && (text.p[0] == '+' || text.p[0] == '-'), whole, fraction = 0;
    bool binary;
    while (i < text.n && text.p[i] == '0')
        i++;
    for (whole = i; i < text.n && kc_is_digit(text.p[i]); i++)
        continue;
    whole = i - whole;
    if (i < text.n && text.p[i] == '.')
        for (i++; i < text.n && kc_is_digit(text.p[i]); i++)
            fraction++;
    int power = suffix_power(kc_str_sub(text, i, text.n), &binary);
    int digits = (int)KC_MAX(whole, (size_t)1), written = (binary ? 0 : power) - (int)fraction;
    q->is_decimal = binary ? fraction || 15 - digits - power * 3 / 10 - 1 < 0
                           : digits + (int)fraction > 18 || written < NANO;
    q->exponent = q->is_decimal ? decimal_exponent(q->number, written, binary) : written;
}

KC__CEL_FUNCTION(parse_quantity)
{
    kc_scoped(kc_error) err = {0};
    cel_quantity q = {0};
    if (kc_quantity_parse(a[0].text, &q.number, &err) < 0)
        return kc__cel_error(ev, "%s", kc_error_text(&err));
    classify_quantity(a[0].text, &q);
    return quantity_value(ev, &q);
}

KC__CEL_FUNCTION(is_quantity)
{
    kc_quantity q;
    return kc__cel_bool(kc_quantity_parse(a[0].text, &q, NULL) >= 0);
}

KC__CEL_FUNCTION(quantity_sign)
{
    return kc__cel_int(kc_quantity_sign(quantity_of(a[0])));
}

static int compare_quantities(const kc_cel_value *a)
{
    int order = kc_quantity_cmp(quantity_of(a[0]), quantity_of(a[1]));
    return (order > 0) - (order < 0);
}

KC__CEL_FUNCTION(quantity_is_greater)
{
    return kc__cel_bool(compare_quantities(a) > 0);
}

KC__CEL_FUNCTION(quantity_is_less)
{
    return kc__cel_bool(compare_quantities(a) < 0);
}

KC__CEL_FUNCTION(quantity_compare)
{
    return kc__cel_int(compare_quantities(a));
}

/* Ten to a power, with the rounding of Go's math.Pow10: one step of 32 powers, and the rest. */
static double go_power_of_ten(int32_t n)
{
    static const double small[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10,
                                   1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
                                   1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31};
    static const double large[] = {1e0, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288};
    if (n > 308)
        return INFINITY;
    /* A quantity is not finer than nano, a zero has up to as many digits as its text. */
    return n >= 0 ? large[n / 32] * small[n % 32] : n > -32 ? 1 / small[-n] : 0;
}

/* mantissa * 10^power, rounded once: the integer may have more bits than any type. */
static double rounded_integer(__int128 mantissa, int32_t power)
{
    char text[64];
    unsigned __int128 rest =
        mantissa < 0 ? -(unsigned __int128)mantissa : (unsigned __int128)mantissa;
    size_t at = 48;
    snprintf(text + at, sizeof(text) - at, "e%d", (int)power);
    do {
        text[--at] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest);
    double d = strtod(text + at, NULL);
    return mantissa < 0 ? -d : d;
}

KC__CEL_FUNCTION(quantity_float)
{
    const cel_quantity *q = quantity_data(a[0]);
    double base = rounded_integer(q->number.mantissa, q->number.scale - q->exponent);
    return kc__cel_double(q->exponent ? base * go_power_of_ten(q->exponent) : base);
}

static bool as_integer(kc_cel_value v, int64_t *ret)
{
    const cel_quantity *q = quantity_data(v);
    return !q->is_decimal && q->exponent >= 0 && kc_quantity_as_i64(q->number, ret);
}

KC__CEL_FUNCTION(quantity_is_integer)
{
    int64_t i;
    return kc__cel_bool(as_integer(a[0], &i));
}

KC__CEL_FUNCTION(quantity_integer)
{
    int64_t i;
    return as_integer(a[0], &i) ? kc__cel_int(i)
                                : kc__cel_error_const("cannot convert value to integer");
}

/* ---- sums ---- */

static cel_quantity operand_of(kc_cel_value v)
{
    if (v.kind != KC_CEL_INT)
        return *quantity_data(v);
    return (cel_quantity){.number = kc_quantity_of(v.integer, KC_DECIMAL_EXPONENT)};
}

/* True if the number is a 64-bit integer times ten to the exponent. */
static bool fits_exponent(kc_quantity q, int32_t exponent)
{
    __int128 value = q.mantissa;
    if (q.scale < exponent)
        return !value;
    for (int32_t i = exponent; i < q.scale && value <= INT64_MAX && value >= INT64_MIN && value;
         i++)
        value *= 10;
    return value <= INT64_MAX && value >= INT64_MIN;
}

static bool is_least_integer(const cel_quantity *q)
{
    __int128 value = q->number.mantissa;
    for (int32_t i = q->exponent; i < q->number.scale && value < 0 && value > INT64_MIN; i++)
        value *= 10;
    return !q->is_decimal && value == INT64_MIN;
}

/* How Kubernetes keeps the sum or difference of two values. */
static kc_cel_value computed_quantity(kc__cel_eval *ev, cel_quantity q, const cel_quantity *left,
                                      const cel_quantity *right)
{
    q.computed = true;
    q.is_decimal = left->is_decimal || right->is_decimal;
    q.exponent = KC_MIN(left->exponent, right->exponent);
    if (!q.is_decimal && !(right->number.mantissa && left->number.mantissa))
        q.exponent = right->number.mantissa ? right->exponent : left->exponent;
    else if (!q.is_decimal)
        q.is_decimal = !fits_exponent(left->number, q.exponent) ||
                       !fits_exponent(right->number, q.exponent) ||
                       !fits_exponent(q.number, q.exponent);
    return quantity_value(ev, &q);
}

KC__CEL_FUNCTION(quantity_add)
{
    cel_quantity q = operand_of(a[0]), left = q, right = operand_of(a[1]);
    if (!kc_quantity_add(&q.number, right.number))
        return kc__cel_error_const("quantity overflow");
    return computed_quantity(ev, q, &left, &right);
}

/* As in Go, the negative of the least integer is itself. Decimals have none. */
static bool subtract_least(cel_quantity *q, const cel_quantity *right)
{
    kc_quantity sum = q->number;
    const int32_t exponent = KC_MIN(q->exponent, right->exponent);
    if (q->is_decimal || !is_least_integer(right) || !kc_quantity_add(&sum, right->number) ||
        !fits_exponent(sum, exponent))
        return false;
    q->number = sum;
    return true;
}

KC__CEL_FUNCTION(quantity_sub)
{
    cel_quantity q = operand_of(a[0]), left = q, right = operand_of(a[1]);
    if (!subtract_least(&q, &right) && !kc_quantity_sub(&q.number, right.number))
        return kc__cel_error_const("quantity overflow");
    return computed_quantity(ev, q, &left, &right);
}

#define T_QUANTITY &kc__cel_type_quantity
#define QUANTITY_ROW(function, id, impl, result, ...) \
    KC__CEL_ROW(function, id, true, impl, NULL, NULL, result, T_QUANTITY, ##__VA_ARGS__)

static const kc__cel_overload overloads[] = {
    KC__CEL_ROW("quantity", "string_to_quantity", false, parse_quantity, kc__cel_cost_first,
                kc__cel_estimate_first, T_QUANTITY, T_STRING),
    KC__CEL_ROW("isQuantity", "is_quantity_string", false, is_quantity, kc__cel_cost_first,
                kc__cel_estimate_first, T_BOOL, T_STRING),
    KC__CEL_ROW("sign", "quantity_sign", false, quantity_sign, NULL, NULL, T_INT, T_QUANTITY),
    QUANTITY_ROW("isGreaterThan", "quantity_is_greater_than", quantity_is_greater, T_BOOL,
                 T_QUANTITY),
    QUANTITY_ROW("isLessThan", "quantity_is_less_than", quantity_is_less, T_BOOL, T_QUANTITY),
    QUANTITY_ROW("compareTo", "quantity_compare_to", quantity_compare, T_INT, T_QUANTITY),
    QUANTITY_ROW("asApproximateFloat", "quantity_get_float", quantity_float, T_DOUBLE),
    QUANTITY_ROW("asInteger", "quantity_get_int", quantity_integer, T_INT),
    QUANTITY_ROW("isInteger", "quantity_is_integer", quantity_is_integer, T_BOOL),
    QUANTITY_ROW("add", "quantity_add", quantity_add, T_QUANTITY, T_QUANTITY),
    QUANTITY_ROW("add", "quantity_add_int", quantity_add, T_QUANTITY, T_INT),
    QUANTITY_ROW("sub", "quantity_sub", quantity_sub, T_QUANTITY, T_QUANTITY),
    QUANTITY_ROW("sub", "quantity_sub_int", quantity_sub, T_QUANTITY, T_INT),
};

const kc__cel_library kc__cel_library_quantity = {overloads, KC_COUNT(overloads),
                                                  KC__CEL_QUANTITY_28};
