/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_time.c: validates dates, timestamps and durations. Kubernetes matches the second part of a
 * timestamp with a pattern whose dot matches any character; a duration is Go's ("1h30m") or, if
 * that fails, any text that contains a number and a unit ("about 2 days"). Both are preserved.
 */
#include "kc/ascii.h"
#include "kc/utf8.h"
#include "object/schema/schema_internal.h"

/* Removes n digits from the front. */
static bool cut_digits(kc_str *text, size_t n, unsigned *ret)
{
    unsigned number = 0;
    if (text->n < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!kc_is_digit(text->p[i]))
            return false;
        number = number * 10 + (unsigned)(text->p[i] - '0');
    }
    *text = kc_str_sub(*text, n, text->n);
    *ret = number;
    return true;
}

static bool cut_char(kc_str *text, char c)
{
    bool there = text->n && text->p[0] == c;
    if (there)
        *text = kc_str_sub(*text, 1, text->n);
    return there;
}

bool kc__schema_is_date(kc_str text)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned year, month, day;
    if (!cut_digits(&text, 4, &year) || !cut_char(&text, '-') || !cut_digits(&text, 2, &month) ||
        !cut_char(&text, '-') || !cut_digits(&text, 2, &day) || text.n || !month || month > 12)
        return false;
    bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);
    return day >= 1 && day <= days[month - 1] + (month == 2 && leap ? 1u : 0u);
}

/* z, or +hh:mm. */
static bool is_offset(kc_str text)
{
    unsigned hours, minutes;
    if (text.n == 1)
        return text.p[0] == 'z' || text.p[0] == 'Z';
    return (cut_char(&text, '+') || cut_char(&text, '-')) && cut_digits(&text, 2, &hours) &&
           cut_char(&text, ':') && cut_digits(&text, 2, &minutes) && !text.n;
}

/* Without a fraction's separator and digits, if there are any: the separator may be any character.
 */
static kc_str without_fraction(kc_str text)
{
    size_t mark = text.n && text.p[0] != '\n' ? kc_utf8_next(text, NULL) : 0;
    size_t n = mark;
    while (mark && n < text.n && kc_is_digit(text.p[n]))
        n++;
    return n > mark ? kc_str_sub(text, n, text.n) : text;
}

bool kc__schema_is_datetime(kc_str text)
{
    size_t t = 0;
    unsigned hour, minute, second;
    while (t < text.n && text.p[t] != 't' && text.p[t] != 'T')
        t++;
    if (t == text.n || !kc__schema_is_date(kc_str_sub(text, 0, t)))
        return false;
    kc_str time = kc_str_sub(text, t + 1, text.n);
    for (size_t i = 0; i < time.n; i++)
        if (time.p[i] == 't' || time.p[i] == 'T')
            time.n = i;
    if (!cut_digits(&time, 2, &hour) || !cut_char(&time, ':') || !cut_digits(&time, 2, &minute) ||
        !cut_char(&time, ':') || !cut_digits(&time, 2, &second))
        return false;
    return hour <= 23 && minute <= 59 && second <= 59 &&
           (is_offset(time) || is_offset(without_fraction(time)));
}

typedef struct schema_format_time_unit {
    const char *name;
    double nanoseconds;
} schema_format_time_unit;

static const schema_format_time_unit go_units[] = {
    {"ns", 1},   {"us", 1e3}, {"\u00b5s", 1e3}, {"\u03bcs", 1e3},
    {"ms", 1e6}, {"s", 1e9},  {"m", 60e9},      {"h", 3600e9},
};

static const schema_format_time_unit *go_unit(kc_str name)
{
    for (size_t i = 0; i < KC_COUNT(go_units); i++)
        if (kc_str_is(name, go_units[i].name))
            return &go_units[i];
    return NULL;
}

/* Removes digits with a fraction and a unit from the front. */
static bool cut_go_part(kc_str *text, double *total)
{
    size_t n = 0, digits = 0, unit_at;
    double number = 0, scale = 1;
    bool fraction = false;
    for (; n < text->n && (kc_is_digit(text->p[n]) || (text->p[n] == '.' && !fraction)); n++) {
        if (text->p[n] == '.') {
            fraction = true;
            continue;
        }
        digits++;
        scale = fraction ? scale / 10 : 1;
        number = fraction ? number + scale * (text->p[n] - '0') : number * 10 + (text->p[n] - '0');
    }
    for (unit_at = n; n < text->n && text->p[n] != '.' && !kc_is_digit(text->p[n]); n++)
        ;
    const schema_format_time_unit *found = go_unit(kc_str_sub(*text, unit_at, n));
    if (!digits || !found)
        return false;
    *total += number * found->nanoseconds;
    *text = kc_str_sub(*text, n, text->n);
    return true;
}

static bool is_go_duration(kc_str text)
{
    double total = 0;
    if (!cut_char(&text, '-'))
        cut_char(&text, '+');
    if (kc_str_is(text, "0"))
        return true;
    if (!text.n)
        return false;
    while (text.n)
        if (!cut_go_part(&text, &total) || total >= 0x1p63)
            return false;
    return true;
}

/* A unit of the other syntax: its whole name, or a prefix of its long name. */
static bool is_loose_unit(kc_str name)
{
    static const char *const whole[] = {"ns", "us", "\u00b5s", "ms", "s", "m",
                                        "h",  "hr", "d",       "w",  "wk"};
    static const char *const begins[] = {"nano", "micro", "milli", "sec",
                                         "min",  "hour",  "day",   "week"};
    for (size_t i = 0; i < KC_COUNT(whole); i++)
        if (kc_str_eq_nocase(name, kc_cstr(whole[i])))
            return true;
    for (size_t i = 0; i < KC_COUNT(begins); i++) {
        size_t n = strlen(begins[i]);
        if (name.n >= n && kc_str_eq_nocase(kc_str_of(name.p, n), kc_cstr(begins[i])))
            return true;
    }
    return false;
}

/* Bytes of a letter of a unit's name at p; 0 when it is not one. */
static size_t unit_letter(const char *p, size_t left)
{
    if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z'))
        return 1;
    return left >= 2 && !memcmp(p, "\u00b5", 2) ? 2 : 0;
}

/* The end of a unit's name at `from`, after blanks; 0 when there is none. */
static size_t unit_after(kc_str text, size_t from, kc_str *ret_name)
{
    while (from < text.n && text.p[from] && strchr(" \t\n\f\r", text.p[from]))
        from++;
    size_t end = from;
    for (size_t step; end < text.n && (step = unit_letter(text.p + end, text.n - end));)
        end += step;
    *ret_name = kc_str_sub(text, from, end);
    return end > from ? end : 0;
}

static bool is_loose_duration(kc_str text)
{
    bool found = false;
    for (size_t i = 0, digits; i < text.n;) {
        kc_str name;
        int64_t number;
        for (digits = 0; i < text.n && kc_is_digit(text.p[i]); i++)
            digits++;
        size_t end = digits ? unit_after(text, i, &name) : 0;
        if (end && !kc_str_to_i64(kc_str_sub(text, i - digits, i), &number))
            return false;
        found |= end && is_loose_unit(name);
        i = end ? end : i + !digits;
    }
    return found;
}

bool kc__schema_is_duration(kc_str text)
{
    return is_go_duration(text) || is_loose_duration(text);
}
