/* SPDX-License-Identifier: Apache-2.0 */
/* range.c: ranges of costs and sizes. Arithmetic saturates at UINT64_MAX, as cel-go's does. */
#include "cel/library/function_internal.h"

#include <math.h>

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t multiply_saturating(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t kc__cel_cost_factor(uint64_t size, double factor)
{
    double cost = ceil((double)size * factor);
    return cost >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)cost;
}

kc_cel_cost kc__cel_range(uint64_t min, uint64_t max)
{
    return (kc_cel_cost){min, max};
}

kc_cel_cost kc__cel_range_add(kc_cel_cost a, kc_cel_cost b)
{
    return kc__cel_range(add_saturating(a.min, b.min), add_saturating(a.max, b.max));
}

kc_cel_cost kc__cel_range_multiply(kc_cel_cost a, kc_cel_cost b)
{
    return kc__cel_range(multiply_saturating(a.min, b.min), multiply_saturating(a.max, b.max));
}

kc_cel_cost kc__cel_range_factor(kc_cel_cost a, double factor)
{
    return kc__cel_range(kc__cel_cost_factor(a.min, factor), kc__cel_cost_factor(a.max, factor));
}

kc_cel_cost kc__cel_range_union(kc_cel_cost a, kc_cel_cost b)
{
    return kc__cel_range(KC_MIN(a.min, b.min), KC_MAX(a.max, b.max));
}

kc__cel_estimate kc__cel_estimate_cost_only(kc_cel_cost cost)
{
    return (kc__cel_estimate){.cost = cost};
}

kc__cel_estimate kc__cel_estimate_traversal(kc_cel_cost size)
{
    return kc__cel_estimate_cost_only(kc__cel_range_factor(size, KC__CEL_STRING_FACTOR));
}

kc_cel_cost kc__cel_estimate_match(kc_cel_cost text, kc_cel_cost pattern)
{
    kc_cel_cost one = kc__cel_range(1, 1);
    return kc__cel_range_multiply(
        kc__cel_range_factor(kc__cel_range_add(text, one), KC__CEL_STRING_FACTOR),
        kc__cel_range_factor(pattern, KC__CEL_REGEX_FACTOR));
}

kc__cel_estimate kc__cel_estimate_comparison(const kc__cel_estimate_args *args)
{
    uint64_t max = KC_MIN(args->sizes[0].max, args->sizes[1].max);
    return kc__cel_estimate_traversal(kc__cel_range(max > 0, max));
}
