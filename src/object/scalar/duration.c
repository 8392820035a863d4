/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duration.c: parses and formats durations.
 *
 * Parsing matches Go's time.ParseDuration to the last digit. That includes its use of a double for
 * the fraction of a unit: an exact computation would sometimes differ by a nanosecond. To add a
 * unit, add a line to `units`.
 */
#include "kc/duration.h"

#include "kc/ascii.h"
#include "object/gofmt/go_quote.h"

#include <inttypes.h>
#include <stdio.h>

enum { NS = 1, US = 1000, MS = 1000 * 1000, SECOND = 1000 * 1000 * 1000 };
static const int64_t minute = INT64_C(60) * SECOND, hour = INT64_C(3600) * SECOND;

static const struct duration_unit {
    const char *name;
    uint64_t ns;
} units[] = {
    {"ns", NS},
    {"us", US},
    {"\xC2\xB5s", US}, /* Micro sign, */
    {"\xCE\xBCs", US}, /* and the Greek letter. */
    {"ms", MS},
    {"s", SECOND},
    {"m", UINT64_C(60) * SECOND},
    {"h", UINT64_C(3600) * SECOND},
};

static const uint64_t most = UINT64_C(1) << 63;

static int invalid(kc_str text, kc_error *err)
{
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote_bytes(&quoted, text);
    return kc_error_set(err, KC_BAD_REQUEST, "time: invalid duration %s", kc_buf_cstr(&quoted));
}

static int wrong_unit(kc_str unit, kc_str text, kc_error *err)
{
    kc_scoped(kc_buf) quoted_unit = {0};
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote_bytes(&quoted_unit, unit);
    kc__go_quote_bytes(&quoted, text);
    if (unit.n == 0)
        return kc_error_set(err, KC_BAD_REQUEST, "time: missing unit in duration %s",
                            kc_buf_cstr(&quoted));
    return kc_error_set(err, KC_BAD_REQUEST, "time: unknown unit %s in duration %s",
                        kc_buf_cstr(&quoted_unit), kc_buf_cstr(&quoted));
}

/* Digits before the point. False on overflow. */
static bool take_whole(kc_str *rest, uint64_t *ret)
{
    uint64_t number = 0;
    size_t i = 0;
    for (; i < rest->n && kc_is_digit(rest->p[i]); i++) {
        if (number > most / 10)
            return false;
        number = number * 10 + (uint64_t)(rest->p[i] - '0');
        if (number > most)
            return false;
    }
    *rest = kc_str_sub(*rest, i, rest->n);
    *ret = number;
    return true;
}

/* Digits after the point, and ten to the power of their number; excess digits are ignored. */
static double take_fraction(kc_str *rest, uint64_t *ret)
{
    uint64_t number = 0;
    double scale = 1;
    size_t i = 0;
    bool full = false;
    for (; i < rest->n && kc_is_digit(rest->p[i]); i++) {
        full |= number > (most - 1) / 10;
        uint64_t longer = number * 10 + (uint64_t)(rest->p[i] - '0');
        full |= !full && longer > most;
        if (full)
            continue;
        number = longer;
        scale *= 10;
    }
    *rest = kc_str_sub(*rest, i, rest->n);
    *ret = number;
    return scale;
}

static kc_str take_unit(kc_str *rest)
{
    size_t i = 0;
    while (i < rest->n && rest->p[i] != '.' && !kc_is_digit(rest->p[i]))
        i++;
    kc_str unit = kc_str_sub(*rest, 0, i);
    *rest = kc_str_sub(*rest, i, rest->n);
    return unit;
}

static uint64_t unit_of(kc_str name)
{
    for (size_t i = 0; i < KC_COUNT(units); i++)
        if (kc_str_is(name, units[i].name))
            return units[i].ns;
    return 0;
}

/* One number with its unit, in nanoseconds. */
static int take_part(kc_str text, kc_str *rest, uint64_t *ret, kc_error *err)
{
    kc_str before = *rest;
    uint64_t whole, fraction = 0;
    double scale = 1;
    if (!take_whole(rest, &whole))
        return invalid(text, err);
    size_t digits = before.n - rest->n;
    if (rest->n && rest->p[0] == '.') {
        *rest = kc_str_sub(*rest, 1, rest->n);
        size_t left = rest->n;
        scale = take_fraction(rest, &fraction);
        digits += left - rest->n;
    }
    if (digits == 0)
        return invalid(text, err);
    kc_str unit = take_unit(rest);
    uint64_t ns = unit_of(unit);
    if (!ns)
        return wrong_unit(unit, text, err);
    if (whole > most / ns)
        return invalid(text, err);
    *ret = whole * ns + (uint64_t)((double)fraction * ((double)ns / scale));
    return 0;
}

int kc_duration_parse(kc_str text, int64_t *ret_ns, kc_error *err)
{
    kc_str rest = text;
    uint64_t sum = 0;
    bool negative = rest.n && rest.p[0] == '-';
    if (rest.n && (rest.p[0] == '-' || rest.p[0] == '+'))
        rest = kc_str_sub(rest, 1, rest.n);
    if (rest.n == 0)
        return invalid(text, err);
    bool zero = kc_str_is(rest, "0");
    while (rest.n && !zero) {
        uint64_t part = 0;
        int r = take_part(text, &rest, &part, err);
        if (r < 0)
            return r;
        if (__builtin_add_overflow(sum, part, &sum) || sum > most)
            return invalid(text, err);
    }
    if (sum == most && !negative)
        return invalid(text, err);
    *ret_ns = (int64_t)(negative ? 0 - sum : sum);
    return 0;
}

static kc_str duration_written(char *out, int n)
{
    return kc_str_of(out, (size_t)n);
}

/* "5m30s"; the second part only if it is not 0. */
static kc_str put_two(char *out, int64_t first, char unit, int64_t second, char second_unit)
{
    if (second <= 0)
        return duration_written(out, snprintf(out, KC_DURATION_TEXT, "%" PRId64 "%c", first, unit));
    return duration_written(out, snprintf(out, KC_DURATION_TEXT, "%" PRId64 "%c%" PRId64 "%c",
                                          first, unit, second, second_unit));
}

static kc_str duration_put_one(char *out, int64_t number, char unit)
{
    return put_two(out, number, unit, 0, 0);
}

kc_str kc_duration_human(int64_t ns, char out[KC_DURATION_TEXT])
{
    int64_t seconds = ns / SECOND, minutes = ns / minute, hours = ns / hour, days = hours / 24;
    if (seconds < -1)
        return duration_written(out, snprintf(out, KC_DURATION_TEXT, "<invalid>"));
    if (seconds < 2 * 60)
        return duration_put_one(out, KC_MAX(seconds, (int64_t)0), 's');
    if (minutes < 10)
        return put_two(out, minutes, 'm', seconds % 60, 's');
    if (minutes < 3 * 60)
        return duration_put_one(out, minutes, 'm');
    if (hours < 8)
        return put_two(out, hours, 'h', minutes % 60, 'm');
    if (hours < 2 * 24)
        return duration_put_one(out, hours, 'h');
    if (days < 8)
        return put_two(out, days, 'd', hours % 24, 'h');
    if (days < 2 * 365)
        return duration_put_one(out, days, 'd');
    if (days < 8 * 365)
        return put_two(out, days / 365, 'y', days % 365, 'd');
    return duration_put_one(out, days / 365, 'y');
}

kc_str kc_duration_human_short(int64_t ns, char out[KC_DURATION_TEXT])
{
    int64_t seconds = ns / SECOND, hours = ns / hour;
    if (seconds < -1)
        return duration_written(out, snprintf(out, KC_DURATION_TEXT, "<invalid>"));
    if (seconds < 60)
        return duration_put_one(out, KC_MAX(seconds, (int64_t)0), 's');
    if (hours < 1)
        return duration_put_one(out, ns / minute, 'm');
    if (hours < 24)
        return duration_put_one(out, hours, 'h');
    if (hours < 24 * 365)
        return duration_put_one(out, hours / 24, 'd');
    return duration_put_one(out, hours / 24 / 365, 'y');
}
