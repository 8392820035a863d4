/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semver.c: semantic versions: semver("1.2.3").isLessThan(…).
 *
 * Versions are those of semver.org 2.0; build metadata is checked but does not count in
 * comparisons. With normalization, "v1.2" is 1.2.0.
 */
#include "cel/library/library_internal.h"

#include "kc/ascii.h"

typedef struct semantic_version {
    uint64_t numbers[3];
    kc_str pre, build;
} semantic_version;

static bool only_digits(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!kc_is_digit(text.p[i]))
            return false;
    return text.n > 0;
}

static bool only_identifier(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!kc_is_alnum(text.p[i]) && text.p[i] != '-')
            return false;
    return text.n > 0;
}

static bool leading_zero(kc_str text)
{
    return text.n > 1 && text.p[0] == '0';
}

/* ---- parsing ---- */

static bool parse_number(kc_str text, const char *lower, const char *title, uint64_t *ret,
                         kc_buf *why)
{
    if (!text.n)
        kc_buf_puts(why, "strconv.ParseUint: parsing \"\": invalid syntax");
    else if (!only_digits(text))
        kc_buf_printf(why, "Invalid character(s) found in %s number \"%.*s\"", lower, KC_ARG(text));
    else if (leading_zero(text))
        kc_buf_printf(why, "%s number must not contain leading zeroes \"%.*s\"", title,
                      KC_ARG(text));
    else if (!kc_str_to_u64(text, ret))
        kc_buf_printf(why, "strconv.ParseUint: parsing \"%.*s\": value out of range", KC_ARG(text));
    else
        return true;
    return false;
}

static bool check_prerelease(kc_str text, kc_buf *why)
{
    for (kc_str rest = text; rest.p;) {
        kc_str part = kc_str_cut(&rest, '.');
        if (!part.n)
            kc_buf_puts(why, "Prerelease is empty");
        else if (only_digits(part) && leading_zero(part))
            kc_buf_printf(why,
                          "Numeric PreRelease version must not contain leading zeroes \"%.*s\"",
                          KC_ARG(part));
        else if (!only_identifier(part))
            kc_buf_printf(why, "Invalid character(s) found in prerelease \"%.*s\"", KC_ARG(part));
        else
            continue;
        return false;
    }
    return true;
}

static bool check_build(kc_str text, kc_buf *why)
{
    for (kc_str rest = text; rest.p;) {
        kc_str part = kc_str_cut(&rest, '.');
        if (!part.n)
            kc_buf_puts(why, "Build meta data is empty");
        else if (!only_identifier(part))
            kc_buf_printf(why, "Invalid character(s) found in build meta data \"%.*s\"",
                          KC_ARG(part));
        else
            continue;
        return false;
    }
    return true;
}

static bool parse_version(kc_str text, semantic_version *ret, kc_buf *why)
{
    *ret = (semantic_version){0};
    if (!text.n) {
        kc_buf_puts(why, "Version string empty");
        return false;
    }
    kc_str rest = text, major = kc_str_cut(&rest, '.');
    kc_str minor = rest.p ? kc_str_cut(&rest, '.') : rest;
    if (!rest.p) {
        kc_buf_puts(why, "No Major.Minor.Patch elements found");
        return false;
    }
    if (!parse_number(major, "major", "Major", &ret->numbers[0], why) ||
        !parse_number(minor, "minor", "Minor", &ret->numbers[1], why))
        return false;
    ptrdiff_t plus = kc_str_find(rest, '+');
    bool has_build = plus >= 0;
    ret->build = has_build ? kc_str_sub(rest, (size_t)plus + 1, rest.n) : (kc_str){0};
    kc_str patch = has_build ? kc_str_sub(rest, 0, (size_t)plus) : rest;
    ptrdiff_t dash = kc_str_find(patch, '-');
    bool has_pre = dash >= 0;
    ret->pre = has_pre ? kc_str_sub(patch, (size_t)dash + 1, patch.n) : (kc_str){0};
    patch = has_pre ? kc_str_sub(patch, 0, (size_t)dash) : patch;
    return parse_number(patch, "patch", "Patch", &ret->numbers[2], why) &&
           (!has_pre || check_prerelease(ret->pre, why)) &&
           (!has_build || check_build(ret->build, why));
}

/* Completes a short version, and removes a leading v and leading zeros. */
static bool normalize_version(kc_str text, kc_buf *out, kc_buf *why)
{
    if (text.n && text.p[0] == 'v')
        text = kc_str_sub(text, 1, text.n);
    kc_str rest = text;
    int n = 0;
    for (; n < 3; n++) {
        bool last = n == 2 || kc_str_find(rest, '.') < 0;
        kc_str part = last ? rest : kc_str_cut(&rest, '.');
        if (last && n < 2 && (kc_str_find(part, '+') >= 0 || kc_str_find(part, '-') >= 0)) {
            kc_buf_puts(why, "short version cannot contain PreRelease/Build meta data");
            return false;
        }
        size_t zeros = 0;
        while (part.n > 1 && zeros < part.n && part.p[zeros] == '0')
            zeros++;
        if (n)
            kc_buf_putc(out, '.');
        if (part.n > 1 && (zeros == part.n || !kc_is_digit(part.p[zeros])))
            kc_buf_putc(out, '0');
        kc_buf_append(out, kc_str_sub(part, zeros, part.n));
        if (last)
            break;
    }
    for (n++; n < 3; n++)
        kc_buf_puts(out, ".0");
    return true;
}

static bool parse_argument(const kc_cel_value *a, size_t n, kc_buf *text, semantic_version *ret,
                           kc_buf *why)
{
    bool normalize = n > 1 && a[1].boolean;
    if (normalize && !normalize_version(a[0].text, text, why))
        return false;
    if (!normalize)
        kc_buf_append(text, a[0].text);
    return parse_version(kc_buf_str(text), ret, why);
}

/* ---- comparison ---- */

static int compare_identifiers(kc_str a, kc_str b)
{
    bool a_number = only_digits(a), b_number = only_digits(b);
    if (a_number != b_number)
        return a_number ? -1 : 1;
    if (a_number && a.n != b.n)
        return a.n < b.n ? -1 : 1;
    int order = kc_str_cmp(a, b);
    return (order > 0) - (order < 0);
}

static int compare_prereleases(kc_str a, kc_str b)
{
    if (!a.n || !b.n)
        return (!a.n) - (!b.n);
    while (a.p && b.p) {
        kc_str x = kc_str_cut(&a, '.'), y = kc_str_cut(&b, '.');
        int order = compare_identifiers(x, y);
        if (order)
            return order;
    }
    return (a.p != NULL) - (b.p != NULL);
}

static int compare_versions(const semantic_version *a, const semantic_version *b)
{
    for (int i = 0; i < 3; i++)
        if (a->numbers[i] != b->numbers[i])
            return a->numbers[i] < b->numbers[i] ? -1 : 1;
    return compare_prereleases(a->pre, b->pre);
}

static kc__cel_equality equal_versions(const void *a, const void *b)
{
    return kc__cel_equality_of(compare_versions(a, b) == 0);
}

static void write_version(const void *data, kc_buf *out)
{
    const semantic_version *v = data;
    kc_buf_printf(out, "%llu.%llu.%llu", (unsigned long long)v->numbers[0],
                  (unsigned long long)v->numbers[1], (unsigned long long)v->numbers[2]);
    if (v->pre.n)
        kc_buf_printf(out, "-%.*s", KC_ARG(v->pre));
    if (v->build.n)
        kc_buf_printf(out, "+%.*s", KC_ARG(v->build));
}

const kc_cel_type kc__cel_type_semver =
    KC__CEL_OPAQUE("kubernetes.Semver", equal_versions, write_version, .function = "semver",
                   .go_name = "semver.Version");

/* ---- functions ---- */

static const semantic_version *version_of(kc_cel_value v)
{
    return v.opaque.data;
}

KC__CEL_FUNCTION(string_to_semver)
{
    kc_scoped(kc_buf) text = {0}, why = {0};
    semantic_version version;
    if (!parse_argument(a, n, &text, &version, &why))
        return kc__cel_copy_text(ev, KC_CEL_ERROR, kc_buf_str(&why));
    version.pre = kc__cel_copy_text(ev, KC_CEL_STRING, version.pre).text;
    version.build = kc__cel_copy_text(ev, KC_CEL_STRING, version.build).text;
    return kc__cel_opaque(ev, &kc__cel_type_semver, &version, sizeof(version));
}

KC__CEL_FUNCTION(is_semver)
{
    kc_scoped(kc_buf) text = {0}, why = {0};
    semantic_version version;
    return kc__cel_bool(parse_argument(a, n, &text, &version, &why));
}

KC__CEL_FUNCTION(semver_is_greater)
{
    return kc__cel_bool(compare_versions(version_of(a[0]), version_of(a[1])) > 0);
}

KC__CEL_FUNCTION(semver_is_less)
{
    return kc__cel_bool(compare_versions(version_of(a[0]), version_of(a[1])) < 0);
}

KC__CEL_FUNCTION(semver_compare)
{
    return kc__cel_int(compare_versions(version_of(a[0]), version_of(a[1])));
}

KC__CEL_FUNCTION(semver_major)
{
    return kc__cel_int((int64_t)version_of(a[0])->numbers[0]);
}

KC__CEL_FUNCTION(semver_minor)
{
    return kc__cel_int((int64_t)version_of(a[0])->numbers[1]);
}

KC__CEL_FUNCTION(semver_patch)
{
    return kc__cel_int((int64_t)version_of(a[0])->numbers[2]);
}

#define T_SEMVER &kc__cel_type_semver
#define PARSING(function, id, impl, result, ...)                                               \
    KC__CEL_ROW(function, id, false, impl, kc__cel_cost_first, kc__cel_estimate_first, result, \
                __VA_ARGS__)
#define SEMVER_ROW(function, id, impl, result, ...) \
    KC__CEL_ROW(function, id, true, impl, NULL, NULL, result, T_SEMVER, ##__VA_ARGS__)

static const kc__cel_overload overloads[] = {
    PARSING("semver", "string_to_semver", string_to_semver, T_SEMVER, T_STRING),
    PARSING("semver", "string_bool_to_semver", string_to_semver, T_SEMVER, T_STRING, T_BOOL),
    PARSING("isSemver", "is_semver_string", is_semver, T_BOOL, T_STRING),
    PARSING("isSemver", "is_semver_string_bool", is_semver, T_BOOL, T_STRING, T_BOOL),
    SEMVER_ROW("isGreaterThan", "semver_is_greater_than", semver_is_greater, T_BOOL, T_SEMVER),
    SEMVER_ROW("isLessThan", "semver_is_less_than", semver_is_less, T_BOOL, T_SEMVER),
    SEMVER_ROW("compareTo", "semver_compare_to", semver_compare, T_INT, T_SEMVER),
    SEMVER_ROW("major", "semver_major", semver_major, T_INT),
    SEMVER_ROW("minor", "semver_minor", semver_minor, T_INT),
    SEMVER_ROW("patch", "semver_patch", semver_patch, T_INT),
};

const kc__cel_library kc__cel_library_semver = {overloads, KC_COUNT(overloads), KC__CEL_SEMVER_33};
