/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header_values.c: the grammars of single header fields (RFC 9110): content codings, entity tags,
 * delays and dates. To add one, write a function that takes the value as a slice, allocates nothing
 * and treats an invalid value as if the field were absent.
 */
#include "http/message/header.h"

#include <stdio.h>
#include <time.h>

/* Returns whether the parameter is a weight of 0: "q=0", "Q=0.000". */
static bool is_zero_weight(kc_str param)
{
    kc_str value = param, name = kc_str_trim(kc_str_cut(&value, '='));
    value = kc_str_trim(value);
    if (!kc_str_eq_nocase(name, KC_STR("q")) || !value.n || value.p[0] != '0')
        return false;
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] != '0' && value.p[i] != '.')
            return false;
    return true;
}

static bool has_zero_weight(kc_str params)
{
    while (params.p)
        if (is_zero_weight(kc_str_cut(&params, ';')))
            return true;
    return false;
}

bool kc__http_accepts_gzip(kc_str accept_encoding)
{
    while (accept_encoding.p) {
        kc_str params = kc_str_cut(&accept_encoding, ',');
        kc_str coding = kc_str_trim(kc_str_cut(&params, ';'));
        if (kc_str_eq_nocase(coding, KC_STR("gzip")))
            return !has_zero_weight(params);
    }
    return false;
}

static kc_str without_weakness(kc_str etag)
{
    return kc_str_starts(etag, KC_STR("W/")) ? kc_str_sub(etag, 2, etag.n) : etag;
}

/* Returns the quoted string at the front, with quotes; empty if there is none. */
static kc_str opaque_tag(kc_str text)
{
    if (!text.n || text.p[0] != '"')
        return (kc_str){0};
    ptrdiff_t end = kc_str_find(kc_str_sub(text, 1, text.n), '"');
    return end < 0 ? (kc_str){0} : kc_str_sub(text, 0, (size_t)end + 2);
}

bool kc__http_etag_matches(kc_str if_none_match, kc_str etag)
{
    kc_str rest = kc_str_trim(if_none_match), wanted = without_weakness(etag);
    if (kc_str_is(rest, "*"))
        return true;
    while (rest.n) {
        kc_str tag = opaque_tag(without_weakness(rest));
        if (kc_str_eq(tag, wanted) && tag.n)
            return true;
        const char *end = tag.n ? tag.p + tag.n : rest.p;
        rest = kc_str_of(end, (size_t)(rest.p + rest.n - end));
        if (kc_str_trim(kc_str_cut(&rest, ',')).n)
            return false; /* Not a tag, or two tags without a comma between them. */
        rest = kc_str_trim(rest);
    }
    return false;
}

bool kc__http_retry_after(kc_str value, int *ret_seconds)
{
    uint64_t seconds;
    if (!kc_str_to_u64(kc_str_trim(value), &seconds) || seconds > INT32_MAX)
        return false;
    *ret_seconds = (int)seconds;
    return true;
}

kc_str kc__http_date(int64_t wall_ns, char out[KC__HTTP_DATE])
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const int64_t second = 1000000000;
    time_t seconds = wall_ns / second - (wall_ns % second < 0);
    struct tm tm = {0};
    gmtime_r(&seconds, &tm);
    int n = snprintf(out, KC__HTTP_DATE, "%s, %02u %s %04u %02u:%02u:%02u GMT", days[tm.tm_wday],
                     (unsigned)tm.tm_mday % 100, months[tm.tm_mon],
                     (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)tm.tm_hour % 100,
                     (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
    return kc_str_of(out, (size_t)n);
}
