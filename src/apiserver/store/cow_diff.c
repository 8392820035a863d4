/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cow_diff.c: compares two versions of a copy-on-write tree.
 *
 * Two iterators walk in key order. Where both stand at the begin of the same leaf, they skip it:
 * versions share the leaves that no change has copied. A leaf may begin at another rank in the
 * other version, or be split there, so iterators meet at a shared leaf only after the smaller key
 * has caught up with the larger one; then they meet at its begin, because both versions have its
 * keys.
 */
#include "apiserver/store/cow_internal.h"

typedef struct diff_side {
    kc__cow_iter it;
    bool more; /* `it` is at an entry. */
} diff_side;

static void advance(diff_side *side)
{
    side->more = kc__cow_iter_next(&side->it);
}

static diff_side side_of(const kc__cow_snapshot *snapshot)
{
    diff_side side = {0};
    if (!snapshot)
        return side;
    side.it = kc__cow_iter_start(snapshot, &(kc__cow_range){0});
    advance(&side);
    return side;
}

static bool at_begin_of_leaf(const diff_side *side)
{
    return side->more && side->it.at == 1; /* `at` is the entry after the current one. */
}

static void skip_leaf(diff_side *side)
{
    const size_t rest = side->it.leaf->n - side->it.at;
    side->it.at += rest;
    side->it.rank += rest;
    side->it.left -= rest;
    advance(side);
}

/* Order of the current keys; a side at its end is behind every key. */
static int compare_sides(const diff_side *a, const diff_side *b)
{
    if (!a->more || !b->more)
        return (int)b->more - (int)a->more;
    return kc_str_cmp(a->it.key, b->it.key);
}

void kc__cow_diff(const kc__cow_snapshot *before, const kc__cow_snapshot *after,
                  kc__cow_diff_fn *differs, void *user)
{
    diff_side a = side_of(before), b = side_of(after);
    while (a.more || b.more) {
        if (at_begin_of_leaf(&a) && at_begin_of_leaf(&b) && a.it.leaf == b.it.leaf) {
            skip_leaf(&a);
            skip_leaf(&b);
            continue;
        }
        const int order = compare_sides(&a, &b);
        if (order != 0 || a.it.object != b.it.object)
            differs(order <= 0 ? a.it.key : b.it.key, order <= 0 ? a.it.object : NULL,
                    order >= 0 ? b.it.object : NULL, user);
        if (order <= 0)
            advance(&a);
        if (order >= 0)
            advance(&b);
    }
}
