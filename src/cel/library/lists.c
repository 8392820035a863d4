/* SPDX-License-Identifier: Apache-2.0 */
/* lists.c: Kubernetes' functions of lists: isSorted, sum, min, max, indexOf, lastIndexOf.
 */
#include "cel/library/library_internal.h"

/* Elements without an order are refused; two of different types are not. */
static bool has_order(kc_cel_value v)
{
    return kc__cel_compare(v, v) != KC__CEL_UNORDERED;
}

KC__CEL_FUNCTION(is_sorted)
{
    kc__cel_iter iter;
    kc_cel_value item, previous;
    bool first = true;
    kc__cel_iter_begin(ev, a[0], &iter);
    while (kc__cel_iter_next(ev, &iter, &item, NULL)) {
        if (!has_order(item))
            return kc__cel_no_such_overload();
        kc__cel_order order = first ? KC__CEL_SAME : kc__cel_compare(previous, item);
        if (order == KC__CEL_AFTER)
            return kc__cel_bool(false);
        previous = item;
        first = false;
    }
    return kc__cel_bool(true);
}

/* Adds two numbers or durations of the same kind. */
static kc_cel_value add_numbers(kc_cel_value a, kc_cel_value b)
{
    if (a.kind != b.kind)
        return kc__cel_no_such_overload();
    switch ((kc_cel_kind)a.kind) {
    case KC_CEL_DOUBLE: return kc__cel_double(a.number + b.number);
    case KC_CEL_UINT:
        return __builtin_add_overflow(a.natural, b.natural, &a.natural)
                   ? kc__cel_error_const("unsigned integer overflow")
                   : a;
    default:
        return __builtin_add_overflow(a.integer, b.integer, &a.integer)
                   ? kc__cel_error_const("integer overflow")
                   : a;
    }
}

static kc_cel_value sum_from(kc__cel_eval *ev, kc_cel_value list, kc_cel_kind kind)
{
    kc_cel_value total = {.kind = (uint8_t)kind}, item;
    kc__cel_iter iter;
    kc__cel_iter_begin(ev, list, &iter);
    while (kc__cel_iter_next(ev, &iter, &item, NULL)) {
        total = add_numbers(total, item);
        if (kc__cel_is_error(total))
            return total;
    }
    return total;
}

KC__CEL_FUNCTION(sum_int)
{
    return sum_from(ev, a[0], KC_CEL_INT);
}

KC__CEL_FUNCTION(sum_uint)
{
    return sum_from(ev, a[0], KC_CEL_UINT);
}

KC__CEL_FUNCTION(sum_double)
{
    return sum_from(ev, a[0], KC_CEL_DOUBLE);
}

KC__CEL_FUNCTION(sum_duration)
{
    return sum_from(ev, a[0], KC_CEL_DURATION);
}

static kc_cel_value extreme(kc__cel_eval *ev, kc_cel_value list, kc__cel_order replaces,
                            const char *name)
{
    kc__cel_iter iter;
    kc_cel_value item, best = {0};
    bool any = false;
    kc__cel_iter_begin(ev, list, &iter);
    while (kc__cel_iter_next(ev, &iter, &item, NULL)) {
        if (!has_order(item))
            return kc__cel_no_such_overload();
        if (!any || kc__cel_compare(best, item) == replaces)
            best = item;
        any = true;
    }
    return any ? best : kc__cel_error(ev, "%s called on empty list", name);
}

KC__CEL_FUNCTION(list_min)
{
    return extreme(ev, a[0], KC__CEL_AFTER, "min");
}

KC__CEL_FUNCTION(list_max)
{
    return extreme(ev, a[0], KC__CEL_BEFORE, "max");
}

/* The first or last position of an element; -1. */
static kc_cel_value position_of(kc__cel_eval *ev, const kc_cel_value *a, bool last)
{
    kc__cel_iter iter;
    kc_cel_value item;
    int64_t found = -1;
    kc__cel_iter_begin(ev, a[0], &iter);
    for (int64_t i = 0; (found < 0 || last) && kc__cel_iter_next(ev, &iter, &item, NULL); i++)
        if (kc__cel_equal(ev, item, a[1]))
            found = i;
    return kc__cel_int(found);
}

KC__CEL_FUNCTION(list_index_of)
{
    return position_of(ev, a, false);
}

KC__CEL_FUNCTION(list_last_index_of)
{
    return position_of(ev, a, true);
}

#define LIST_OF(element) \
    {.kind = KC_CEL_LIST, .name = "list", .params = {&kc__cel_type_##element}, .n_params = 1}

static const kc_cel_type list_int = LIST_OF(int), list_uint = LIST_OF(uint),
                         list_double = LIST_OF(double), list_bool = LIST_OF(bool),
                         list_duration = LIST_OF(duration), list_timestamp = LIST_OF(timestamp),
                         list_string = LIST_OF(string), list_bytes = LIST_OF(bytes);

#define LIST_ROW(function, id, impl, result, ...)                                                  \
    KC__CEL_ROW(function, id, true, impl, kc__cel_cost_traversal, kc__cel_estimate_list_traversal, \
                result, __VA_ARGS__)
#define COMPARABLE(name)                                                                    \
    LIST_ROW("isSorted", "list_" #name "_is_sorted_bool", is_sorted, T_BOOL, &list_##name), \
        LIST_ROW("min", "list_" #name "_min_" #name, list_min, &kc__cel_type_##name,        \
                 &list_##name),                                                             \
        LIST_ROW("max", "list_" #name "_max_" #name, list_max, &kc__cel_type_##name, &list_##name)
#define SUMMABLE(name) \
    LIST_ROW("sum", "list_" #name "_sum_" #name, sum_##name, &kc__cel_type_##name, &list_##name)

static const kc__cel_overload overloads[] = {
    COMPARABLE(int),
    COMPARABLE(uint),
    COMPARABLE(double),
    COMPARABLE(bool),
    COMPARABLE(duration),
    COMPARABLE(timestamp),
    COMPARABLE(string),
    COMPARABLE(bytes),
    SUMMABLE(int),
    SUMMABLE(uint),
    SUMMABLE(double),
    SUMMABLE(duration),
    LIST_ROW("indexOf", "list_a_index_of_int", list_index_of, T_INT, T_LIST, T_A),
    LIST_ROW("lastIndexOf", "list_a_last_index_of_int", list_last_index_of, T_INT, T_LIST, T_A),
};

const kc__cel_library kc__cel_library_lists = {overloads, KC_COUNT(overloads), KC__CEL_ALWAYS};
