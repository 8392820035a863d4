/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex_class.c: sets of code points while a pattern is parsed.
 *
 * A set is a list of ranges in any order until kc__regex_set_normalize sorts and merges it. Classes
 * of Perl and POSIX cover ASCII only, as in RE2; properties cover Unicode.
 *
 * To add a POSIX class, add a row to posix_classes.
 */
#include "object/regex/regex_internal.h"

void kc__regex_set_add(kc__regex_set *set, uint32_t lo, uint32_t hi)
{
    if (set->n) {
        kc__regex_range *last = kc_vec_last(set);
        if (lo <= last->hi + 1 && hi + 1 >= last->lo) {
            last->lo = KC_MIN(last->lo, lo);
            last->hi = KC_MAX(last->hi, hi);
            return;
        }
    }
    kc_vec_push(set, (kc__regex_range){lo, hi});
}

/* Code points outside of these bounds have no other case. */
enum { FOLD_FIRST = 'A', FOLD_LAST = 0x1E943 };

void kc__regex_set_add_folded(kc__regex_set *set, uint32_t lo, uint32_t hi)
{
    kc__regex_set_add(set, lo, hi);
    if (lo <= FOLD_FIRST && hi >= FOLD_LAST)
        return;
    uint32_t last = KC_MIN(hi, (uint32_t)FOLD_LAST);
    for (uint32_t code = KC_MAX(lo, (uint32_t)FOLD_FIRST); code <= last; code++)
        for (uint32_t other = kc__regex_fold_next(code); other != code;
             other = kc__regex_fold_next(other))
            kc__regex_set_add(set, other, other);
}

static int compare_ranges(const void *a, const void *b)
{
    const kc__regex_range *x = a, *y = b;
    return x->lo != y->lo ? (x->lo < y->lo ? -1 : 1) : (x->hi > y->hi) - (x->hi < y->hi);
}

void kc__regex_set_normalize(kc__regex_set *set)
{
    kc_vec_sort(set, compare_ranges);
    size_t n = 0;
    kc_vec_each (set, range) {
        kc__regex_range *last = n ? &set->items[n - 1] : NULL;
        if (last && range->lo <= last->hi + 1)
            last->hi = KC_MAX(last->hi, range->hi);
        else
            set->items[n++] = *range;
    }
    set->n = n;
}

void kc__regex_set_add_negated(kc__regex_set *set, const kc__regex_range *ranges, size_t n)
{
    uint32_t next = 0;
    for (size_t i = 0; i < n; i++) {
        if (ranges[i].lo > next)
            kc__regex_set_add(set, next, ranges[i].lo - 1);
        next = ranges[i].hi + 1;
    }
    if (next <= KC__REGEX_RUNE_MAX)
        kc__regex_set_add(set, next, KC__REGEX_RUNE_MAX);
}

void kc__regex_set_negate(kc__regex_set *set)
{
    kc__regex_set negated = {0};
    kc__regex_set_add_negated(&negated, set->items, set->n);
    kc_vec_done(set);
    *set = negated;
}

/* Adds a class given as ranges, folded or negated. */
static void add_class(kc__regex_set *set, const kc__regex_range *ranges, size_t n, bool negated,
                      bool fold)
{
    kc__regex_set class = {0};
    for (size_t i = 0; i < n; i++) {
        if (fold)
            kc__regex_set_add_folded(&class, ranges[i].lo, ranges[i].hi);
        else
            kc__regex_set_add(&class, ranges[i].lo, ranges[i].hi);
    }
    kc__regex_set_normalize(&class);
    if (negated)
        kc__regex_set_negate(&class);
    kc_vec_each (&class, range)
        kc__regex_set_add(set, range->lo, range->hi);
    kc_vec_done(&class);
}

typedef struct named_class {
    const char *name;
    kc__regex_range ranges[4];
    size_t n;
} named_class;

static const named_class perl_classes[] = {
    {"d", {{'0', '9'}}, 1},
    {"s", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}, 3},
    {"w", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4},
};

static const named_class posix_classes[] = {
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, 3},
    {"alpha", {{'A', 'Z'}, {'a', 'z'}}, 2},
    {"ascii", {{0, 0x7F}}, 1},
    {"blank", {{'\t', '\t'}, {' ', ' '}}, 2},
    {"cntrl", {{0, 0x1F}, {0x7F, 0x7F}}, 2},
    {"digit", {{'0', '9'}}, 1},
    {"graph", {{'!', '~'}}, 1},
    {"lower", {{'a', 'z'}}, 1},
    {"print", {{' ', '~'}}, 1},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, 4},
    {"space", {{'\t', '\r'}, {' ', ' '}}, 2},
    {"upper", {{'A', 'Z'}}, 1},
    {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, 3},
};

static bool add_named(kc__regex_set *set, const named_class *classes, size_t n, kc_str name,
                      bool negated, bool fold)
{
    for (size_t i = 0; i < n; i++) {
        if (!kc_str_is(name, classes[i].name))
            continue;
        add_class(set, classes[i].ranges, classes[i].n, negated, fold);
        return true;
    }
    return false;
}

bool kc__regex_set_add_perl(kc__regex_set *set, char letter, bool fold)
{
    bool negated = letter >= 'A' && letter <= 'Z';
    char lower = negated ? (char)(letter + 'a' - 'A') : letter;
    return add_named(set, perl_classes, KC_COUNT(perl_classes), kc_str_of(&lower, 1), negated,
                     fold);
}

bool kc__regex_set_add_posix(kc__regex_set *set, kc_str name, bool fold)
{
    bool negated = name.n && name.p[0] == '^';
    return add_named(set, posix_classes, KC_COUNT(posix_classes), kc_str_sub(name, negated, name.n),
                     negated, fold);
}

bool kc__regex_set_add_property(kc__regex_set *set, kc_str name, bool negated, bool fold)
{
    kc__regex_set property = {0};
    bool any = kc_str_is(name, "Any");
    if (any)
        kc__regex_set_add(&property, 0, KC__REGEX_RUNE_MAX);
    bool found = any || kc__regex_property_add(&property, name);
    kc__regex_set_normalize(&property);
    if (found)
        add_class(set, property.items, property.n, negated, fold && !any);
    kc_vec_done(&property);
    return found;
}
