/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c: the operators <, <=, > and >=.
 *
 * Four functions with one order. Numbers of different types compare by value. The rows are
 * generated from the list of comparable pairs of types, in the order of cel-go's declarations.
 */
#include "cel/eval/eval_internal.h"

static kc_cel_value compared(const kc_cel_value *a, bool before, bool same, bool after)
{
    switch (kc__cel_compare(a[0], a[1])) {
    case KC__CEL_BEFORE: return kc__cel_bool(before);
    case KC__CEL_SAME: return kc__cel_bool(same);
    case KC__CEL_AFTER: return kc__cel_bool(after);
    case KC__CEL_NAN: return kc__cel_error_const("NaN values cannot be ordered");
    default: return kc__cel_no_such_overload();
    }
}

static kc_cel_value is_less(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return compared(a, true, false, false);
}

static kc_cel_value is_less_or_equal(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return compared(a, true, true, false);
}

static kc_cel_value is_greater(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return compared(a, false, false, true);
}

static kc_cel_value is_greater_or_equal(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return compared(a, false, true, true);
}

static uint64_t shorter_text_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    uint64_t x = kc__cel_size(a[0]), y = kc__cel_size(a[1]);
    return kc__cel_cost_factor(KC_MIN(x, y), KC__CEL_STRING_FACTOR);
}

#define PAIR(fn, prefix, suffix, impl_, a, b, cost, estimate_) \
    {.function = fn,                                           \
     .id = prefix suffix,                                      \
     .impl = impl_,                                            \
     .result = &kc__cel_type_bool,                             \
     .args = {&kc__cel_type_##a, &kc__cel_type_##b},           \
     .actual = cost,                                           \
     .estimate = estimate_},

#define PAIRS(fn, prefix, impl)                                                                    \
    PAIR(fn, prefix, "_bool", impl, bool, bool, NULL, NULL)                                        \
    PAIR(fn, prefix, "_int64", impl, int, int, NULL, NULL)                                         \
    PAIR(fn, prefix, "_int64_double", impl, int, double, NULL, NULL)                               \
    PAIR(fn, prefix, "_int64_uint64", impl, int, uint, NULL, NULL)                                 \
    PAIR(fn, prefix, "_uint64", impl, uint, uint, NULL, NULL)                                      \
    PAIR(fn, prefix, "_uint64_double", impl, uint, double, NULL, NULL)                             \
    PAIR(fn, prefix, "_uint64_int64", impl, uint, int, NULL, NULL)                                 \
    PAIR(fn, prefix, "_double", impl, double, double, NULL, NULL)                                  \
    PAIR(fn, prefix, "_double_int64", impl, double, int, NULL, NULL)                               \
    PAIR(fn, prefix, "_double_uint64", impl, double, uint, NULL, NULL)                             \
    PAIR(fn, prefix, "_string", impl, string, string, shorter_text_cost,                           \
         kc__cel_estimate_comparison)                                                              \
    PAIR(fn, prefix, "_bytes", impl, bytes, bytes, shorter_text_cost, kc__cel_estimate_comparison) \
    PAIR(fn, prefix, "_timestamp", impl, timestamp, timestamp, NULL, NULL)                         \
    PAIR(fn, prefix, "_duration", impl, duration, duration, NULL, NULL)

static const kc__cel_overload overloads[] = {
    PAIRS(KC__CEL_OP_LESS, "less", is_less)
        PAIRS(KC__CEL_OP_LESS_EQUAL, "less_equals", is_less_or_equal)
            PAIRS(KC__CEL_OP_GREATER, "greater", is_greater)
                PAIRS(KC__CEL_OP_GREATER_EQUAL, "greater_equals", is_greater_or_equal)};

const kc__cel_library kc__cel_library_compare = {overloads, KC_COUNT(overloads), KC__CEL_ALWAYS};
