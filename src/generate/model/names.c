/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c: converts names between naming conventions.
 *
 * The rules know no initialisms (cluster_ip is clusterIp): markers set those (+kc:json=clusterIP,
 * +kc:kind=VPC), so that the rules stay predictable.
 */
#include "generate/model/names.h"

#include "kc/ascii.h"

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c & ~0x20) : c;
}

/* Drops underscores and sets the letter behind each in upper case. */
static kc_str camel(kc_arena *arena, kc_str name, bool first_upper, bool lower_rest)
{
    char *out = kc_arena_strndup(arena, name.p, name.n);
    size_t n = 0;
    bool raise = first_upper;
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        if (c == '_') {
            raise = n > 0 || first_upper;
            continue;
        }
        out[n++] = raise ? upper(c) : lower_rest ? kc_lower(c) : c;
        raise = false;
    }
    out[n] = 0;
    return (kc_str){out, n};
}

kc_str kc__gen_json_name(kc_arena *arena, kc_str c_name)
{
    return camel(arena, c_name, false, false);
}

kc_str kc__gen_enum_text(kc_arena *arena, kc_str enumerator)
{
    return camel(arena, enumerator, true, true);
}

kc_str kc__gen_go_name(kc_arena *arena, kc_str c_name, kc_str version)
{
    if (c_name.n > 2 && kc_str_ends(c_name, KC_STR("_t")))
        c_name.n -= 2;
    const size_t more = version.n + 1;
    if (version.n && c_name.n > more) {
        if (kc_str_ends(c_name, version) && c_name.p[c_name.n - more] == '_')
            c_name.n -= more;
        else if (kc_str_starts(c_name, version) && c_name.p[version.n] == '_')
            c_name = kc_str_sub(c_name, more, c_name.n);
    }
    return camel(arena, c_name, true, false);
}

size_t kc__gen_common_prefix(kc_str a, kc_str b)
{
    size_t n = 0, end = 0;
    for (; n < a.n && n < b.n && a.p[n] == b.p[n]; n++)
        if (a.p[n] == '_')
            end = n + 1;
    return end;
}

/* ---- plurals ---- */

/* Endings and their plurals; the first match wins; compared in lower case. */
static const struct gen_names_ending {
    const char *singular, *plural;
} endings[] = {
    {"person", "people"},   {"child", "children"},
    {"index", "indices"},   {"matrix", "matrices"},
    {"vertex", "vertices"}, {"datum", "data"},
    {"medium", "media"},    {"criterion", "criteria"},
    {"mouse", "mice"},      {"metadata", "metadata"},
    {"data", "data"},       {"series", "series"},
    {"quiz", "quizzes"},    {"status", "statuses"},
    {"alias", "aliases"},   {"bus", "buses"},
    {"chassis", "chassis"}, {"analysis", "analyses"},
    {"sis", "ses"},         {"ss", "sses"},
    {"us", "uses"},         {"ics", "ics"},
    {"leaf", "leaves"},     {"shelf", "shelves"},
    {"half", "halves"},     {"knife", "knives"},
    {"life", "lives"},      {"hero", "heroes"},
    {"echo", "echoes"},     {"sh", "shes"},
    {"ch", "ches"},         {"x", "xes"},
    {"zz", "zzes"},         {"ay", "ays"},
    {"ey", "eys"},          {"iy", "iys"},
    {"oy", "oys"},          {"uy", "uys"},
    {"y", "ies"},           {"s", "s"},
};

kc_str kc__gen_plural(kc_arena *arena, kc_str kind)
{
    char *lower = kc_arena_strndup(arena, kind.p, kind.n);
    for (size_t i = 0; i < kind.n; i++)
        lower[i] = kc_lower(lower[i]);
    for (size_t i = 0; i < KC_COUNT(endings); i++) {
        const kc_str singular = kc_cstr(endings[i].singular);
        if (kc_str_ends(kc_cstr(lower), singular))
            return kc_cstr(kc_arena_printf(arena, "%.*s%s", (int)(kind.n - singular.n), lower,
                                           endings[i].plural));
    }
    return kc_cstr(kc_arena_printf(arena, "%ss", lower));
}
