/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.c: construction of sets, and queries.
 *
 * A builder keeps the entries of all open levels on one stack. Closing a level sorts its entries
 * (they usually are sorted), merges equal ones and moves them to the arena. So a set of n paths
 * takes n log n steps at worst, whatever the order in which its source has them.
 */
#include "object/fields/fields_set.h"

#include <assert.h>

void kc__fields_builder_done(kc__fields_builder *builder)
{
    kc_vec_done(&builder->open);
}

void kc__fields_builder_add(kc__fields_builder *builder, kc__fields_element element, bool member,
                            const kc__fields_set *child)
{
    enum { USUAL_ENTRIES = 32 };
    if (!member && !child)
        return;
    if (!builder->open.cap)
        kc_vec_reserve(&builder->open, USUAL_ENTRIES);
    kc_vec_push(&builder->open, (kc__fields_entry){element, child, member});
}

static bool is_ascending(const kc__fields_entry *entries, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (kc__fields_element_cmp(&entries[i - 1].element, &entries[i].element) >= 0)
            return false;
    return true;
}

enum { SHORT_RUN = 16 };

/* Stable: of equal entries, the last must stay last. */
static void insertion_sort(kc__fields_entry *entries, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        kc__fields_entry entry = entries[i];
        size_t at = i;
        for (; at > 0 && kc__fields_element_cmp(&entry.element, &entries[at - 1].element) < 0; at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

static void merge_runs(const kc__fields_entry *from, kc__fields_entry *to, size_t middle, size_t n)
{
    size_t left = 0, right = middle;
    for (size_t i = 0; i < n; i++) {
        bool take_left =
            left < middle &&
            (right == n || kc__fields_element_cmp(&from[left].element, &from[right].element) <= 0);
        to[i] = from[take_left ? left++ : right++];
    }
}

static void sort_entries(kc__fields_entry *entries, size_t n)
{
    for (size_t at = 0; at < n; at += SHORT_RUN)
        insertion_sort(entries + at, KC_MIN(n - at, (size_t)SHORT_RUN));
    if (n <= SHORT_RUN)
        return;
    kc_autofree kc__fields_entry *other = kc_alloc(n * sizeof(*other));
    kc__fields_entry *from = entries, *to = other;
    for (size_t run = SHORT_RUN; run < n; run *= 2) {
        for (size_t at = 0; at < n; at += 2 * run)
            merge_runs(from + at, to + at, KC_MIN(run, n - at), KC_MIN(2 * run, n - at));
        kc__fields_entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != entries)
        memcpy(entries, from, n * sizeof(*entries));
}

static size_t merge_equal(kc__fields_entry *entries, size_t n)
{
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) {
        kc__fields_entry *last = &entries[kept];
        if (kc__fields_element_cmp(&last->element, &entries[i].element) != 0) {
            entries[++kept] = entries[i];
            continue;
        }
        last->member |= entries[i].member;
        if (entries[i].child)
            last->child = entries[i].child;
    }
    return kept + 1;
}

const kc__fields_set *kc__fields_builder_close(kc__fields_builder *builder, size_t level)
{
    size_t n = builder->open.n - level;
    if (!n)
        return NULL;
    kc__fields_entry *entries = builder->open.items + level;
    builder->open.n = level;
    if (!is_ascending(entries, n)) {
        builder->unsorted = true;
        sort_entries(entries, n);
        n = merge_equal(entries, n);
    }
    size_t size = n * sizeof(*entries);
    kc__fields_set *set = kc_arena_alloc(builder->arena, sizeof(*set) + size);
    kc__fields_entry *copy = (kc__fields_entry *)(set + 1);
    memcpy(copy, entries, size);
    *set = (kc__fields_set){.n = (uint32_t)n, .entries = copy};
    return set;
}

const kc__fields_set *kc__fields_set_of_path(kc_arena *arena, const kc__fields_element *elements,
                                             size_t n)
{
    kc_scoped(kc__fields_builder) builder = {.arena = arena};
    const kc__fields_set *set = NULL;
    for (size_t i = n; i-- > 0;) {
        kc__fields_builder_add(&builder, elements[i], i + 1 == n, set);
        set = kc__fields_builder_close(&builder, 0);
    }
    return set;
}

/* ---- queries ---- */

const kc__fields_entry *kc__fields_set_find(const kc__fields_set *set,
                                            const kc__fields_element *element)
{
    size_t from = 0, to = set ? set->n : 0;
    while (from < to) {
        size_t middle = (from + to) / 2;
        int order = kc__fields_element_cmp(&set->entries[middle].element, element);
        if (!order)
            return &set->entries[middle];
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

bool kc__fields_set_has(const kc__fields_set *set, const kc__fields_element *elements, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const kc__fields_entry *entry = kc__fields_set_find(set, &elements[i]);
        if (!entry)
            return false;
        if (i + 1 == n)
            return entry->member;
        set = entry->child;
    }
    return false;
}

static bool sets_match(const kc__fields_set *a, const kc__fields_set *b, bool same_text)
{
    if (a == b)
        return true;
    if (kc__fields_set_empty(a) || kc__fields_set_empty(b))
        return kc__fields_set_empty(a) && kc__fields_set_empty(b);
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        const kc__fields_entry *left = &a->entries[i], *right = &b->entries[i];
        if (left->member != right->member || !left->child != !right->child ||
            kc__fields_element_cmp(&left->element, &right->element) != 0 ||
            (same_text && !kc__fields_element_is_exact(&left->element)) ||
            !sets_match(left->child, right->child, same_text))
            return false;
    }
    return true;
}

bool kc__fields_set_equal(const kc__fields_set *a, const kc__fields_set *b)
{
    return sets_match(a, b, false);
}

bool kc__fields_set_same_text(const kc__fields_set *a, const kc__fields_set *b)
{
    return sets_match(a, b, true);
}

bool kc__fields_set_within(const kc__fields_set *a, const kc__fields_set *b)
{
    if (a == b || kc__fields_set_empty(a))
        return true;
    if (!b || b->n < a->n)
        return false;
    for (uint32_t i = 0, j = 0; i < a->n; i++, j++) {
        const kc__fields_entry *entry = &a->entries[i];
        int order = -1;
        while (j < b->n &&
               (order = kc__fields_element_cmp(&b->entries[j].element, &entry->element)) < 0)
            j++;
        if (order != 0 || j == b->n || (entry->member && !b->entries[j].member) ||
            !kc__fields_set_within(entry->child, b->entries[j].child))
            return false;
    }
    return true;
}

size_t kc__fields_set_count(const kc__fields_set *set)
{
    size_t count = 0;
    for (uint32_t i = 0; set && i < set->n; i++)
        count += set->entries[i].member + kc__fields_set_count(set->entries[i].child);
    return count;
}

static bool visit_below(const kc__fields_set *set, const kc__fields_path *parent,
                        kc__fields_visit *visit, void *user)
{
    for (uint32_t i = 0; set && i < set->n; i++) {
        kc__fields_path path = {parent, &set->entries[i].element};
        if (set->entries[i].member && !visit(&path, user))
            return false;
    }
    for (uint32_t i = 0; set && i < set->n; i++) {
        kc__fields_path path = {parent, &set->entries[i].element};
        if (set->entries[i].child && !visit_below(set->entries[i].child, &path, visit, user))
            return false;
    }
    return true;
}

bool kc__fields_set_each(const kc__fields_set *set, kc__fields_visit *visit, void *user)
{
    return visit_below(set, NULL, visit, user);
}
