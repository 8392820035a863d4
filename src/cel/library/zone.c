/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zone.c: offsets of named time zones, from the files of the time zone database (RFC 8536).
 *
 * A file has transitions: from a second on, a certain offset. The part with 64-bit times is used.
 * Times behind the last transition follow a rule in POSIX notation at the end of the file, which
 * covers daylight saving time of the future.
 *
 * Names are checked before they become a path: no empty, hidden or parent components.
 */
#include "cel/library/zone_internal.h"

#include "cel/value/time_internal.h"
#include "kc/ascii.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { ZONE_FILE_MAX = 64 * 1024, HEADER = 44 };

static bool valid_zone_name(kc_str name)
{
    if (!name.n || name.n > 64 || name.p[0] == '/' || name.p[0] == '.')
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool allowed = kc_is_alnum(c) || c == '_' || c == '-' || c == '+' ||
                       (c == '/' && i + 1 < name.n && name.p[i + 1] != '/');
        if (!allowed)
            return false;
    }
    return true;
}

static size_t read_zone_file(kc_str name, unsigned char *out)
{
    char path[128];
    snprintf(path, sizeof(path), "/usr/share/zoneinfo/%.*s", KC_ARG(name));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t n = 0;
    for (ssize_t got; n < ZONE_FILE_MAX && (got = read(fd, out + n, ZONE_FILE_MAX - n)) > 0;)
        n += (size_t)got;
    close(fd);
    return n;
}

static uint32_t big_u32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t big_i64(const unsigned char *p)
{
    return (int64_t)((uint64_t)big_u32(p) << 32 | big_u32(p + 4));
}

typedef struct zone_block {
    const unsigned char *times, *types, *infos, *end;
    uint32_t n_times, n_types;
} zone_block;

/* One block of a file: `width` is the size of its times. */
static bool read_block(const unsigned char *p, const unsigned char *end, size_t width,
                       zone_block *ret)
{
    if (end - p < HEADER || memcmp(p, "TZif", 4) != 0)
        return false;
    uint64_t n_isut = big_u32(p + 20), n_isstd = big_u32(p + 24), n_leap = big_u32(p + 28);
    uint64_t n_times = big_u32(p + 32), n_types = big_u32(p + 36), n_chars = big_u32(p + 40);
    uint64_t size =
        n_times * (width + 1) + n_types * 6 + n_chars + n_leap * (width + 4) + n_isstd + n_isut;
    if (size > (uint64_t)(end - p - HEADER) || !n_types)
        return false;
    ret->times = p + HEADER;
    ret->types = ret->times + n_times * width;
    ret->infos = ret->types + n_times;
    ret->end = p + HEADER + size;
    ret->n_times = (uint32_t)n_times;
    ret->n_types = (uint32_t)n_types;
    return true;
}

static int64_t offset_of_type(const zone_block *b, unsigned type)
{
    return type < b->n_types ? (int32_t)big_u32(b->infos + (size_t)type * 6) : 0;
}

/* ---- the rule at the end of a file: CET-1CEST,M3.5.0,M10.5.0/3 ---- */

typedef struct rule_scanner {
    const char *p;
} rule_scanner;

static void skip_zone_abbreviation(rule_scanner *s)
{
    if (*s->p == '<') {
        while (*s->p && *s->p != '>')
            s->p++;
        s->p += *s->p == '>';
        return;
    }
    while ((kc_lower(*s->p) >= 'a' && kc_lower(*s->p) <= 'z'))
        s->p++;
}

static int rule_number(rule_scanner *s)
{
    int n = 0;
    while (kc_is_digit(*s->p) && n < 100000)
        n = n * 10 + (*s->p++ - '0');
    return n;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static int64_t rule_clock(rule_scanner *s)
{
    int sign = *s->p == '-' ? -1 : 1;
    if (*s->p == '-' || *s->p == '+')
        s->p++;
    int64_t seconds = rule_number(s) * 3600;
    for (int unit = 60; *s->p == ':' && unit; unit /= 60) {
        s->p++;
        seconds += rule_number(s) * unit;
    }
    return sign * seconds;
}

/* The second of a year at which a rule applies, in local time before the change. */
static int64_t rule_second(rule_scanner *s, int64_t year)
{
    int64_t day = 0, start = kc__cel_days_from_civil(year, 1, 1);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (*s->p == ',')
        s->p++;
    if (*s->p == 'M') {
        s->p++;
        int month = rule_number(s);
        s->p += *s->p == '.';
        int week = rule_number(s);
        s->p += *s->p == '.';
        int weekday = rule_number(s);
        month = KC_MIN(KC_MAX(month, 1), 12);
        int64_t first = kc__cel_days_from_civil(year, month, 1);
        int64_t next = month == 12 ? kc__cel_days_from_civil(year + 1, 1, 1)
                                   : kc__cel_days_from_civil(year, month + 1, 1);
        int64_t first_weekday = ((first + 4) % 7 + 7) % 7;
        day = first + (weekday - first_weekday + 7) % 7 + (week - 1) * 7;
        while (day >= next)
            day -= 7;
    } else if (*s->p == 'J') {
        s->p++;
        int n = rule_number(s);
        day = start + n - 1 + (leap && n > 59);
    } else {
        day = start + rule_number(s);
    }
    int64_t clock = 7200;
    if (*s->p == '/') {
        s->p++;
        clock = rule_clock(s);
    }
    return day * 86400 + clock;
}

static int64_t offset_by_rule(const char *rule, int64_t seconds)
{
    rule_scanner s = {rule};
    skip_zone_abbreviation(&s);
    int64_t standard = -rule_clock(&s);
    if (!*s.p)
        return standard;
    skip_zone_abbreviation(&s);
    int64_t summer = standard + 3600;
    if (*s.p && *s.p != ',')
        summer = -rule_clock(&s);
    int64_t year = kc__cel_civil_of(seconds + standard).year;
    int64_t begin = rule_second(&s, year) - standard;
    int64_t end = rule_second(&s, year) - summer;
    bool in_summer =
        begin < end ? seconds >= begin && seconds < end : seconds >= begin || seconds < end;
    return in_summer ? summer : standard;
}

/* ---- lookup ---- */

static int64_t offset_in_block(const zone_block *b, int64_t seconds)
{
    uint32_t lo = 0, hi = b->n_times;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (big_i64(b->times + (size_t)mid * 8) <= seconds)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo)
        return offset_of_type(b, b->types[lo - 1]);
    /* Before the first transition: the first type that is not daylight saving time. */
    for (uint32_t type = 0; type < b->n_types; type++)
        if (!b->infos[(size_t)type * 6 + 4])
            return offset_of_type(b, type);
    return offset_of_type(b, 0);
}

static bool offset_in_file(const unsigned char *file, size_t n, int64_t seconds, int64_t *ret)
{
    const unsigned char *end = file + n;
    zone_block first, block;
    if (!read_block(file, end, 4, &first) || !read_block(first.end, end, 8, &block))
        return false;
    bool behind =
        !block.n_times || seconds >= big_i64(block.times + (size_t)(block.n_times - 1) * 8);
    char rule[128];
    const unsigned char *text = block.end + 1;
    const unsigned char *stop = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;
    size_t length = stop ? (size_t)(stop - text) : 0;
    if (behind && length && length < sizeof(rule)) {
        memcpy(rule, text, length);
        rule[length] = 0;
        *ret = offset_by_rule(rule, seconds);
        return true;
    }
    *ret = offset_in_block(&block, seconds);
    return true;
}

static const kc__cel_zone *find_zone(kc__cel_zone **zones, kc_arena *arena, kc_str name)
{
    for (const kc__cel_zone *zone = *zones; zone; zone = zone->next)
        if (kc_str_eq(zone->name, name))
            return zone;
    unsigned char *file = kc_alloc(ZONE_FILE_MAX);
    size_t n = read_zone_file(name, file);
    kc__cel_zone *zone = kc_arena_new(arena, kc__cel_zone);
    zone->name = kc_arena_str(arena, name);
    zone->file = kc_arena_str(arena, kc_str_of((const char *)file, n));
    zone->next = *zones;
    free(file);
    return *zones = zone;
}

bool kc__cel_zone_offset(kc__cel_zone **zones, kc_arena *arena, kc_str name, int64_t seconds,
                         int64_t *ret)
{
    *ret = 0;
    if (!name.n || kc_str_is(name, "UTC"))
        return true;
    if (!valid_zone_name(name))
        return false;
    kc_str file = find_zone(zones, arena, name)->file;
    return file.n && offset_in_file((const unsigned char *)file.p, file.n, seconds, ret);
}
