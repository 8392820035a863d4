/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time.c: parses and formats timestamps.
 *
 * Text is first converted to a `moment`, seconds and nanoseconds that cover all years of four
 * digits; only kc_time_parse narrows that to the 64 bits of a kc_time. The parser follows Go's
 * layout element by element, so that its message about an invalid element equals Go's: clients and
 * tests compare these messages.
 *
 * Days are counted in years that begin in March, which puts the leap day at the end and makes the
 * lengths of months linear: (153 * month + 2) / 5 days precede a month.
 */
#include "kc/time.h"

#include "object/gofmt/go_quote.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

enum { SECONDS_A_DAY = 24 * 60 * 60, NS_A_SECOND = 1000 * 1000 * 1000 };

typedef struct time_moment {
    int64_t seconds; /* Since 1970. */
    int64_t ns;      /* 0 to 999,999,999. */
} time_moment;

typedef struct time_reader {
    kc_str text, rest;
    bool micro;
    kc_error *err;
    int year, month, day, hour, minute, second, ns, offset;
} time_reader;

/* Floor of a / b and the remainder, for b > 0. */
static int64_t divide(int64_t a, int64_t b, int64_t *ret_left)
{
    int64_t left = a % b;
    *ret_left = left < 0 ? left + b : left;
    return a / b - (left < 0);
}

static int64_t days_before(int year, int month, int day)
{
    int64_t shifted = month <= 2 ? year - 1 : year, of_era;
    int64_t era = divide(shifted, 400, &of_era);
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return era * 146097 + days - 719468; /* 1970-01-01 is this many days after 0000-03-01. */
}

static void date_of(int64_t days, int64_t *year, int *month, int *day)
{
    int64_t of_era, era = divide(days + 719468, 146097, &of_era);
    int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
    int64_t march_month = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * march_month + 2) / 5 + 1);
    *month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
    *year = era * 400 + years + (*month <= 2);
}

static int days_in(int month, int year)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

static const char *layout(const time_reader *r)
{
    return r->micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
}

static int cannot_parse(time_reader *r, kc_str rest, const char *element)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_buf) part = {0};
    kc__go_quote_bytes(&text, r->text);
    kc__go_quote_bytes(&part, rest);
    return kc_error_set(r->err, KC_BAD_REQUEST,
                        "parsing time %s as \"%s\": cannot parse %s as \"%s\"", kc_buf_cstr(&text),
                        layout(r), kc_buf_cstr(&part), element);
}

static int time_wrong(time_reader *r, const char *what)
{
    kc_scoped(kc_buf) text = {0};
    kc__go_quote_bytes(&text, r->text);
    return kc_error_set(r->err, KC_BAD_REQUEST, "parsing time %s: %s", kc_buf_cstr(&text), what);
}

static bool digit_at(kc_str s, size_t at)
{
    return at < s.n && s.p[at] >= '0' && s.p[at] <= '9';
}

static size_t count_digits(kc_str s)
{
    size_t n = 0;
    while (digit_at(s, n))
        n++;
    return n;
}

static int time_number_of(const char *p, size_t n)
{
    int number = 0;
    for (size_t i = 0; i < n; i++)
        number = number * 10 + (p[i] - '0');
    return number;
}

static void time_skip(time_reader *r, size_t n)
{
    r->rest = kc_str_sub(r->rest, n, r->rest.n);
}

/* A character, then a number of `n` digits; an hour may have one less. */
static int time_take(time_reader *r, const char *before, size_t n, const char *element, int *ret)
{
    size_t n_before = strlen(before);
    if (!kc_str_starts(r->rest, kc_cstr(before)))
        return cannot_parse(r, r->rest, before);
    time_skip(r, n_before);
    size_t digits = KC_MIN(count_digits(r->rest), n);
    bool short_hour = digits == 1 && ret == &r->hour;
    if (digits < n && !short_hour)
        return cannot_parse(r, r->rest, element);
    *ret = time_number_of(r->rest.p, digits);
    time_skip(r, digits);
    return 0;
}

static int take_fraction(time_reader *r)
{
    bool point = r->rest.n && (r->rest.p[0] == '.' || r->rest.p[0] == ',');
    kc_str digits = kc_str_sub(r->rest, 1, r->rest.n);
    size_t n = point ? count_digits(digits) : 0;
    if (r->micro) {
        if (n < 6)
            return cannot_parse(r, r->rest, ".000000");
        n = 6;
    }
    if (n == 0)
        return 0;
    size_t kept = KC_MIN(n, (size_t)9);
    r->ns = time_number_of(digits.p, kept);
    for (; kept < 9; kept++)
        r->ns *= 10;
    time_skip(r, n + 1);
    return 0;
}

/* Go allows 24 hours and 60 minutes, "as some people do write" them. */
static int take_offset(time_reader *r)
{
    kc_str s = r->rest;
    if (s.n && s.p[0] == 'Z') {
        time_skip(r, 1);
        return 0;
    }
    bool shape = s.n >= 6 && (s.p[0] == '+' || s.p[0] == '-') && digit_at(s, 1) && digit_at(s, 2) &&
                 s.p[3] == ':' && digit_at(s, 4) && digit_at(s, 5);
    if (!shape)
        return cannot_parse(r, s, "Z07:00");
    int hours = time_number_of(s.p + 1, 2), minutes = time_number_of(s.p + 4, 2);
    if (hours > 24)
        return time_wrong(r, "time zone offset hour out of range");
    if (minutes > 60)
        return time_wrong(r, "time zone offset minute out of range");
    r->offset = (s.p[0] == '-' ? -60 : 60) * (hours * 60 + minutes);
    time_skip(r, 6);
    return 0;
}

static int take_date(time_reader *r)
{
    int e;
    if ((e = time_take(r, "", 4, "2006", &r->year)) < 0 ||
        (e = time_take(r, "-", 2, "01", &r->month)) < 0)
        return e;
    if (r->month < 1 || r->month > 12)
        return time_wrong(r, "month out of range");
    return time_take(r, "-", 2, "02", &r->day);
}

static int take_time(time_reader *r)
{
    int e;
    if ((e = time_take(r, "T", 2, "15", &r->hour)) < 0)
        return e;
    if (r->hour > 23)
        return time_wrong(r, "hour out of range");
    if ((e = time_take(r, ":", 2, "04", &r->minute)) < 0)
        return e;
    if (r->minute > 59)
        return time_wrong(r, "minute out of range");
    if ((e = time_take(r, ":", 2, "05", &r->second)) < 0)
        return e;
    if (r->second > 59)
        return time_wrong(r, "second out of range");
    return take_fraction(r);
}

static int read_moment(kc_str text, bool micro, time_moment *ret, kc_error *err)
{
    time_reader r = {.text = text, .rest = text, .micro = micro, .err = err};
    int e;
    if ((e = take_date(&r)) < 0 || (e = take_time(&r)) < 0 || (e = take_offset(&r)) < 0)
        return e;
    if (r.rest.n) {
        kc_scoped(kc_buf) what = {0};
        kc_buf_puts(&what, "extra text: ");
        kc__go_quote_bytes(&what, r.rest);
        return time_wrong(&r, kc_buf_cstr(&what));
    }
    if (r.day < 1 || r.day > days_in(r.month, r.year))
        return time_wrong(&r, "day out of range");
    ret->seconds = days_before(r.year, r.month, r.day) * SECONDS_A_DAY + r.hour * 3600 +
                   r.minute * 60 + r.second - r.offset;
    ret->ns = r.ns;
    return 0;
}

static int time_parse(kc_str text, bool micro, kc_time *ret, kc_error *err)
{
    time_moment m;
    int64_t ns;
    int e = read_moment(text, micro, &m, err);
    if (e < 0)
        return e;
    /* Seconds before 1970 are rounded down; adding 1 keeps the last whole one in range. */
    bool before = m.seconds < 0;
    if (__builtin_mul_overflow(m.seconds + before, (int64_t)NS_A_SECOND, &ns) ||
        __builtin_add_overflow(ns, m.ns - before * (int64_t)NS_A_SECOND, &ns)) {
        time_reader r = {.text = text, .err = err};
        return time_wrong(&r, "years before 1678 and after 2261 are out of range");
    }
    *ret = ns;
    return 0;
}

int kc_time_parse(kc_str text, kc_time *ret, kc_error *err)
{
    return time_parse(text, false, ret, err);
}

int kc_time_parse_micro(kc_str text, kc_time *ret, kc_error *err)
{
    return time_parse(text, true, ret, err);
}

/* Writes a number with leading zeros; returns the end. */
static char *put_digits(char *out, int64_t number, int n)
{
    for (int i = n - 1; i >= 0; i--, number /= 10)
        out[i] = (char)('0' + number % 10);
    return out + n;
}

static char *put_after(char *out, char separator, int64_t number, int n)
{
    *out = separator;
    return put_digits(out + 1, number, n);
}

/* False when the year does not have four digits. */
static bool print(time_moment m, bool micro, char out[KC_TIME_TEXT], kc_str *ret)
{
    int64_t of_day, days = divide(m.seconds, SECONDS_A_DAY, &of_day), year;
    int month, day;
    date_of(days, &year, &month, &day);
    if (year < 0 || year > 9999)
        return false;
    char *to = put_digits(out, year, 4);
    to = put_after(to, '-', month, 2);
    to = put_after(to, '-', day, 2);
    to = put_after(to, 'T', of_day / 3600, 2);
    to = put_after(to, ':', of_day / 60 % 60, 2);
    to = put_after(to, ':', of_day % 60, 2);
    if (micro)
        to = put_after(to, '.', m.ns / 1000, 6);
    *to++ = 'Z';
    *to = '\0';
    *ret = kc_str_of(out, (size_t)(to - out));
    return true;
}

static kc_str print_time(kc_time time, bool micro, char out[KC_TIME_TEXT])
{
    time_moment m;
    kc_str text;
    m.seconds = divide(time, NS_A_SECOND, &m.ns);
    bool ok = print(m, micro, out, &text);
    assert(ok);
    return ok ? text : (kc_str){0};
}

kc_str kc_time_print(kc_time time, char out[KC_TIME_TEXT])
{
    return print_time(time, false, out);
}

kc_str kc_time_print_micro(kc_time time, char out[KC_TIME_TEXT])
{
    return print_time(time, true, out);
}

static int rewrite(kc_str text, bool micro, char out[KC_TIME_TEXT], kc_str *ret, kc_error *err)
{
    time_moment m;
    int e = read_moment(text, micro, &m, err);
    if (e < 0)
        return e;
    if (m.seconds == days_before(1, 1, 1) * SECONDS_A_DAY && m.ns == 0) {
        *ret = (kc_str){0};
        return 0;
    }
    if (!print(m, micro, out, ret)) {
        time_reader r = {.text = text, .err = err};
        return time_wrong(&r, "in UTC it lies outside the years 0 to 9999");
    }
    return 0;
}

int kc_time_rewrite(kc_str text, char out[KC_TIME_TEXT], kc_str *ret, kc_error *err)
{
    return rewrite(text, false, out, ret, err);
}

int kc_time_rewrite_micro(kc_str text, char out[KC_TIME_TEXT], kc_str *ret, kc_error *err)
{
    return rewrite(text, true, out, ret, err);
}

kc_str kc_time_age(kc_str timestamp, kc_time now, char out[KC_DURATION_TEXT])
{
    kc_time then;
    int64_t age;
    if (kc_time_parse(timestamp, &then, NULL) < 0)
        return kc_str_of(out, (size_t)snprintf(out, KC_DURATION_TEXT, "<unknown>"));
    if (__builtin_sub_overflow(now, then, &age))
        age = now > then ? INT64_MAX : INT64_MIN;
    return kc_duration_human(age, out);
}
