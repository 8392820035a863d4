/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_algebra.c: union, intersection and differences of sets.
 *
 * Each walks two sorted levels side by side and descends where both have the same element. Parts
 * that do not change are shared, not copied, and a result that equals its first operand is that
 * operand: so a caller sees by address that nothing changed, and the text of the set can be reused.
 */
#include "object/fields/fields_set.h"

#include <assert.h>

/* Entries of a result. */
typedef struct level {
    kc__fields_set *set;
    kc__fields_entry *entries;
    uint32_t n;
} level;

static level level_of(kc_arena *arena, size_t most)
{
    kc__fields_set *set = kc_arena_alloc(arena, sizeof(*set) + most * sizeof(kc__fields_entry));
    return (level){set, (kc__fields_entry *)(set + 1), 0};
}

static const kc__fields_set *level_close(level *l)
{
    if (!l->n)
        return NULL;
    *l->set = (kc__fields_set){.n = l->n, .entries = l->entries};
    return l->set;
}

static void level_add(level *l, const kc__fields_entry *from, bool member,
                      const kc__fields_set *child)
{
    if (member || child)
        l->entries[l->n++] = (kc__fields_entry){from->element, child, member};
}

const kc__fields_set *kc__fields_set_union(kc_arena *arena, const kc__fields_set *a,
                                           const kc__fields_set *b)
{
    if (a == b || kc__fields_set_empty(b))
        return a;
    if (kc__fields_set_empty(a))
        return b;
    level out = level_of(arena, (size_t)a->n + b->n);
    bool grew = false;
    uint32_t i = 0, j = 0;
    while (i < a->n || j < b->n) {
        const kc__fields_entry *left = i < a->n ? &a->entries[i] : NULL;
        const kc__fields_entry *right = j < b->n ? &b->entries[j] : NULL;
        int order = !left    ? 1
                    : !right ? -1
                             : kc__fields_element_cmp(&left->element, &right->element);
        if (order < 0) {
            out.entries[out.n++] = a->entries[i++];
        } else if (order > 0) {
            out.entries[out.n++] = b->entries[j++];
            grew = true;
        } else {
            const kc__fields_set *child = kc__fields_set_union(arena, left->child, right->child);
            /* Of elements that are equal but not the same, upstream keeps that of the last member
             * and that of the first with paths below. */
            level_add(&out, left->child ? left : right, left->member || right->member, child);
            grew |= child != left->child || (right->member && !left->member) ||
                    !kc__fields_element_is_exact(&left->element);
            i++, j++;
        }
    }
    return grew ? level_close(&out) : a;
}

const kc__fields_set *kc__fields_set_union_all(kc_arena *arena, const kc__fields_set **sets,
                                               size_t n)
{
    /* In pairs, so that a path is copied log n times. */
    for (; n > 1; n = (n + 1) / 2)
        for (size_t i = 0; 2 * i < n; i++)
            sets[i] = 2 * i + 1 < n ? kc__fields_set_union(arena, sets[2 * i], sets[2 * i + 1])
                                    : sets[2 * i];
    return n ? sets[0] : NULL;
}

/* A cursor over `set` for ascending lookups. A set that is much larger than the number of lookups
 * is searched: many managers with few fields each must not cost a walk over all changes each. */
typedef struct lookups {
    const kc__fields_set *set;
    uint32_t at;
    bool search;
} lookups;

static lookups lookups_in(const kc__fields_set *set, uint32_t n)
{
    return (lookups){.set = set, .search = set->n / 8 > n};
}

static const kc__fields_entry *look_up(lookups *l, const kc__fields_element *element)
{
    if (l->search)
        return kc__fields_set_find(l->set, element);
    while (l->at < l->set->n) {
        const kc__fields_entry *entry = &l->set->entries[l->at];
        int order = kc__fields_element_cmp(&entry->element, element);
        l->at += order <= 0;
        if (order >= 0)
            return order == 0 ? entry : NULL;
    }
    return NULL;
}

const kc__fields_set *kc__fields_set_intersection(kc_arena *arena, const kc__fields_set *a,
                                                  const kc__fields_set *b)
{
    if (a == b || kc__fields_set_empty(a) || kc__fields_set_empty(b))
        return a == b ? a : NULL;
    level out = level_of(arena, KC_MIN(a->n, b->n));
    bool swap = a->n > b->n;
    const kc__fields_set *small = swap ? b : a;
    lookups in_large = lookups_in(swap ? a : b, small->n);
    for (uint32_t i = 0; i < small->n; i++) {
        const kc__fields_entry *left = &small->entries[i];
        const kc__fields_entry *right = look_up(&in_large, &left->element);
        if (!right)
            continue;
        const kc__fields_entry *in_a = swap ? right : left, *in_b = swap ? left : right;
        level_add(&out, in_a, in_a->member && in_b->member,
                  kc__fields_set_intersection(arena, in_a->child, in_b->child));
    }
    return level_close(&out);
}

/* `below`: a member of `b` removes the paths below it, too. */
static const kc__fields_set *subtract(kc_arena *arena, const kc__fields_set *a,
                                      const kc__fields_set *b, bool below)
{
    if (kc__fields_set_empty(a) || kc__fields_set_empty(b))
        return a;
    level out = {0};
    lookups in_b = lookups_in(b, a->n);
    for (uint32_t i = 0; i < a->n; i++) {
        const kc__fields_entry *left = &a->entries[i];
        const kc__fields_entry *right = look_up(&in_b, &left->element);
        bool member = left->member && !(right && right->member);
        const kc__fields_set *child = left->child;
        if (right)
            child = below && right->member ? NULL : subtract(arena, child, right->child, below);
        if (!out.set && (member != left->member || child != left->child)) {
            /* The first difference: all before it is the same. */
            out = level_of(arena, a->n);
            memcpy(out.entries, a->entries, i * sizeof(*out.entries));
            out.n = i;
        }
        if (out.set)
            level_add(&out, left, member, child);
    }
    return out.set ? level_close(&out) : a;
}

const kc__fields_set *kc__fields_set_difference(kc_arena *arena, const kc__fields_set *a,
                                                const kc__fields_set *b)
{
    return subtract(arena, a, b, false);
}

const kc__fields_set *kc__fields_set_difference_below(kc_arena *arena, const kc__fields_set *a,
                                                      const kc__fields_set *b)
{
    return subtract(arena, a, b, true);
}

const kc__fields_set *kc__fields_set_leaves(kc_arena *arena, const kc__fields_set *set)
{
    if (kc__fields_set_empty(set))
        return NULL;
    level out = level_of(arena, set->n);
    for (uint32_t i = 0; i < set->n; i++) {
        const kc__fields_entry *entry = &set->entries[i];
        level_add(&out, entry, entry->member && !entry->child,
                  kc__fields_set_leaves(arena, entry->child));
    }
    return level_close(&out);
}

/* ---- patterns ---- */

/* The part of a pattern at a depth; p is NULL beyond its end. */
static kc_str pattern_part(const char *pattern, unsigned depth)
{
    kc_str rest = kc_cstr(pattern), part = {0};
    for (unsigned i = 0; i <= depth; i++) {
        if (!rest.p)
            return (kc_str){0};
        part = kc_str_cut(&rest, '.');
    }
    return part;
}

static bool part_matches(kc_str part, const kc__fields_element *element)
{
    return kc_str_is(part, "*") || (element->kind == KC__FIELDS_NAME &&
                                    kc_str_eq(part, kc_str_of(element->name, element->n)));
}

/* `active`: the patterns that match the path to the set. */
static const kc__fields_set *only_below(kc_arena *arena, const kc__fields_set *set,
                                        const char *const *patterns, uint32_t active,
                                        unsigned depth)
{
    if (kc__fields_set_empty(set))
        return NULL;
    level out = level_of(arena, set->n);
    for (uint32_t bits = active; bits; bits &= bits - 1)
        if (!pattern_part(patterns[__builtin_ctz(bits)], depth).p)
            return set;
    for (uint32_t i = 0; i < set->n; i++) {
        const kc__fields_entry *entry = &set->entries[i];
        uint32_t matching = 0;
        for (uint32_t bits = active; bits; bits &= bits - 1) {
            unsigned at = (unsigned)__builtin_ctz(bits);
            if (part_matches(pattern_part(patterns[at], depth), &entry->element))
                matching |= 1u << at;
        }
        if (matching)
            level_add(&out, entry, entry->member,
                      only_below(arena, entry->child, patterns, matching, depth + 1));
    }
    return level_close(&out);
}

const kc__fields_set *kc__fields_set_only(kc_arena *arena, const kc__fields_set *set,
                                          const char *const *patterns, size_t n)
{
    assert(n <= 32);
    return only_below(arena, set, patterns, n == 32 ? UINT32_MAX : (1u << n) - 1, 0);
}
