/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cron.c: parses a cron schedule: minute, hour, day of month, month, day of week; each field is a
 * list of numbers, ranges and steps, months and days also by name.
 */
#include "apiserver/kinds/batch/cron.h"

#include "kc/mem.h"

#include <stdio.h>

typedef struct cron_field {
    int64_t low, high;
    const char *const *names; /* Names of the values from `low` on; NULL-terminated. */
} cron_field;

static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
                                     "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const days[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};
static const cron_field fields[] = {
    {0, 59, NULL}, {0, 23, NULL}, {1, 31, NULL}, {1, 12, months}, {0, 6, days}};

static bool fail_cron_schedule(char *why, const char *what, kc_str text)
{
    snprintf(why, KC__CRON_ERROR, "%s: %.*s", what, (int)(text.n > 60 ? 60 : text.n), text.p);
    return false;
}

static bool fail_number(char *why, kc_str text)
{
    int n = (int)(text.n > 40 ? 40 : text.n);
    snprintf(why, KC__CRON_ERROR,
             "failed to parse int from %.*s: strconv.Atoi: parsing \"%.*s\": invalid syntax", n,
             text.p, n, text.p);
    return false;
}

static bool read_number(const cron_field *f, kc_str text, int64_t *ret, char *why)
{
    for (size_t i = 0; f->names && f->names[i]; i++) {
        if (kc_str_eq_nocase(text, kc_cstr(f->names[i]))) {
            *ret = f->low + (int64_t)i;
            return true;
        }
    }
    uint64_t number;
    if (!kc_str_to_u64(text, &number))
        return fail_number(why, text);
    *ret = (int64_t)number;
    return true;
}

/* "a", "a-b", "*", each with "/step". */
static bool read_range(const cron_field *f, kc_str part, char *why)
{
    int64_t low = f->low, high = f->high, step = 1;
    kc_str rest = part, range = kc_str_cut(&rest, '/');
    bool steps = rest.p != NULL;
    if (!kc_str_is(range, "*") && !kc_str_is(range, "?")) {
        kc_str to = range, from = kc_str_cut(&to, '-');
        if (!read_number(f, from, &low, why) || (to.p && !read_number(f, to, &high, why)))
            return false;
        if (!to.p)
            high = steps ? f->high : low;
    }
    if (steps && !read_number(&(cron_field){0, 1000, NULL}, rest, &step, why))
        return false;
    if (low < f->low)
        return snprintf(why, KC__CRON_ERROR, "beginning of range (%lld) below minimum (%lld): %.*s",
                        (long long)low, (long long)f->low, KC_ARG(part)) < 0;
    if (high > f->high)
        return snprintf(why, KC__CRON_ERROR, "end of range (%lld) above maximum (%lld): %.*s",
                        (long long)high, (long long)f->high, KC_ARG(part)) < 0;
    if (low > high)
        return snprintf(why, KC__CRON_ERROR,
                        "beginning of range (%lld) beyond end of range (%lld): %.*s",
                        (long long)low, (long long)high, KC_ARG(part)) < 0;
    return step > 0 || fail_cron_schedule(why, "step of range should be a positive number", part);
}

static bool is_named(kc_str schedule)
{
    static const char *const known[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                        "@daily",  "@midnight", "@hourly"};
    for (size_t i = 0; i < KC_COUNT(known); i++)
        if (kc_str_is(schedule, known[i]))
            return true;
    return kc_str_starts(schedule, KC_STR("@every "));
}

bool kc__cron_check(kc_str schedule, char ret_why[KC__CRON_ERROR])
{
    kc_str parts[KC_COUNT(fields)], rest = kc_str_trim(schedule);
    size_t n = 0;
    if (kc_str_starts(schedule, KC_STR("@")))
        return is_named(schedule) ||
               fail_cron_schedule(ret_why, "unrecognized descriptor", schedule);
    while (rest.n) {
        kc_str part = kc_str_cut(&rest, ' ');
        rest = kc_str_trim(rest);
        if (n < KC_COUNT(fields))
            parts[n] = part;
        n++;
    }
    if (n != KC_COUNT(fields)) {
        snprintf(ret_why, KC__CRON_ERROR, "expected exactly 5 fields, found %zu: [%.*s]", n,
                 (int)(schedule.n > 60 ? 60 : schedule.n), schedule.p);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        kc_str list = parts[i];
        while (list.p)
            if (!read_range(&fields[i], kc_str_cut(&list, ','), ret_why))
                return false;
    }
    return true;
}
