/* SPDX-License-Identifier: Apache-2.0 */
/* costs.c: costs of functions of Kubernetes' libraries that several of them share. */
#include "cel/library/library_internal.h"

uint64_t kc__cel_cost_first(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return kc__cel_cost_factor(kc__cel_size(a[0]), KC__CEL_STRING_FACTOR);
}

uint64_t kc__cel_cost_first_twice(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return kc__cel_cost_factor(kc__cel_size(a[0]), 2 * KC__CEL_STRING_FACTOR);
}

/* Every element of a list or map, at any depth; texts by their length. */
static uint64_t traversal_cost(kc__cel_eval *ev, kc_cel_value v)
{
    if (v.kind == KC_CEL_STRING || v.kind == KC_CEL_BYTES)
        return (uint64_t)((double)v.text.n * KC__CEL_STRING_FACTOR);
    kc__cel_iter iter;
    if (!kc__cel_iter_begin(ev, v, &iter))
        return 1;
    bool map = v.kind != KC_CEL_LIST;
    kc_cel_value key, value = {0};
    uint64_t cost = 0;
    while (kc__cel_iter_next(ev, &iter, &key, map ? &value : NULL))
        cost += traversal_cost(ev, key) + (map ? traversal_cost(ev, value) : 0);
    return cost;
}

uint64_t kc__cel_cost_traversal(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    kc_scoped(kc_arena) arena = {0};
    kc__cel_eval ev = {.arena = &arena, .max_bytes = SIZE_MAX, .budget = UINT64_MAX};
    (void)n, (void)result;
    return traversal_cost(&ev, a[0]);
}

kc__cel_estimate kc__cel_estimate_first(const kc__cel_estimate_args *args)
{
    return kc__cel_estimate_traversal(args->sizes[0]);
}

kc__cel_estimate kc__cel_estimate_first_twice(const kc__cel_estimate_args *args)
{
    return kc__cel_estimate_cost_only(
        kc__cel_range_factor(args->sizes[0], 2 * KC__CEL_STRING_FACTOR));
}

kc__cel_estimate kc__cel_estimate_first_sized(const kc__cel_estimate_args *args)
{
    kc__cel_estimate estimate = kc__cel_estimate_first(args);
    estimate.has_size = true;
    estimate.size = args->sizes[0];
    return estimate;
}

kc__cel_estimate kc__cel_estimate_list_traversal(const kc__cel_estimate_args *args)
{
    if (!args->has_elements)
        return kc__cel_estimate_first(args);
    kc_cel_cost element = kc__cel_range(1, 1);
    if (args->element_kind == KC_CEL_STRING || args->element_kind == KC_CEL_BYTES)
        element = kc__cel_range_add(
            element, kc__cel_range_factor(args->element_size, KC__CEL_STRING_FACTOR));
    return kc__cel_estimate_cost_only(kc__cel_range_multiply(args->sizes[0], element));
}
