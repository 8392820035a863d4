/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.c: conversions between types: int("5"), string(1.5), timestamp("…"), type(x).
 *
 * Numbers out of range are errors, never truncated or wrapped.
 */
#include "cel/eval/eval_internal.h"

#include "kc/ascii.h"
#include "kc/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

static kc_cel_value fail_conversion(kc__cel_eval *ev, const char *from, const char *to)
{
    return kc__cel_error(ev, "type conversion error from '%s' to '%s'", from, to);
}

static kc_cel_value same_value(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return a[0];
}

static kc_cel_value type_of(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return (kc_cel_value){.kind = KC_CEL_TYPE, .type = kc__cel_type_of_value(a[0])};
}

/* ---- to int ---- */

static kc_cel_value double_to_int(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    int64_t i;
    (void)ev, (void)n;
    return kc__cel_double_to_int(a[0].number, &i) ? kc__cel_int(i)
                                                  : kc__cel_error_const("integer overflow");
}

static kc_cel_value seconds_or_nanos(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_int(a[0].integer);
}

static kc_cel_value uint_to_int(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return a[0].natural <= INT64_MAX ? kc__cel_int((int64_t)a[0].natural)
                                     : kc__cel_error_const("integer overflow");
}

static kc_cel_value string_to_int(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    kc_str text = a[0].text;
    int64_t i;
    (void)n;
    if (text.n > 1 && text.p[0] == '+' && text.p[1] != '-')
        text = kc_str_sub(text, 1, text.n);
    return kc_str_to_i64(text, &i) ? kc__cel_int(i) : fail_conversion(ev, "string", "int");
}

/* ---- to uint ---- */

static kc_cel_value double_to_uint(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    uint64_t u;
    (void)ev, (void)n;
    return kc__cel_double_to_uint(a[0].number, &u)
               ? kc__cel_uint(u)
               : kc__cel_error_const("unsigned integer overflow");
}

static kc_cel_value int_to_uint(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return a[0].integer >= 0 ? kc__cel_uint((uint64_t)a[0].integer)
                             : kc__cel_error_const("unsigned integer overflow");
}

static kc_cel_value string_to_uint(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    uint64_t u;
    (void)n;
    return kc_str_to_u64(a[0].text, &u) ? kc__cel_uint(u) : fail_conversion(ev, "string", "uint");
}

/* ---- to double ---- */

static kc_cel_value int_to_double(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_double((double)a[0].integer);
}

static kc_cel_value uint_to_double(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_double((double)a[0].natural);
}

/* Infinity and NaN as Go's ParseFloat accepts them. */
static bool parse_special(kc_str text, double *ret)
{
    bool negative = text.n && text.p[0] == '-';
    bool sign = negative || (text.n && text.p[0] == '+');
    kc_str word = kc_str_sub(text, sign, text.n);
    if (kc_str_eq_nocase(word, KC_STR("inf")) || kc_str_eq_nocase(word, KC_STR("infinity")))
        *ret = negative ? -INFINITY : INFINITY;
    else if (!sign && kc_str_eq_nocase(word, KC_STR("nan")))
        *ret = NAN;
    else
        return false;
    return true;
}

static bool parse_double(kc_str text, double *ret)
{
    static const char allowed[] = "0123456789+-.eExXpPaAbBcCdDfF";
    if (parse_special(text, ret))
        return true;
    for (size_t i = 0; i < text.n; i++)
        if (!text.p[i] || !strchr(allowed, text.p[i]))
            return false;
    kc_autofree char *copy = kc_str_dup(text);
    bool hex = strchr(copy, 'x') || strchr(copy, 'X');
    if (hex && !strchr(copy, 'p') && !strchr(copy, 'P'))
        return false;
    char *end;
    *ret = strtod(copy, &end);
    return text.n && !*end && !isinf(*ret);
}

static kc_cel_value string_to_double(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    double d;
    (void)n;
    return parse_double(a[0].text, &d) ? kc__cel_double(d)
                                       : fail_conversion(ev, "string", "double");
}

/* ---- to bool ---- */

static kc_cel_value string_to_bool(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True", NULL};
    static const char *const no[] = {"0", "f", "F", "FALSE", "false", "False", NULL};
    (void)n;
    if (kc_str_is_any(a[0].text, yes) || kc_str_is_any(a[0].text, no))
        return kc__cel_bool(kc_str_is_any(a[0].text, yes));
    return fail_conversion(ev, "string", "bool");
}

/* ---- to string and bytes ---- */

static kc_cel_value value_to_string(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    kc_scoped(kc_buf) text = {0};
    (void)n;
    if (a[0].kind == KC_CEL_TIMESTAMP)
        kc__cel_write_timestamp(a[0], &text);
    else if (a[0].kind == KC_CEL_DURATION)
        kc__cel_write_duration(a[0].integer, &text);
    else
        kc__cel_write_plain(a[0], &text);
    return kc__cel_copy_text(ev, KC_CEL_STRING, kc_buf_str(&text));
}

static kc_cel_value bytes_to_string(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    if (!kc_utf8_is_valid(a[0].text))
        return kc__cel_error_const("invalid UTF-8 in bytes, cannot convert to string");
    return kc__cel_text(a[0].text);
}

static kc_cel_value string_to_bytes(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return (kc_cel_value){.kind = KC_CEL_BYTES, .text = a[0].text};
}

/* ---- to duration and timestamp ---- */

static kc_cel_value int_to_duration(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)a, (void)n;
    return fail_conversion(ev, "int", "google.protobuf.Duration");
}

static kc_cel_value string_to_duration(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)n;
    kc_cel_value duration = kc__cel_parse_duration(ev, a[0].text);
    return kc__cel_is_error(duration) ? fail_conversion(ev, "string", "google.protobuf.Duration")
                                      : duration;
}

static kc_cel_value int_to_timestamp(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    if (a[0].integer < KC__CEL_TIME_MIN || a[0].integer > KC__CEL_TIME_MAX)
        return kc__cel_error_const("timestamp overflow");
    return (kc_cel_value){.kind = KC_CEL_TIMESTAMP, .integer = a[0].integer};
}

static kc_cel_value string_to_timestamp(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)n;
    kc_cel_value time = kc__cel_parse_timestamp(ev, a[0].text, false);
    if (!kc__cel_is_error(time))
        return time;
    return kc_str_is(time.text, "timestamp overflow")
               ? time
               : fail_conversion(ev, "string", "google.protobuf.Timestamp");
}

static uint64_t text_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return kc__cel_cost_factor(kc__cel_size(a[0]), KC__CEL_STRING_FACTOR);
}

/* A character takes one to four bytes. */
static kc__cel_estimate estimate_to_bytes(const kc__cel_estimate_args *args)
{
    kc_cel_cost size = args->sizes[0];
    kc__cel_estimate estimate = kc__cel_estimate_traversal(size);
    estimate.has_size = true;
    estimate.size = kc__cel_range(size.min, size.max * 4);
    return estimate;
}

static kc__cel_estimate estimate_to_string(const kc__cel_estimate_args *args)
{
    kc_cel_cost size = args->sizes[0];
    kc__cel_estimate estimate = kc__cel_estimate_traversal(size);
    estimate.has_size = true;
    estimate.size = kc__cel_range(size.min / 4, size.max);
    return estimate;
}

#define CONVERT(function_, id_, impl_, to, from, cost) \
    {.function = function_,                            \
     .id = id_,                                        \
     .impl = impl_,                                    \
     .result = &kc__cel_type_##to,                     \
     .args = {&kc__cel_type_##from},                   \
     .actual = cost}

static const kc__cel_overload overloads[] = {
    CONVERT("type", "type", type_of, type_a, a, NULL),
    CONVERT("bool", "bool_to_bool", same_value, bool, bool, NULL),
    CONVERT("bool", "string_to_bool", string_to_bool, bool, string, NULL),
    CONVERT("bytes", "bytes_to_bytes", same_value, bytes, bytes, NULL),
    {.function = "bytes",
     .id = "string_to_bytes",
     .impl = string_to_bytes,
     .result = &kc__cel_type_bytes,
     .args = {&kc__cel_type_string},
     .actual = text_cost,
     .estimate = estimate_to_bytes},
    CONVERT("double", "double_to_double", same_value, double, double, NULL),
    CONVERT("double", "int64_to_double", int_to_double, double, int, NULL),
    CONVERT("double", "string_to_double", string_to_double, double, string, NULL),
    CONVERT("double", "uint64_to_double", uint_to_double, double, uint, NULL),
    CONVERT("duration", "duration_to_duration", same_value, duration, duration, NULL),
    CONVERT("duration", "int64_to_duration", int_to_duration, duration, int, NULL),
    CONVERT("duration", "string_to_duration", string_to_duration, duration, string, NULL),
    CONVERT("dyn", "to_dyn", same_value, dyn, a, NULL),
    CONVERT("int", "int64_to_int64", same_value, int, int, NULL),
    CONVERT("int", "double_to_int64", double_to_int, int, double, NULL),
    CONVERT("int", "duration_to_int64", seconds_or_nanos, int, duration, NULL),
    CONVERT("int", "string_to_int64", string_to_int, int, string, NULL),
    CONVERT("int", "timestamp_to_int64", seconds_or_nanos, int, timestamp, NULL),
    CONVERT("int", "uint64_to_int64", uint_to_int, int, uint, NULL),
    CONVERT("string", "string_to_string", same_value, string, string, NULL),
    CONVERT("string", "bool_to_string", value_to_string, string, bool, NULL),
    {.function = "string",
     .id = "bytes_to_string",
     .impl = bytes_to_string,
     .result = &kc__cel_type_string,
     .args = {&kc__cel_type_bytes},
     .actual = text_cost,
     .estimate = estimate_to_string},
    CONVERT("string", "double_to_string", value_to_string, string, double, NULL),
    CONVERT("string", "duration_to_string", value_to_string, string, duration, NULL),
    CONVERT("string", "int64_to_string", value_to_string, string, int, NULL),
    CONVERT("string", "timestamp_to_string", value_to_string, string, timestamp, NULL),
    CONVERT("string", "uint64_to_string", value_to_string, string, uint, NULL),
    CONVERT("timestamp", "timestamp_to_timestamp", same_value, timestamp, timestamp, NULL),
    CONVERT("timestamp", "int64_to_timestamp", int_to_timestamp, timestamp, int, NULL),
    CONVERT("timestamp", "string_to_timestamp", string_to_timestamp, timestamp, string, NULL),
    CONVERT("uint", "uint64_to_uint64", same_value, uint, uint, NULL),
    CONVERT("uint", "double_to_uint64", double_to_uint, uint, double, NULL),
    CONVERT("uint", "int64_to_uint64", int_to_uint, uint, int, NULL),
    CONVERT("uint", "string_to_uint64", string_to_uint, uint, string, NULL),
};

const kc__cel_library kc__cel_library_convert = {overloads, KC_COUNT(overloads), KC__CEL_ALWAYS};
