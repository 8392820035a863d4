/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.c: the text of integers, and the shortest text of a floating-point number, by the
 * Schubfach algorithm (R. Giulietti, "The Schubfach way to render doubles").
 *
 * A float c * 2^q represents every real number nearer to it than to its neighbours. Of the decimals
 * in that interval the algorithm chooses one with the fewest digits, and among those the nearest to
 * the float. It scales the float and the ends of its interval by a power of ten, so that the
 * interval contains at least one and at most a few integers, with 128 bits of that power; the bits
 * below are folded into the lowest bit (round_to_odd), which is all that comparisons need. No loop,
 * no allocation, no division except by ten.
 */
#include "kc/number.h"

#include "base/powers_of_ten.h"

#include <math.h>

typedef unsigned __int128 number_u128;

void kc_u64_write(kc_buf *out, uint64_t number)
{
    char digits[20], *first = digits + sizeof(digits);
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    kc_buf_append(out, kc_str_of(first, (size_t)(digits + sizeof(digits) - first)));
}

void kc_i64_write(kc_buf *out, int64_t number)
{
    if (number < 0)
        kc_buf_putc(out, '-');
    kc_u64_write(out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

/* A float as c * 2^q. */
typedef struct binary {
    uint64_t c;
    int q;
    bool lower_is_closer; /* The neighbour below is half as far away as the one above. */
} binary;

/* digits * 10^exponent */
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

static binary take_apart(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (!exponent)
        return (binary){fraction, -1074, false};
    return (binary){fraction | (uint64_t)1 << 52, exponent - 1075, !fraction && exponent > 1};
}

static binary take_apart_single(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof(bits));
    uint32_t fraction = bits & ((1u << 23) - 1);
    int exponent = (int)(bits >> 23 & 0xff);
    if (!exponent)
        return (binary){fraction, -149, false};
    return (binary){fraction | 1u << 23, exponent - 150, !fraction && exponent > 1};
}

/* The upper 64 of the 192 bits of power * c; the lowest is set when any bit below them is. */
static uint64_t round_to_odd(const uint64_t power[2], uint64_t c)
{
    number_u128 low = (number_u128)power[1] * c,
                high = (number_u128)power[0] * c + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* floor(log10(2^q)), or of 3/4 of it where the lower neighbour is closer; floor(log2(10^k)). */
static int log10_of_pow2(int q, bool three_quarters)
{
    return (q * 1262611 - (three_quarters ? 524031 : 0)) >> 22;
}

static int log2_of_pow10(int k)
{
    return (k * 1741647) >> 19;
}

static decimal shortest(binary b)
{
    int k = log10_of_pow2(b.q, b.lower_is_closer);
    int h = b.q + log2_of_pow10(-k) + 1;
    const uint64_t *power = kc__number_powers_of_ten[-k - KC__NUMBER_POWERS_FROM];
    /* Four times the float and the ends of its interval, which are inclusive when c is even. */
    uint64_t odd = b.c & 1;
    uint64_t lower = round_to_odd(power, (4 * b.c - 2 + b.lower_is_closer) << h) + odd;
    uint64_t middle = round_to_odd(power, (4 * b.c) << h);
    uint64_t upper = round_to_odd(power, (4 * b.c + 2) << h) - odd;
    uint64_t s = middle / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool below = lower <= 40 * tens, above = 40 * tens + 40 <= upper;
        if (below != above)
            return (decimal){tens + above, k + 1};
    }
    bool below = lower <= 4 * s, above = 4 * s + 4 <= upper;
    if (below != above)
        return (decimal){s + above, k};
    uint64_t half = 4 * s + 2;
    return (decimal){s + (middle > half || (middle == half && s & 1)), k};
}

kc_digits kc_double_digits(double number, bool single)
{
    kc_digits digits = {0};
    number = fabs(single ? (double)(float)number : number);
    if (number == 0)
        return (kc_digits){.text = "0", .n = 1};
    decimal d = shortest(single ? take_apart_single((float)number) : take_apart(number));
    while (d.digits % 10 == 0) {
        d.digits /= 10;
        d.exponent++;
    }
    char reversed[sizeof(digits.text)];
    size_t n = 0;
    for (; d.digits; d.digits /= 10)
        reversed[n++] = (char)('0' + d.digits % 10);
    for (size_t i = 0; i < n; i++)
        digits.text[i] = reversed[n - 1 - i];
    digits.n = n;
    digits.exponent = d.exponent + (int)n - 1;
    return digits;
}

static void put_zeros(kc_buf *out, int n)
{
    for (int i = 0; i < n; i++)
        kc_buf_putc(out, '0');
}

void kc_digits_write(kc_buf *out, const kc_digits *digits)
{
    kc_str text = kc_str_of(digits->text, digits->n);
    int point = digits->exponent + 1;
    if (point <= 0) {
        kc_buf_puts(out, "0.");
        put_zeros(out, -point);
        kc_buf_append(out, text);
        return;
    }
    kc_buf_append(out, kc_str_sub(text, 0, (size_t)point));
    put_zeros(out, point - (int)digits->n);
    if (digits->n > (size_t)point) {
        kc_buf_putc(out, '.');
        kc_buf_append(out, kc_str_sub(text, (size_t)point, text.n));
    }
}

void kc_digits_write_exponent(kc_buf *out, const kc_digits *digits)
{
    int exponent = digits->exponent, size = exponent < 0 ? -exponent : exponent;
    kc_buf_putc(out, digits->text[0]);
    if (digits->n > 1) {
        kc_buf_putc(out, '.');
        kc_buf_append(out, kc_str_of(digits->text + 1, digits->n - 1));
    }
    kc_buf_putc(out, 'e');
    kc_buf_putc(out, exponent < 0 ? '-' : '+');
    if (size >= 100)
        kc_buf_putc(out, (char)('0' + size / 100));
    kc_buf_putc(out, (char)('0' + size / 10 % 10));
    kc_buf_putc(out, (char)('0' + size % 10));
}

void kc_double_write(kc_buf *out, double number, bool single)
{
    if (isnan(number)) {
        kc_buf_puts(out, "NaN");
        return;
    }
    if (isinf(number)) {
        kc_buf_puts(out, number > 0 ? "+Inf" : "-Inf");
        return;
    }
    kc_digits digits = kc_double_digits(number, single);
    if (signbit(number))
        kc_buf_putc(out, '-');
    if (digits.exponent >= -4 && digits.exponent < 6)
        kc_digits_write(out, &digits);
    else
        kc_digits_write_exponent(out, &digits);
}
