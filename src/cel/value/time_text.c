/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_text.c: timestamps and durations as text: RFC 3339 and Go's duration syntax.
 *
 * A timestamp covers the years 1 to 9999, more than kc_time, so it has functions of its own. It
 * keeps the offset it was written with; string(t) prints it with that offset, as cel-go does.
 */
#include "cel/eval/eval_internal.h"
#include "cel/value/time_internal.h"

#include "kc/ascii.h"
#include "kc/duration.h"
#include "kc/number.h"

#include <stdio.h>

int64_t kc__cel_days_from_civil(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

kc__cel_civil kc__cel_civil_of(int64_t seconds)
{
    int64_t days = seconds / 86400, rest = seconds % 86400;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    kc__cel_civil c = {.day = (int)(of_year - (153 * month + 2) / 5 + 1),
                       .month = (int)(month < 10 ? month + 3 : month - 9)};
    c.year = year + era * 400 + (c.month <= 2);
    c.hour = (int)(rest / 3600);
    c.minute = (int)(rest / 60 % 60);
    c.second = (int)(rest % 60);
    c.weekday = (int)(((days + 4) % 7 + 7) % 7);
    c.yearday = (int)(days - kc__cel_days_from_civil(c.year, 1, 1));
    return c;
}

static int days_in_month(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* ---- parsing ---- */

typedef struct time_scanner {
    kc_str rest;
    bool ok;
} time_scanner;

static int take_digits(time_scanner *s, size_t n)
{
    int value = 0;
    if (s->rest.n < n)
        s->ok = false;
    for (size_t i = 0; i < n && s->ok; i++) {
        if (!kc_is_digit(s->rest.p[i]))
            s->ok = false;
        value = value * 10 + (s->rest.p[i] - '0');
    }
    s->rest = kc_str_sub(s->rest, n, s->rest.n);
    return s->ok ? value : 0;
}

static void take_char(time_scanner *s, char c)
{
    if (!s->rest.n || s->rest.p[0] != c)
        s->ok = false;
    s->rest = kc_str_sub(s->rest, 1, s->rest.n);
}

static int64_t take_date(time_scanner *s)
{
    int year = take_digits(s, 4);
    take_char(s, '-');
    int month = take_digits(s, 2);
    take_char(s, '-');
    int day = take_digits(s, 2);
    if (!s->ok || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
        s->ok = false;
    return s->ok ? kc__cel_days_from_civil(year, month, day) * 86400 : 0;
}

static int64_t take_clock(time_scanner *s)
{
    /* Go accepts an hour of one digit. */
    bool short_hour = s->rest.n > 1 && s->rest.p[1] == ':';
    int hour = take_digits(s, short_hour ? 1 : 2);
    take_char(s, ':');
    int minute = take_digits(s, 2);
    take_char(s, ':');
    int second = take_digits(s, 2);
    if (hour > 23 || minute > 59 || second > 59)
        s->ok = false;
    return hour * 3600 + minute * 60 + second;
}

static uint32_t take_fraction(time_scanner *s)
{
    if (s->rest.n < 2 || (s->rest.p[0] != '.' && s->rest.p[0] != ',') || !kc_is_digit(s->rest.p[1]))
        return 0;
    uint32_t nanos = 0, unit = 100000000;
    size_t i = 1;
    for (; i < s->rest.n && kc_is_digit(s->rest.p[i]); i++, unit /= 10)
        nanos += (uint32_t)(s->rest.p[i] - '0') * unit;
    s->rest = kc_str_sub(s->rest, i, s->rest.n);
    return nanos;
}

static int take_zone(time_scanner *s)
{
    if (s->rest.n == 1 && s->rest.p[0] == 'Z') {
        s->rest = kc_str_sub(s->rest, 1, 1);
        return 0;
    }
    int sign = s->rest.n && s->rest.p[0] == '-' ? -1 : 1;
    if (!s->rest.n || (s->rest.p[0] != '+' && s->rest.p[0] != '-'))
        s->ok = false;
    s->rest = kc_str_sub(s->rest, 1, s->rest.n);
    int hours = take_digits(s, 2);
    take_char(s, ':');
    int minutes = take_digits(s, 2);
    if (hours > 24 || minutes > 60)
        s->ok = false;
    return sign * (hours * 60 + minutes);
}

kc_cel_value kc__cel_parse_timestamp(kc__cel_eval *ev, kc_str text, bool date)
{
    time_scanner s = {.rest = text, .ok = true};
    kc_cel_value time = {.kind = KC_CEL_TIMESTAMP};
    time.integer = take_date(&s);
    if (!date) {
        take_char(&s, 'T');
        time.integer += take_clock(&s);
        time.nanos = take_fraction(&s);
        time.zone = (int16_t)take_zone(&s);
        time.integer -= time.zone * 60;
    }
    if (!s.ok || s.rest.n)
        return kc__cel_error(ev, "Invalid %s formatted string %.*s", date ? "date" : "date-time",
                             KC_ARG(text));
    if (time.integer < KC__CEL_TIME_MIN || time.integer > KC__CEL_TIME_MAX)
        return kc__cel_error_const("timestamp overflow");
    return time;
}

kc_cel_value kc__cel_parse_duration(kc__cel_eval *ev, kc_str text)
{
    kc_cel_value duration = {.kind = KC_CEL_DURATION};
    if (kc_duration_parse(text, &duration.integer, NULL) < 0)
        return kc__cel_error(ev, "Invalid duration %.*s", KC_ARG(text));
    return duration;
}

/* ---- writing ---- */

void kc__cel_write_timestamp(kc_cel_value timestamp, kc_buf *out)
{
    kc__cel_civil c = kc__cel_civil_of(timestamp.integer + timestamp.zone * 60);
    kc_buf_printf(out, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)c.year, c.month, c.day, c.hour,
                  c.minute, c.second);
    if (timestamp.nanos) {
        char digits[16];
        int n = snprintf(digits, sizeof(digits), ".%09u", timestamp.nanos % 1000000000u);
        while (n > 1 && digits[n - 1] == '0')
            n--;
        kc_buf_append(out, kc_str_of(digits, (size_t)n));
    }
    int zone = timestamp.zone;
    if (!zone)
        kc_buf_putc(out, 'Z');
    else
        kc_buf_printf(out, "%c%02d:%02d", zone < 0 ? '-' : '+', abs(zone) / 60, abs(zone) % 60);
}

void kc__cel_write_duration(int64_t ns, kc_buf *out)
{
    /* As Go: seconds as a double, in the shortest text that means the same double. */
    double seconds = (double)(ns / 1000000000) + (double)(ns % 1000000000) / 1e9;
    if (seconds < 0)
        kc_buf_putc(out, '-');
    kc_digits digits = kc_double_digits(seconds, false);
    kc_digits_write(out, &digits);
    kc_buf_putc(out, 's');
}
