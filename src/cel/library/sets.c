/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets.c: lists as sets: sets.contains, sets.equivalent, sets.intersects.
 *
 * Membership is looked up in a hash map, so that a call takes linear time; its cost is the product
 * of the sizes all the same, as in cel-go.
 */
#include "cel/library/library_internal.h"

static kc__cel_map *set_of(kc__cel_eval *ev, kc_cel_value list)
{
    kc__cel_map *set = kc__cel_values_new(ev, kc__cel_list_len(list));
    kc__cel_iter iter;
    kc_cel_value item;
    kc__cel_iter_begin(ev, list, &iter);
    while (set && kc__cel_iter_next(ev, &iter, &item, NULL))
        if (!kc__cel_map_put(ev, set, item, item))
            return NULL;
    return set;
}

/* Whether all (or any) elements of `list` are in `of`. */
static kc_cel_value members(kc__cel_eval *ev, kc_cel_value of, kc_cel_value list, bool all)
{
    kc__cel_map *set = set_of(ev, of);
    if (!set)
        return kc__cel_error_const(ev->why);
    kc__cel_iter iter;
    kc_cel_value item, found;
    kc__cel_iter_begin(ev, list, &iter);
    while (kc__cel_iter_next(ev, &iter, &item, NULL))
        if (kc__cel_map_find(ev, kc__cel_map_value(set), item, &found) != all)
            return kc__cel_bool(!all);
    return kc__cel_bool(all);
}

KC__CEL_FUNCTION(sets_contains)
{
    return members(ev, a[0], a[1], true);
}

KC__CEL_FUNCTION(sets_intersects)
{
    return members(ev, a[1], a[0], false);
}

KC__CEL_FUNCTION(sets_equivalent)
{
    kc_cel_value contains = members(ev, a[0], a[1], true);
    return kc_cel_is_true(contains) ? members(ev, a[1], a[0], true) : contains;
}

static uint64_t sets_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return 1 + kc__cel_size(a[0]) * kc__cel_size(a[1]);
}

static uint64_t equivalent_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return 1 + 2 * kc__cel_size(a[0]) * kc__cel_size(a[1]);
}

static kc__cel_estimate estimate_sets_by(const kc__cel_estimate_args *args, double factor)
{
    kc_cel_cost pairs = kc__cel_range_multiply(args->sizes[0], args->sizes[1]);
    return kc__cel_estimate_cost_only(
        kc__cel_range_add(kc__cel_range_factor(pairs, factor), kc__cel_range(1, 1)));
}

static kc__cel_estimate estimate_sets(const kc__cel_estimate_args *args)
{
    return estimate_sets_by(args, 1);
}

static kc__cel_estimate estimate_equivalent(const kc__cel_estimate_args *args)
{
    return estimate_sets_by(args, 2);
}

static const kc__cel_overload overloads[] = {
    KC__CEL_ROW("sets.contains", "list_sets_contains_list", false, sets_contains, sets_cost,
                estimate_sets, T_BOOL, T_LIST, T_LIST),
    KC__CEL_ROW("sets.equivalent", "list_sets_equivalent_list", false, sets_equivalent,
                equivalent_cost, estimate_equivalent, T_BOOL, T_LIST, T_LIST),
    KC__CEL_ROW("sets.intersects", "list_sets_intersects_list", false, sets_intersects, sets_cost,
                estimate_sets, T_BOOL, T_LIST, T_LIST),
};

const kc__cel_library kc__cel_library_sets = {overloads, KC_COUNT(overloads), KC__CEL_STRINGS_29};
