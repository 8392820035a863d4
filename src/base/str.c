/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.c: functions on slices. Only kc_str_dup allocates, and no function reads beyond the slice.
 */
#include "kc/str.h"
#include "kc/ascii.h"

int kc_str_cmp(kc_str a, kc_str b)
{
    size_t n = KC_MIN(a.n, b.n);
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

int kc_str_compare(const void *a, const void *b)
{
    return kc_str_cmp(*(const kc_str *)a, *(const kc_str *)b);
}

bool kc_str_is_any(kc_str a, const char *const *texts)
{
    for (; *texts; texts++)
        if (kc_str_is(a, *texts))
            return true;
    return false;
}

bool kc_str_starts(kc_str s, kc_str prefix)
{
    return s.n >= prefix.n && kc_str_eq(kc_str_of(s.p, prefix.n), prefix);
}

bool kc_str_ends(kc_str s, kc_str suffix)
{
    return s.n >= suffix.n && kc_str_eq(kc_str_sub(s, s.n - suffix.n, s.n), suffix);
}

bool kc_str_contains(kc_str s, kc_str part)
{
    return part.n == 0 || (s.n && memmem(s.p, s.n, part.p, part.n));
}

bool kc_str_eq_nocase(kc_str a, kc_str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (kc_lower(a.p[i]) != kc_lower(b.p[i]))
            return false;
    return true;
}

ptrdiff_t kc_str_find(kc_str s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;
    return at ? at - s.p : -1;
}

ptrdiff_t kc_str_rfind(kc_str s, char c)
{
    const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;
    return at ? at - s.p : -1;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

kc_str kc_str_trim(kc_str s)
{
    while (s.n && is_space(s.p[0]))
        s = kc_str_sub(s, 1, s.n);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

kc_str kc_str_cut(kc_str *rest, char sep)
{
    kc_str all = *rest;
    ptrdiff_t at = kc_str_find(all, sep);
    if (at < 0) {
        *rest = (kc_str){NULL, 0};
        return all;
    }
    *rest = kc_str_sub(all, (size_t)at + 1, all.n);
    return kc_str_sub(all, 0, (size_t)at);
}

char *kc_str_dup(kc_str s)
{
    return kc_strndup(s.p, s.n);
}

bool kc_str_to_u64(kc_str s, uint64_t *ret)
{
    uint64_t value = 0;
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = (unsigned char)s.p[i] - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *ret = value;
    return true;
}

bool kc_str_to_i64(kc_str s, int64_t *ret)
{
    uint64_t magnitude;
    bool negative = s.n && s.p[0] == '-';
    if (!kc_str_to_u64(negative ? kc_str_sub(s, 1, s.n) : s, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *ret = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t load(const char *p, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, p, n);
    return word;
}

uint64_t kc_str_hash(kc_str s, uint64_t seed)
{
    const uint64_t k0 = 0x9e3779b97f4a7c15u, k1 = 0xd6e8feb86659fd93u;
    uint64_t h = mix(seed ^ k0, s.n ^ k1);
    size_t i = 0;
    for (; i + 8 <= s.n; i += 8)
        h = mix(h ^ load(s.p + i, 8), k1 ^ seed);
    if (i < s.n)
        h = mix(h ^ load(s.p + i, s.n - i), k0 ^ seed);
    return mix(h, k0);
}

/* Levenshtein distance of two short words, with one row of the matrix; long words count as
 * unrelated. */
static size_t distance(kc_str a, kc_str b)
{
    enum { LONGEST = 64 };
    size_t row[LONGEST + 1];
    if (a.n > LONGEST || b.n > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= b.n; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t replaced = diagonal + (kc_lower(a.p[i - 1]) != kc_lower(b.p[j - 1]));
            diagonal = row[j];
            row[j] = KC_MIN(replaced, KC_MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[b.n];
}

const char *kc_str_nearest(kc_str typed, const char *const *names, size_t n_names)
{
    const char *best = NULL;
    size_t best_distance = KC_MAX(typed.n / 3, (size_t)1) + 1;
    for (size_t i = 0; i < n_names; i++) {
        size_t d = distance(typed, kc_cstr(names[i]));
        if (d < best_distance && d < typed.n) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}
