/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity_parse.c: parses quantities.
 *
 *     sign  zeros  whole . fraction  suffix
 *      -     00     12   .   345      Mi
 *
 * The grammar is as lenient as Kubernetes' parser, which accepts more than its documentation says:
 * "k", "." and "-" are 0, and a digit is required only if the number does not fit 64 bits. Clients
 * rely on that.
 *
 * Text may have megabytes of digits. Every function makes one pass: decimal numbers are read from
 * the left, with zeros counted until a digit needs them; binary ones are multiplied by 2^n digit by
 * digit from the right, as on paper, so that rounding up considers every digit that is cut off.
 *
 * To add a suffix, add a line to `suffixes`, and one to the tables that quantity.c prints from.
 */
#include "object/scalar/quantity_internal.h"

#include "kc/ascii.h"
#include "kc/buf.h"
#include "kc/json.h"

#include <inttypes.h>
#include <stdio.h>

static const char wrong_format[] = "quantities must match the regular expression "
                                   "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
static const char wrong_number[] = "unable to parse numeric part of quantity";
static const char wrong_suffix[] = "unable to parse quantity's suffix";

typedef struct quantity_parse_parts {
    bool negative;
    bool has_digit;  /* Leading zeros count. */
    kc_str whole;    /* Without leading zeros. */
    kc_str fraction; /* With trailing zeros. */
    kc_str suffix;
    kc_quantity_form form;
    int64_t exponent; /* Of 2 in the binary form, else of 10. */
} quantity_parse_parts;

static const struct suffix {
    char text[3];
    kc_quantity_form form;
    int exponent;
} suffixes[] = {
    {"", KC_DECIMAL_SI, 0},   {"n", KC_DECIMAL_SI, -9}, {"u", KC_DECIMAL_SI, -6},
    {"m", KC_DECIMAL_SI, -3}, {"k", KC_DECIMAL_SI, 3},  {"M", KC_DECIMAL_SI, 6},
    {"G", KC_DECIMAL_SI, 9},  {"T", KC_DECIMAL_SI, 12}, {"P", KC_DECIMAL_SI, 15},
    {"E", KC_DECIMAL_SI, 18}, {"Ki", KC_BINARY_SI, 10}, {"Mi", KC_BINARY_SI, 20},
    {"Gi", KC_BINARY_SI, 30}, {"Ti", KC_BINARY_SI, 40}, {"Pi", KC_BINARY_SI, 50},
    {"Ei", KC_BINARY_SI, 60},
};

static kc_str take_digits(kc_str *rest)
{
    size_t n = 0;
    while (n < rest->n && kc_is_digit(rest->p[n]))
        n++;
    kc_str digits = kc_str_sub(*rest, 0, n);
    *rest = kc_str_sub(*rest, n, rest->n);
    return digits;
}

static bool starts_with_sign(kc_str s)
{
    return s.n && (s.p[0] == '-' || s.p[0] == '+');
}

/* Letters of suffixes, a sign, digits, and nothing else. */
static bool has_form_of_suffix(kc_str s)
{
    while (s.n && memchr("eEinumkKMGTP", s.p[0], 12))
        s = kc_str_sub(s, 1, s.n);
    if (starts_with_sign(s))
        s = kc_str_sub(s, 1, s.n);
    take_digits(&s);
    return s.n == 0;
}

static bool read_exponent(kc_str digits, int64_t *ret)
{
    if (digits.n && digits.p[0] == '+')
        digits = kc_str_sub(digits, 1, digits.n);
    return kc_str_to_i64(digits, ret) && *ret >= INT32_MIN && *ret <= INT32_MAX;
}

static bool read_suffix(quantity_parse_parts *p)
{
    for (size_t i = 0; i < KC_COUNT(suffixes); i++) {
        if (kc_str_is(p->suffix, suffixes[i].text)) {
            p->form = suffixes[i].form;
            p->exponent = suffixes[i].exponent;
            return true;
        }
    }
    p->form = KC_DECIMAL_EXPONENT;
    return p->suffix.n > 1 && (p->suffix.p[0] | 0x20) == 'e' &&
           read_exponent(kc_str_sub(p->suffix, 1, p->suffix.n), &p->exponent);
}

/* The error message, or NULL. */
static const char *quantity_parse_split(kc_str text, quantity_parse_parts *p)
{
    kc_str rest = text;
    if (text.n == 0)
        return wrong_format;
    if (starts_with_sign(rest)) {
        p->negative = rest.p[0] == '-';
        rest = kc_str_sub(rest, 1, rest.n);
    }
    p->whole = take_digits(&rest);
    p->has_digit = p->whole.n > 0;
    while (p->whole.n && p->whole.p[0] == '0')
        p->whole = kc_str_sub(p->whole, 1, p->whole.n);
    if (rest.n && rest.p[0] == '.') {
        rest = kc_str_sub(rest, 1, rest.n);
        p->fraction = take_digits(&rest);
        p->has_digit |= p->fraction.n > 0;
    }
    p->suffix = rest;
    if (!has_form_of_suffix(rest))
        return wrong_format;
    return read_suffix(p) ? NULL : wrong_suffix;
}

/* Digit number `i` of whole and fraction together. */
static unsigned digit_at(const quantity_parse_parts *p, size_t i)
{
    char c = i < p->whole.n ? p->whole.p[i] : p->fraction.p[i - p->whole.n];
    return (unsigned)(c - '0');
}

/*
 * Kubernetes' parser keeps numbers of at most 18 digits in 64 bits and, if they also look canonical
 * to it, remembers their text. Both conditions are visible: in what it accepts without a digit, and
 * in what it prints.
 */
static bool fits_64_bits(const quantity_parse_parts *p)
{
    size_t n = KC_MAX(p->whole.n, (size_t)1);
    if (p->form == KC_BINARY_SI)
        return p->fraction.n == 0 && n + (size_t)(p->exponent * 3 / 10) <= 14;
    return n + p->fraction.n <= 18 && p->exponent - (int64_t)p->fraction.n >= KC__QUANTITY_NANO;
}

static bool ends_in_three_zeros(const quantity_parse_parts *p, size_t n)
{
    return n >= 3 && !digit_at(p, n - 1) && !digit_at(p, n - 2) && !digit_at(p, n - 3);
}

static bool looks_canonical(const quantity_parse_parts *p)
{
    size_t n = p->whole.n + p->fraction.n;
    if (!fits_64_bits(p) || !p->whole.n)
        return false;
    if (p->form != KC_BINARY_SI)
        return (p->exponent - (int64_t)p->fraction.n) % 3 == 0 && !ends_in_three_zeros(p, n);
    uint64_t number;
    return kc_str_to_u64(p->whole, &number) && number % 8 != 0;
}

static bool any_digit(const quantity_parse_parts *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (digit_at(p, i))
            return true;
    return false;
}

/* number * 10^zeros + digit; false beyond 38 digits. */
static bool append_digit(unsigned __int128 *number, size_t zeros, unsigned digit)
{
    if (*number)
        for (; zeros > 0; zeros--) {
            if (*number >= kc__quantity_limit() / 10)
                return false;
            *number *= 10;
        }
    *number += digit;
    return *number < kc__quantity_limit();
}

/* False when there are too many digits. */
static bool read_decimal(const quantity_parse_parts *p, kc_quantity *q)
{
    size_t n = p->whole.n + p->fraction.n, kept = n, zeros = 0;
    int64_t scale = p->exponent - (int64_t)p->fraction.n;
    if (scale < KC__QUANTITY_NANO) {
        size_t cut = (size_t)(KC__QUANTITY_NANO - scale);
        kept = cut < n ? n - cut : 0;
        scale = KC__QUANTITY_NANO;
    }
    unsigned __int128 number = 0;
    for (size_t i = 0; i < kept; i++) {
        unsigned digit = digit_at(p, i);
        zeros++;
        if (!digit)
            continue;
        if (!append_digit(&number, zeros, digit))
            return false;
        zeros = 0;
    }
    if (any_digit(p, kept, n)) {
        if (!append_digit(&number, zeros, 1))
            return false;
        zeros = 0;
    }
    scale += (int64_t)zeros;
    if (scale > INT32_MAX)
        return number == 0;
    q->mantissa = (__int128)number;
    q->scale = (int32_t)scale;
    return true;
}

typedef struct quantity_parse_product {
    unsigned __int128 number, weight; /* Weight of the next digit. */
    int64_t position;                 /* Power of ten of the next digit. */
    int64_t lowest;                   /* Lower digits are cut off. */
    bool cut, too_large;
} quantity_parse_product;

static void add_digit(quantity_parse_product *to, uint64_t digit)
{
    enum { HIGHEST = 19 };
    if (to->position < to->lowest) {
        to->cut |= digit != 0;
    } else if (to->position <= HIGHEST) {
        to->number += to->weight * digit;
        to->weight *= 10;
    } else {
        to->too_large |= digit != 0;
    }
    to->position++;
}

/* Capped at 2^63-1; a number below 1 is no longer binary. */
static void read_binary(const quantity_parse_parts *p, kc_quantity *q)
{
    int64_t n_fraction = (int64_t)p->fraction.n;
    int64_t lowest = n_fraction > -KC__QUANTITY_NANO ? KC__QUANTITY_NANO : -n_fraction;
    quantity_parse_product to = {.weight = 1, .position = -n_fraction, .lowest = lowest};
    uint64_t carry = 0;
    for (size_t i = p->whole.n + p->fraction.n; i-- > 0;) {
        carry += (uint64_t)digit_at(p, i) << p->exponent; /* At most 9 * 2^60 and a carry. */
        add_digit(&to, carry % 10);
        carry /= 10;
    }
    for (; carry; carry /= 10)
        add_digit(&to, carry % 10);

    unsigned __int128 one = 1;
    for (int64_t i = lowest; i < 0; i++)
        one *= 10;
    to.number += to.cut;
    if (to.too_large || to.number > one * INT64_MAX)
        to.number = one * INT64_MAX;
    if (to.number > 0 && to.number < one)
        q->form = KC_DECIMAL_SI;
    q->mantissa = (__int128)to.number;
    q->scale = (int32_t)lowest;
}

int kc_quantity_parse(kc_str text, kc_quantity *ret, kc_error *err)
{
    quantity_parse_parts p = {0};
    const char *wrong = quantity_parse_split(text, &p);
    if (!wrong && !p.has_digit && !fits_64_bits(&p))
        wrong = wrong_number;
    if (wrong)
        return kc_error_set(err, KC_BAD_REQUEST, "%s", wrong);

    kc_quantity q = {.form = p.form};
    if (p.form == KC_BINARY_SI)
        read_binary(&p, &q);
    else if (!read_decimal(&p, &q))
        return kc_error_set(err, KC_BAD_REQUEST, "quantities may have at most %d digits",
                            KC__QUANTITY_DIGITS);
    if (p.negative)
        q.mantissa = -q.mantissa;
    q = kc__quantity_reduced(q);
    q.as_written = looks_canonical(&p) || kc_str_is(text, "0");
    *ret = q;
    return 0;
}

int kc_quantity_from(const kc_value *value, kc_quantity *ret, kc_error *err)
{
    kc_json_type type = kc_value_type(value);
    kc_scoped(kc_buf) number = {0};
    if (type == KC_JSON_NULL) {
        *ret = (kc_quantity){0};
        return 0;
    }
    if (type == KC_JSON_STRING)
        return kc_quantity_parse(kc_str_trim(kc_value_as_str(value)), ret, err);
    if (type == KC_JSON_INT || type == KC_JSON_FLOAT) {
        kc_json_write(&number, value);
        return kc_quantity_parse(kc_buf_str(&number), ret, err);
    }
    return kc_error_set(err, KC_BAD_REQUEST,
                        "a quantity is a string or a number, not a value of type %s",
                        kc_json_type_name(type));
}

int kc_quantity_rewrite(kc_str text, char out[KC_QUANTITY_MAX], kc_str *ret, kc_error *err)
{
    kc_quantity q;
    int r = kc_quantity_parse(text, &q, err);
    if (r < 0)
        return r;
    *ret = q.as_written ? text : kc_quantity_print(q, out);
    return 0;
}
