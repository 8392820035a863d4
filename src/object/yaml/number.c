/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.c: parses numbers.
 *
 * Text is tried as an integer, then as a decimal number, in the order and with the prefixes of Go's
 * strconv: 0o17 and 017 are octal, 08 is eight, underscores are dropped, 1:30 is not a number, nor
 * is a number that overflows a double. Where kubectl would convert an integer beyond 64 bits to a
 * double, the result here is KC__YAML_TOO_BIG. Pure functions, any thread.
 */
#include "kc/ascii.h"
#include "object/yaml/yaml_internal.h"

#include <math.h>
#include <stdio.h>

enum fit { NO_NUMBER, FITS, BEYOND };

static enum fit magnitude(kc_str digits, unsigned base, uint64_t *ret)
{
    uint64_t value = 0;
    bool beyond = false;
    for (size_t i = 0; i < digits.n; i++) {
        char c = digits.p[i], lower = (char)(c | 0x20);
        unsigned digit = kc_is_digit(c)                 ? (unsigned)(c - '0')
                         : lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a' + 10)
                                                        : 16;
        if (digit >= base)
            return NO_NUMBER;
        beyond |= __builtin_mul_overflow(value, (uint64_t)base, &value) ||
                  __builtin_add_overflow(value, (uint64_t)digit, &value);
    }
    *ret = value;
    return !digits.n ? NO_NUMBER : beyond ? BEYOND : FITS;
}

static kc_str cut_sign(kc_str s, bool *ret_negative)
{
    bool sign = s.n && (s.p[0] == '-' || s.p[0] == '+');
    *ret_negative = sign && s.p[0] == '-';
    return kc_str_sub(s, sign, s.n);
}

static enum fit signed_number(bool negative, kc_str digits, unsigned base, kc__yaml_scalar *ret)
{
    uint64_t value = 0;
    enum fit fit = magnitude(digits, base, &value);
    if (fit != FITS)
        return fit;
    if (negative && value > (uint64_t)INT64_MAX + 1)
        return BEYOND;
    if (negative)
        *ret = (kc__yaml_scalar){KC__YAML_INT, {.i = (int64_t)(0 - value)}};
    else if (value <= INT64_MAX)
        *ret = (kc__yaml_scalar){KC__YAML_INT, {.i = (int64_t)value}};
    else
        *ret = (kc__yaml_scalar){KC__YAML_UINT, {.u = value}};
    return FITS;
}

/* With the prefixes 0x, 0o, 0b and 0. */
static enum fit whole_number(kc_str text, kc__yaml_scalar *ret)
{
    bool negative;
    kc_str digits = cut_sign(text, &negative);
    unsigned base = 10, prefix = 0;
    if (digits.n > 1 && digits.p[0] == '0') {
        char mark = (char)(digits.p[1] | 0x20);
        base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
        prefix = digits.n > 2 && (mark == 'x' || mark == 'o' || mark == 'b') ? 2 : 1;
    }
    enum fit fit = signed_number(negative, kc_str_sub(digits, prefix, digits.n), base, ret);
    /* With a plus sign it must be a signed number. */
    return fit == FITS && ret->type == KC__YAML_UINT && digits.n < text.n ? BEYOND : fit;
}

/* A sign after the prefix: 0b-11 is -3. Rare, but kubectl accepts it. */
static bool binary_with_inner_sign(kc_str text, kc__yaml_scalar *ret)
{
    bool negative;
    if (!kc_str_starts(text, KC_STR("0b")))
        return false;
    kc_str digits = cut_sign(kc_str_sub(text, 2, text.n), &negative);
    return signed_number(negative, digits, 2, ret) == FITS && ret->type == KC__YAML_INT;
}

static size_t yaml_number_skip_digits(kc_str s, size_t at)
{
    while (at < s.n && kc_is_digit(s.p[at]))
        at++;
    return at;
}

/* [-+]? ( .[0-9]+ | [0-9]+ (.[0-9]*)? ) ( [eE] [-+]? [0-9]+ )? */
static bool looks_decimal(kc_str text)
{
    bool negative;
    kc_str s = cut_sign(text, &negative);
    size_t whole = yaml_number_skip_digits(s, 0), at = whole;
    if (at < s.n && s.p[at] == '.') {
        at = yaml_number_skip_digits(s, at + 1);
        if (!whole && at == 1)
            return false;
    } else if (!whole) {
        return false;
    }
    if (at < s.n && (s.p[at] == 'e' || s.p[at] == 'E')) {
        kc_str exponent = cut_sign(kc_str_sub(s, at + 1, s.n), &negative);
        return exponent.n && yaml_number_skip_digits(exponent, 0) == exponent.n;
    }
    return at == s.n;
}

/* Terminated text. An overflow is not a number. */
static bool decimal_number(const char *text, kc__yaml_scalar *ret)
{
    double number = strtod(text, NULL);
    if (isinf(number))
        return false;
    *ret = (kc__yaml_scalar){KC__YAML_FLOAT, {.f = number}};
    return true;
}

static bool all_digits(kc_str text)
{
    bool negative;
    kc_str digits = cut_sign(text, &negative);
    return yaml_number_skip_digits(digits, 0) == digits.n;
}

/* Text that starts with a digit or a sign, without underscores, terminated. */
static kc__yaml_scalar yaml_number_of(kc_str text)
{
    kc__yaml_scalar number = {0};
    enum fit fit = whole_number(text, &number);
    if (fit == FITS)
        return number;
    if (looks_decimal(text)) {
        if (fit == BEYOND && all_digits(text))
            return (kc__yaml_scalar){KC__YAML_TOO_BIG, {0}};
        if (decimal_number(text.p, &number))
            return number;
    } else if (binary_with_inner_sign(text, &number)) {
        return number;
    }
    return (kc__yaml_scalar){0};
}

/* ".5", and ".5_0": underscores are allowed between digits. */
static kc__yaml_scalar fraction_of(kc_str text, kc_str without_underscores)
{
    kc__yaml_scalar number = {0};
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '_' &&
            (i + 1 == text.n || !kc_is_digit(text.p[i - 1]) || !kc_is_digit(text.p[i + 1])))
            return (kc__yaml_scalar){0};
    if (looks_decimal(without_underscores))
        decimal_number(without_underscores.p, &number);
    return number;
}

static bool may_be_in_number(char c)
{
    char lower = (char)(c | 0x20);
    return kc_is_digit(c) || (lower >= 'a' && lower <= 'f') || lower == 'x' || lower == 'o' ||
           c == '_' || c == '.' || c == '+' || c == '-';
}

kc__yaml_scalar kc__yaml_number(kc_str text)
{
    char small[64];
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        if (!may_be_in_number(text.p[i]))
            return (kc__yaml_scalar){0};
    kc_autofree char *large = text.n < sizeof(small) ? NULL : kc_alloc(text.n + 1);
    char *copy = large ? large : small;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '_')
            copy[n++] = text.p[i];
    copy[n] = '\0';
    kc_str plain = kc_str_of(copy, n);
    return text.p[0] == '.' ? fraction_of(text, plain) : yaml_number_of(plain);
}
