/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lists_34.c: functions of lists that Kubernetes 1.34 adds: slice, flatten, sort, sortBy (a
 * macro), reverse, distinct, lists.range.
 *
 * Costs are cel-go's: the square of the length for sort and distinct, although both take less here.
 */
#include "cel/library/library_internal.h"

#include <math.h>

static kc_cel_value list_or_stopped(kc__cel_eval *ev, kc__cel_list *list)
{
    return list && !ev->stopped ? kc__cel_list_value(list) : kc__cel_error_const(ev->why);
}

KC__CEL_FUNCTION(list_slice)
{
    int64_t start = a[1].integer, end = a[2].integer;
    int64_t length = (int64_t)kc__cel_list_len(a[0]);
    if (start < 0 || end < 0)
        return kc__cel_error(ev, "cannot slice(%lld, %lld), negative indexes not supported",
                             (long long)start, (long long)end);
    if (start > end)
        return kc__cel_error(
            ev, "cannot slice(%lld, %lld), start index must be less than or equal to end index",
            (long long)start, (long long)end);
    if (length < end)
        return kc__cel_error(ev, "cannot slice(%lld, %lld), list is length %lld", (long long)start,
                             (long long)end, (long long)length);
    kc__cel_list *list = kc__cel_list_new(ev, (size_t)(end - start));
    for (int64_t i = start; i < end && list; i++)
        kc__cel_list_append(ev, list, kc__cel_list_at(ev, a[0], (size_t)i));
    return list_or_stopped(ev, list);
}

/* The recursion is as deep as the value, which an expression or JSON limits. */
static void flatten_into(kc__cel_eval *ev, kc__cel_list *list, kc_cel_value from, int64_t depth)
{
    kc__cel_iter iter;
    kc_cel_value item;
    kc__cel_iter_begin(ev, from, &iter);
    while (kc__cel_iter_next(ev, &iter, &item, NULL)) {
        if (item.kind == KC_CEL_LIST && depth > 0)
            flatten_into(ev, list, item, depth - 1);
        else
            kc__cel_list_append(ev, list, item);
    }
}

/* Any list may reach it: one that has no lists remains as it is. */
KC__CEL_FUNCTION(list_flatten)
{
    if (a[0].kind != KC_CEL_LIST || (n > 1 && a[1].kind != KC_CEL_INT))
        return kc__cel_no_such_overload();
    int64_t depth = n > 1 ? a[1].integer : 1;
    if (depth < 0)
        return kc__cel_error_const("level must be non-negative");
    kc__cel_list *list = kc__cel_list_new(ev, 0);
    if (list)
        flatten_into(ev, list, a[0], depth);
    return list_or_stopped(ev, list);
}

KC__CEL_FUNCTION(lists_range)
{
    kc__cel_list *list = kc__cel_list_new(ev, 0);
    for (int64_t i = 0; i < a[0].integer && list; i++)
        if (!kc__cel_list_append(ev, list, kc__cel_int(i)))
            break;
    return list_or_stopped(ev, list);
}

KC__CEL_FUNCTION(list_reverse)
{
    size_t length = kc__cel_list_len(a[0]);
    kc__cel_list *list = kc__cel_list_new(ev, length);
    kc__cel_iter iter;
    kc_cel_value item;
    kc__cel_iter_begin(ev, a[0], &iter);
    for (size_t i = length; list && kc__cel_iter_next(ev, &iter, &item, NULL) && i > 0;)
        list->items[--i] = item;
    if (list)
        list->n = length;
    return list_or_stopped(ev, list);
}

KC__CEL_FUNCTION(list_distinct)
{
    kc__cel_list *list = kc__cel_list_new(ev, 0);
    kc__cel_map *seen = kc__cel_values_new(ev, 0);
    kc__cel_iter iter;
    kc_cel_value item, found;
    kc__cel_iter_begin(ev, a[0], &iter);
    while (list && seen && kc__cel_iter_next(ev, &iter, &item, NULL)) {
        if (kc__cel_map_find(ev, kc__cel_map_value(seen), item, &found))
            continue;
        kc__cel_map_put(ev, seen, item, item);
        kc__cel_list_append(ev, list, item);
    }
    return list_or_stopped(ev, list);
}

/* ---- sort ---- */

typedef struct sort_entry {
    kc_cel_value key, value;
    size_t position;
} sort_entry;

static int compare_entries(const void *a, const void *b)
{
    const sort_entry *x = a, *y = b;
    kc__cel_order order = kc__cel_compare(x->key, y->key);
    if (order == KC__CEL_BEFORE || order == KC__CEL_AFTER)
        return order;
    return (x->position > y->position) - (x->position < y->position);
}

static kc_cel_value sort_by(kc__cel_eval *ev, kc_cel_value values, kc_cel_value keys)
{
    if (values.kind != KC_CEL_LIST || keys.kind != KC_CEL_LIST)
        return kc__cel_no_such_overload();
    size_t length = kc__cel_list_len(values), n_keys = kc__cel_list_len(keys);
    if (length != n_keys)
        return kc__cel_error(ev,
                             "@sortByAssociatedKeys() expected a list of the same size as the "
                             "associated keys list, but got %zu and %zu elements respectively",
                             length, n_keys);
    if (!length)
        return values;
    sort_entry *entries = kc__cel_alloc(ev, length * sizeof(*entries));
    kc__cel_list *list = kc__cel_list_new(ev, length);
    if (!entries || !list)
        return kc__cel_error_const(ev->why);
    for (size_t i = 0; i < length; i++) {
        entries[i] = (sort_entry){kc__cel_list_at(ev, keys, i), kc__cel_list_at(ev, values, i), i};
        if (i == 0 && kc__cel_compare(entries[0].key, entries[0].key) == KC__CEL_UNORDERED)
            return kc__cel_error_const("list elements must be comparable");
        if (entries[i].key.kind != entries[0].key.kind)
            return kc__cel_error_const("list elements must have the same type");
    }
    qsort(entries, length, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < length; i++)
        kc__cel_list_append(ev, list, entries[i].value);
    return list_or_stopped(ev, list);
}

KC__CEL_FUNCTION(list_sort)
{
    return sort_by(ev, a[0], a[0]);
}

KC__CEL_FUNCTION(list_sort_by)
{
    return sort_by(ev, a[0], a[1]);
}

/* ---- costs ---- */

/* The factor is negative in a call that fails. Go converts such a number on amd64 as one with a
 * sign, and one beyond to 2^63. */
static uint64_t allocating_cost(double factor, uint64_t size)
{
    double cost = (double)size * factor;
    return fabs(cost) >= 0x1p63 ? (uint64_t)1 << 63 : (uint64_t)(int64_t)cost + 1 + 10;
}

static uint64_t output_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)a, (void)n;
    return allocating_cost(1, kc__cel_size(result));
}

static uint64_t flatten_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)result;
    return allocating_cost(n > 1 ? (double)a[1].integer : 1, kc__cel_size(a[0]));
}

static uint64_t self_compare_cost(kc_cel_value list)
{
    uint64_t size = kc__cel_size(list);
    kc_scoped(kc_arena) arena = {0};
    kc__cel_eval ev = {.arena = &arena, .max_bytes = SIZE_MAX, .budget = UINT64_MAX};
    double factor = 2;
    if (size && list.kind == KC_CEL_LIST) {
        kc_cel_value first = kc__cel_list_at(&ev, list, 0);
        if (first.kind == KC_CEL_STRING || first.kind == KC_CEL_BYTES)
            factor += KC__CEL_STRING_FACTOR;
    }
    return allocating_cost(factor, size * size);
}

static uint64_t sort_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return self_compare_cost(a[0]);
}

static uint64_t sort_by_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return self_compare_cost(a[1]);
}

static kc__cel_estimate estimate_allocating(double factor, kc_cel_cost size)
{
    return (kc__cel_estimate){
        .cost = kc__cel_range_add(kc__cel_range_factor(size, factor), kc__cel_range(11, 11)),
        .has_size = true,
        .size = size};
}

static uint64_t literal_or(const kc__cel_expr *e, uint64_t otherwise)
{
    if (e->kind != KC__CEL_LITERAL || e->literal.kind != KC_CEL_INT)
        return otherwise;
    return e->literal.integer < 0 ? 0 : (uint64_t)e->literal.integer;
}

static kc__cel_estimate estimate_slice(const kc__cel_estimate_args *args)
{
    uint64_t start = literal_or(args->exprs[1], 0);
    uint64_t end = literal_or(args->exprs[2], args->sizes[0].max);
    return estimate_allocating(1, kc__cel_range(end - start, end - start));
}

static kc__cel_estimate estimate_range(const kc__cel_estimate_args *args)
{
    uint64_t n = literal_or(args->exprs[0], UINT64_MAX);
    return estimate_allocating(1, kc__cel_range(n, n));
}

static kc__cel_estimate estimate_reverse(const kc__cel_estimate_args *args)
{
    return estimate_allocating(1, args->sizes[0]);
}

static kc__cel_estimate estimate_flatten(const kc__cel_estimate_args *args)
{
    uint64_t depth = args->n > 1 ? literal_or(args->exprs[1], UINT64_MAX) : 1;
    return estimate_allocating((double)depth, args->sizes[0]);
}

static kc__cel_estimate estimate_square(const kc__cel_estimate_args *args)
{
    return estimate_allocating(2, kc__cel_range_multiply(args->sizes[0], args->sizes[0]));
}

static kc__cel_estimate estimate_square_text(const kc__cel_estimate_args *args)
{
    return estimate_allocating(2 + KC__CEL_STRING_FACTOR,
                               kc__cel_range_multiply(args->sizes[0], args->sizes[0]));
}

static kc__cel_estimate estimate_keys_square(const kc__cel_estimate_args *args)
{
    return estimate_allocating(2, kc__cel_range_multiply(args->sizes[1], args->sizes[1]));
}

static kc__cel_estimate estimate_keys_square_text(const kc__cel_estimate_args *args)
{
    return estimate_allocating(2 + KC__CEL_STRING_FACTOR,
                               kc__cel_range_multiply(args->sizes[1], args->sizes[1]));
}

#define LIST_OF_TYPE(element) \
    {.kind = KC_CEL_LIST, .name = "list", .params = {&kc__cel_type_##element}, .n_params = 1}

static const kc_cel_type list_int = LIST_OF_TYPE(int), list_uint = LIST_OF_TYPE(uint),
                         list_double = LIST_OF_TYPE(double), list_bool = LIST_OF_TYPE(bool),
                         list_duration = LIST_OF_TYPE(duration),
                         list_timestamp = LIST_OF_TYPE(timestamp),
                         list_string = LIST_OF_TYPE(string), list_bytes = LIST_OF_TYPE(bytes),
                         list_list = {.kind = KC_CEL_LIST,
                                      .name = "list",
                                      .params = {&kc__cel_type_list_a},
                                      .n_params = 1};

/* cel-go does not check the arguments of such a function: the implementation does. Further members
 * may follow. */
#define UNGUARDED_ROW(function_, id_, impl_, actual_, estimate_, result_, args_, ...) \
    {.function = function_,                                                           \
     .id = id_,                                                                       \
     .member = true,                                                                  \
     .checks_arguments = true,                                                        \
     .impl = impl_,                                                                   \
     .actual = actual_,                                                               \
     .estimate = estimate_,                                                           \
     .result = result_,                                                               \
     .args = args_,                                                                   \
     ##__VA_ARGS__}
#define ARGS(...) {__VA_ARGS__}
#define SORT_ROWS(name, id, text)                                                                \
    UNGUARDED_ROW("sort", "list_" id "_sort", list_sort, sort_cost, estimate_square##text,       \
                  &list_##name, ARGS(&list_##name), .costs_list = 1),                            \
        UNGUARDED_ROW("@sortByAssociatedKeys", "list_" id "_sortByAssociatedKeys", list_sort_by, \
                      sort_by_cost, estimate_keys_square##text, T_LIST,                          \
                      ARGS(T_LIST, &list_##name), .costs_list = 2)

static const kc__cel_overload overloads[] = {
    KC__CEL_ROW_BY_ID("slice", "list_slice", true, list_slice, output_cost, estimate_slice, T_LIST,
                      T_LIST, T_INT, T_INT),
    UNGUARDED_ROW("flatten", "list_flatten", list_flatten, flatten_cost, estimate_flatten, T_LIST,
                  ARGS(&list_list)),
    UNGUARDED_ROW("flatten", "list_flatten_int", list_flatten, flatten_cost, estimate_flatten,
                  &kc__cel_type_list_dyn, ARGS(&kc__cel_type_list_dyn, T_INT), .costs_int = 2),
    SORT_ROWS(int, "int", ),
    SORT_ROWS(uint, "uint", ),
    SORT_ROWS(double, "double", ),
    SORT_ROWS(bool, "bool", ),
    SORT_ROWS(duration, "google.protobuf.Duration", ),
    SORT_ROWS(timestamp, "google.protobuf.Timestamp", ),
    SORT_ROWS(string, "string", _text),
    SORT_ROWS(bytes, "bytes", _text),
    KC__CEL_ROW_BY_ID("lists.range", "lists_range", false, lists_range, output_cost, estimate_range,
                      &list_int, T_INT),
    KC__CEL_ROW_BY_ID("reverse", "list_reverse", true, list_reverse, output_cost, estimate_reverse,
                      T_LIST, T_LIST),
    {.function = "distinct",
     .id = "list_distinct",
     .member = true,
     .dispatched = true,
     .impl = list_distinct,
     .actual = sort_cost,
     .estimate = estimate_square,
     .result = T_LIST,
     .args = {T_LIST},
     .costs_list = 1},
};

const kc__cel_library kc__cel_library_lists_34 = {overloads, KC_COUNT(overloads), KC__CEL_LISTS_34};
