/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity.c: arithmetic and formatting of quantities; quantity_parse.c parses them.
 *
 * A number is mantissa * 10^scale with |mantissa| < 10^38, a little less than the range of
 * __int128. It is kept reduced (no factor of ten in the mantissa), so equal numbers have equal
 * fields, and scaling up happens only where two numbers are combined. A result beyond 38 digits
 * fails or saturates; nothing wraps.
 */
#include "object/scalar/quantity_internal.h"

typedef unsigned __int128 quantity_u128;

static quantity_u128 magnitude(__int128 number)
{
    return number < 0 ? -(quantity_u128)number : (quantity_u128)number;
}

/* number * 10^by. False when the result exceeds 128 bits. */
static bool scale_up(__int128 *number, int64_t by)
{
    __int128 result = *number;
    if (result != 0 && by > KC__QUANTITY_DIGITS)
        return false;
    for (; by > 0 && result != 0; by--)
        if (__builtin_mul_overflow(result, 10, &result))
            return false;
    *number = result;
    return true;
}

/* number / 10^by, rounded away from zero. */
static __int128 scale_down(__int128 number, int64_t by)
{
    bool fraction = false;
    int sign = number < 0 ? -1 : 1;
    for (; by > 0 && number != 0; by--) {
        fraction |= number % 10 != 0;
        number /= 10;
    }
    return fraction ? number + sign : number;
}

static unsigned count_digits(quantity_u128 number)
{
    unsigned n = 0;
    for (; number; number /= 10)
        n++;
    return n;
}

kc_quantity kc__quantity_reduced(kc_quantity q)
{
    if (q.mantissa == 0)
        q.scale = 0;
    while (q.mantissa != 0 && q.mantissa % 10 == 0 && q.scale < INT32_MAX) {
        q.mantissa /= 10;
        q.scale++;
    }
    return q;
}

kc_quantity kc_quantity_of_scaled(int64_t value, int scale, kc_quantity_form form)
{
    kc_quantity q = {.mantissa = value, .scale = scale, .form = form};
    if (scale < KC__QUANTITY_NANO) {
        q.mantissa = scale_down(value, (int64_t)KC__QUANTITY_NANO - scale);
        q.scale = KC__QUANTITY_NANO;
    }
    return kc__quantity_reduced(q);
}

kc_quantity kc_quantity_of(int64_t value, kc_quantity_form form)
{
    return kc_quantity_of_scaled(value, 0, form);
}

kc_quantity kc_quantity_of_milli(int64_t thousandths, kc_quantity_form form)
{
    return kc_quantity_of_scaled(thousandths, -3, form);
}

int kc_quantity_sign(kc_quantity q)
{
    return (q.mantissa > 0) - (q.mantissa < 0);
}

/* The decimal order of the first digit: 3 for 1000 and for 9999. */
static int64_t order(kc_quantity q)
{
    return (int64_t)q.scale + count_digits(magnitude(q.mantissa));
}

int kc_quantity_cmp(kc_quantity a, kc_quantity b)
{
    int sign_a = kc_quantity_sign(a), sign_b = kc_quantity_sign(b);
    if (sign_a != sign_b || sign_a == 0)
        return sign_a - sign_b;
    if (a.scale != b.scale && order(a) != order(b))
        return order(a) < order(b) ? -sign_a : sign_a;
    /* Both have the same order, so the one with the larger scale has room for the difference. */
    bool fits = scale_up(&a.mantissa, (int64_t)a.scale - KC_MIN(a.scale, b.scale)) &&
                scale_up(&b.mantissa, (int64_t)b.scale - KC_MIN(a.scale, b.scale));
    assert(fits);
    (void)fits;
    return (a.mantissa > b.mantissa) - (a.mantissa < b.mantissa);
}

bool kc_quantity_add(kc_quantity *q, kc_quantity other)
{
    kc_quantity sum = *q;
    sum.as_written = false;
    if (sum.mantissa == 0)
        sum = (kc_quantity){.scale = other.scale, .form = other.form};
    if (other.mantissa == 0)
        other.scale = sum.scale;
    int32_t scale = KC_MIN(sum.scale, other.scale);
    if (!scale_up(&sum.mantissa, (int64_t)sum.scale - scale) ||
        !scale_up(&other.mantissa, (int64_t)other.scale - scale) ||
        __builtin_add_overflow(sum.mantissa, other.mantissa, &sum.mantissa))
        return false;
    sum.scale = scale;
    sum = kc__quantity_reduced(sum);
    if (magnitude(sum.mantissa) >= kc__quantity_limit())
        return false;
    *q = sum;
    return true;
}

bool kc_quantity_sub(kc_quantity *q, kc_quantity other)
{
    kc_quantity_neg(&other);
    return kc_quantity_add(q, other);
}

void kc_quantity_neg(kc_quantity *q)
{
    q->mantissa = -q->mantissa;
    q->as_written = false;
}

int64_t kc_quantity_scaled_value(kc_quantity q, int scale)
{
    int64_t by = (int64_t)q.scale - scale;
    if (by < 0)
        q.mantissa = scale_down(q.mantissa, -by);
    else if (!scale_up(&q.mantissa, by))
        return q.mantissa < 0 ? INT64_MIN : INT64_MAX;
    if (q.mantissa > INT64_MAX)
        return INT64_MAX;
    return q.mantissa < INT64_MIN ? INT64_MIN : (int64_t)q.mantissa;
}

int64_t kc_quantity_value(kc_quantity q)
{
    return kc_quantity_scaled_value(q, 0);
}

int64_t kc_quantity_milli_value(kc_quantity q)
{
    return kc_quantity_scaled_value(q, -3);
}

bool kc_quantity_as_i64(kc_quantity q, int64_t *ret)
{
    if (q.scale < 0 || !scale_up(&q.mantissa, q.scale) || q.mantissa > INT64_MAX ||
        q.mantissa < INT64_MIN)
        return false;
    *ret = (int64_t)q.mantissa;
    return true;
}

/* Appends sign and digits; returns their end. */
static char *put_number(char *out, __int128 number)
{
    char digits[48], *p = digits + sizeof(digits);
    for (quantity_u128 left = magnitude(number); left; left /= 10)
        *--p = (char)('0' + (int)(left % 10));
    if (number < 0)
        *out++ = '-';
    size_t n = (size_t)(digits + sizeof(digits) - p);
    memcpy(out, p, n);
    return out + n;
}

static char *put_decimal(char *out, kc_quantity q)
{
    static const char suffixes[] = {'n', 'u', 'm', 0, 'k', 'M', 'G', 'T', 'P', 'E'};
    enum { LARGEST = 18 };
    int32_t exponent = q.scale;
    out = put_number(out, q.mantissa);
    for (; exponent % 3 != 0; exponent--)
        *out++ = '0';
    if (exponent == 0)
        return out;
    if (q.form == KC_DECIMAL_EXPONENT || exponent > LARGEST) {
        *out++ = 'e';
        return put_number(out, exponent);
    }
    *out++ = suffixes[(exponent - KC__QUANTITY_NANO) / 3];
    return out;
}

static char *put_binary(char *out, __int128 whole)
{
    static const char suffixes[] = {0, 'K', 'M', 'G', 'T', 'P', 'E'};
    size_t power = 0;
    while (whole % 1024 == 0 && power + 1 < sizeof(suffixes)) {
        whole /= 1024;
        power++;
    }
    out = put_number(out, whole);
    if (power) {
        *out++ = suffixes[power];
        *out++ = 'i';
    }
    return out;
}

kc_str kc_quantity_print(kc_quantity q, char out[KC_QUANTITY_MAX])
{
    char *end = out;
    __int128 whole = q.mantissa;
    bool binary = q.form == KC_BINARY_SI && q.scale >= 0 && scale_up(&whole, q.scale) &&
                  magnitude(whole) >= 1024;
    if (q.mantissa == 0)
        *end++ = '0';
    else
        end = binary ? put_binary(out, whole) : put_decimal(out, q);
    *end = '\0';
    return kc_str_of(out, (size_t)(end - out));
}
