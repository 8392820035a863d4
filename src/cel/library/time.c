/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time.c: parts of timestamps and durations: getFullYear, getHours, …
 *
 * A time zone is an offset ("+02:00") or a name of the time zone database ("Europe/Berlin"), which
 * zone.c reads.
 */
#include "cel/eval/eval_internal.h"
#include "cel/library/zone_internal.h"
#include "cel/value/time_internal.h"

/* Seconds east of UTC; false with an error. */
static bool zone_offset(kc__cel_eval *ev, kc_str zone, int64_t seconds, int64_t *ret,
                        kc_cel_value *ret_error)
{
    ptrdiff_t colon = kc_str_find(zone, ':');
    if (colon < 0) {
        *ret = 0; /* The server's own zone is UTC. */
        if (kc_str_is(zone, "Local") ||
            kc__cel_zone_offset(&ev->zones, ev->arena, zone, seconds, ret))
            return true;
        *ret_error = kc__cel_error(ev, "unknown time zone %.*s", KC_ARG(zone));
        return false;
    }
    kc_str parts[] = {kc_str_sub(zone, 0, (size_t)colon),
                      kc_str_sub(zone, (size_t)colon + 1, zone.n)};
    int64_t numbers[2];
    for (size_t i = 0; i < 2; i++) {
        kc_str digits = parts[i];
        if (digits.n && digits.p[0] == '+')
            digits = kc_str_sub(digits, 1, digits.n);
        if (kc_str_to_i64(digits, &numbers[i]) && numbers[i] > -10000 && numbers[i] < 10000)
            continue;
        *ret_error =
            kc__cel_error(ev, "strconv.Atoi: parsing \"%.*s\": invalid syntax", KC_ARG(parts[i]));
        return false;
    }
    int64_t minutes = numbers[0] * 60 + (zone.p[0] == '-' ? -numbers[1] : numbers[1]);
    *ret = minutes * 60;
    return true;
}

typedef int64_t (*civil_part)(const kc__cel_civil *c);

static kc_cel_value time_part(kc__cel_eval *ev, const kc_cel_value *a, size_t n, civil_part part)
{
    int64_t offset = 0;
    kc_cel_value error;
    if (n > 1 && !zone_offset(ev, a[1].text, a[0].integer, &offset, &error))
        return error;
    kc__cel_civil c = kc__cel_civil_of(a[0].integer + offset);
    return kc__cel_int(part(&c));
}

#define CIVIL_PART(name, expression)                                                  \
    static int64_t name##_part(const kc__cel_civil *c)                                \
    {                                                                                 \
        return expression;                                                            \
    }                                                                                 \
    static kc_cel_value get_##name(kc__cel_eval *ev, const kc_cel_value *a, size_t n) \
    {                                                                                 \
        return time_part(ev, a, n, name##_part);                                      \
    }

CIVIL_PART(year, c->year)
CIVIL_PART(month, c->month - 1)
CIVIL_PART(day_of_year, c->yearday)
CIVIL_PART(day_of_month, c->day - 1)
CIVIL_PART(date, c->day)
CIVIL_PART(weekday, c->weekday)
CIVIL_PART(hours, c->hour)
CIVIL_PART(minutes, c->minute)
CIVIL_PART(seconds, c->second)

static kc_cel_value get_milliseconds(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    int64_t offset;
    kc_cel_value error;
    if (n > 1 && !zone_offset(ev, a[1].text, a[0].integer, &offset, &error))
        return error;
    return kc__cel_int(a[0].nanos / 1000000);
}

static kc_cel_value span_in(int64_t ns, int64_t unit)
{
    return kc__cel_int(ns / unit);
}

static kc_cel_value span_hours(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return span_in(a[0].integer, INT64_C(3600000000000));
}

static kc_cel_value span_minutes(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return span_in(a[0].integer, INT64_C(60000000000));
}

static kc_cel_value span_seconds(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return span_in(a[0].integer, 1000000000);
}

static kc_cel_value span_milliseconds(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return span_in(a[0].integer, 1000000);
}

#define TIME_ROW(function_, id_, impl_)                                             \
    {.function = function_,                                                         \
     .id = id_,                                                                     \
     .member = true,                                                                \
     .impl = impl_,                                                                 \
     .result = &kc__cel_type_int,                                                   \
     .args = {&kc__cel_type_timestamp}},                                            \
    {                                                                               \
        .function = function_, .id = id_ "_with_tz", .member = true, .impl = impl_, \
        .result = &kc__cel_type_int, .args = {                                      \
            &kc__cel_type_timestamp,                                                \
            &kc__cel_type_string                                                    \
        }                                                                           \
    }
#define SPAN_ROW(function_, id_, impl_)                                  \
    {                                                                    \
        .function = function_, .id = id_, .member = true, .impl = impl_, \
        .result = &kc__cel_type_int, .args = {                           \
            &kc__cel_type_duration                                       \
        }                                                                \
    }

static const kc__cel_overload overloads[] = {
    TIME_ROW("getFullYear", "timestamp_to_year", get_year),
    TIME_ROW("getMonth", "timestamp_to_month", get_month),
    TIME_ROW("getDayOfYear", "timestamp_to_day_of_year", get_day_of_year),
    TIME_ROW("getDayOfMonth", "timestamp_to_day_of_month", get_day_of_month),
    TIME_ROW("getDate", "timestamp_to_day_of_month_1_based", get_date),
    TIME_ROW("getDayOfWeek", "timestamp_to_day_of_week", get_weekday),
    TIME_ROW("getHours", "timestamp_to_hours", get_hours),
    SPAN_ROW("getHours", "duration_to_hours", span_hours),
    TIME_ROW("getMinutes", "timestamp_to_minutes", get_minutes),
    SPAN_ROW("getMinutes", "duration_to_minutes", span_minutes),
    TIME_ROW("getSeconds", "timestamp_to_seconds", get_seconds),
    SPAN_ROW("getSeconds", "duration_to_seconds", span_seconds),
    TIME_ROW("getMilliseconds", "timestamp_to_milliseconds", get_milliseconds),
    SPAN_ROW("getMilliseconds", "duration_to_milliseconds", span_milliseconds),
};

const kc__cel_library kc__cel_library_time = {overloads, KC_COUNT(overloads), KC__CEL_ALWAYS};
