/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operators.c: arithmetic, logic, indexing, membership and size.
 *
 * The evaluator implements &&, ||, ?:, ==, != and indexing itself (eval.c); their rows declare them
 * to the checker. Overflow and division by zero are errors.
 */
#include "cel/library/library_internal.h"

#include <math.h>

static kc_cel_value int_overflow(void)
{
    return kc__cel_error_const("integer overflow");
}

static kc_cel_value uint_overflow(void)
{
    return kc__cel_error_const("unsigned integer overflow");
}

/* ---- integers ---- */

static kc_cel_value add_int(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    int64_t r;
    (void)ev, (void)n;
    return __builtin_add_overflow(a[0].integer, a[1].integer, &r) ? int_overflow() : kc__cel_int(r);
}

static kc_cel_value subtract_int(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    int64_t r;
    (void)ev, (void)n;
    return __builtin_sub_overflow(a[0].integer, a[1].integer, &r) ? int_overflow() : kc__cel_int(r);
}

static kc_cel_value multiply_int(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    int64_t r;
    (void)ev, (void)n;
    return __builtin_mul_overflow(a[0].integer, a[1].integer, &r) ? int_overflow() : kc__cel_int(r);
}

static kc_cel_value divide_int(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    if (a[1].integer == 0)
        return kc__cel_error_const("division by zero");
    if (a[0].integer == INT64_MIN && a[1].integer == -1)
        return int_overflow();
    return kc__cel_int(a[0].integer / a[1].integer);
}

static kc_cel_value modulo_int(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    if (a[1].integer == 0)
        return kc__cel_error_const("modulus by zero");
    if (a[0].integer == INT64_MIN && a[1].integer == -1)
        return int_overflow();
    return kc__cel_int(a[0].integer % a[1].integer);
}

static kc_cel_value negate_int(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return a[0].integer == INT64_MIN ? int_overflow() : kc__cel_int(-a[0].integer);
}

static kc_cel_value add_uint(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    uint64_t r;
    (void)ev, (void)n;
    return __builtin_add_overflow(a[0].natural, a[1].natural, &r) ? uint_overflow()
                                                                  : kc__cel_uint(r);
}

static kc_cel_value subtract_uint(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    uint64_t r;
    (void)ev, (void)n;
    return __builtin_sub_overflow(a[0].natural, a[1].natural, &r) ? uint_overflow()
                                                                  : kc__cel_uint(r);
}

static kc_cel_value multiply_uint(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    uint64_t r;
    (void)ev, (void)n;
    return __builtin_mul_overflow(a[0].natural, a[1].natural, &r) ? uint_overflow()
                                                                  : kc__cel_uint(r);
}

static kc_cel_value divide_uint(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return a[1].natural ? kc__cel_uint(a[0].natural / a[1].natural)
                        : kc__cel_error_const("division by zero");
}

static kc_cel_value modulo_uint(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return a[1].natural ? kc__cel_uint(a[0].natural % a[1].natural)
                        : kc__cel_error_const("modulus by zero");
}

/* ---- doubles ---- */

static kc_cel_value add_double(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_double(a[0].number + a[1].number);
}

static kc_cel_value subtract_double(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_double(a[0].number - a[1].number);
}

static kc_cel_value multiply_double(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_double(a[0].number * a[1].number);
}

static kc_cel_value divide_double(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_double(a[0].number / a[1].number);
}

static kc_cel_value negate_double(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_double(-a[0].number);
}

/* ---- text and lists ---- */

static kc_cel_value add_text(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)n;
    kc_str x = a[0].text, y = a[1].text;
    char *joined = kc__cel_alloc(ev, x.n + y.n);
    if (!joined)
        return kc__cel_error_const(ev->why);
    if (x.n)
        memcpy(joined, x.p, x.n);
    if (y.n)
        memcpy(joined + x.n, y.p, y.n);
    return (kc_cel_value){.kind = a[0].kind, .text = kc_str_of(joined, x.n + y.n)};
}

/* Extends the accumulator of a fold in place. */
static kc_cel_value extend_list(kc__cel_eval *ev, kc__cel_list *list, kc_cel_value more)
{
    kc__cel_iter iter;
    kc_cel_value item;
    kc__cel_iter_begin(ev, more, &iter);
    while (kc__cel_iter_next(ev, &iter, &item, NULL))
        if (!kc__cel_list_append(ev, list, item))
            return kc__cel_error_const(ev->why);
    return kc__cel_list_value(list);
}

static kc_cel_value add_lists(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)n;
    if (a[0].form == KC__CEL_OWN && a[0].list->growing)
        return extend_list(ev, a[0].list, a[1]);
    const kc_cel_type *keyed = kc__cel_list_keyed_type(a[0]);
    return keyed ? kc__cel_list_merge(ev, keyed, a[0], a[1]) : kc__cel_list_concat(ev, a[0], a[1]);
}

static kc_cel_value size_of(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)n;
    switch ((kc_cel_kind)a[0].kind) {
    case KC_CEL_STRING:
    case KC_CEL_BYTES:
    case KC_CEL_LIST:
    case KC_CEL_MAP:
    case KC_CEL_OBJECT: return kc__cel_int((int64_t)kc__cel_size(a[0]));
    default:
        return kc__cel_error(ev, "no such overload: size(%s)", kc__cel_type_of_value(a[0])->name);
    }
}

static kc_cel_value in_list(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    const bool declared = kc__cel_list_declared_type(a[1]) != NULL;
    kc__cel_iter iter;
    kc_cel_value item, error = kc__cel_bool(false);
    (void)n;
    kc__cel_iter_begin(ev, a[1], &iter);
    while (kc__cel_iter_next(ev, &iter, &item, NULL)) {
        kc_cel_value same =
            declared ? kc__cel_value_equals(ev, item, a[0]) : kc__cel_equals(ev, a[0], item);
        if (kc_cel_is_true(same))
            return same;
        if (declared && kc__cel_is_error(same) && !kc__cel_is_error(error))
            error = same;
    }
    return error;
}

static kc_cel_value in_map(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    kc_cel_value found = {0};
    (void)n;
    bool has = kc__cel_map_find(ev, a[1], a[0], &found);
    return has && kc__cel_is_error(found) ? found : kc__cel_bool(has);
}

static kc_cel_value not_bool(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_bool(!a[0].boolean);
}

static kc_cel_value not_strictly_false(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return a[0].kind == KC_CEL_BOOL ? a[0] : kc__cel_bool(true);
}

/* Operators of the evaluator. */
static kc_cel_value not_called(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)a, (void)n;
    return kc__cel_no_such_overload();
}

/* ---- time ---- */

enum { NANOS = 1000000000 };

static kc_cel_value checked_timestamp(int64_t seconds, int64_t nanos, int16_t zone)
{
    if (seconds < KC__CEL_TIME_MIN || seconds > KC__CEL_TIME_MAX)
        return kc__cel_error_const("timestamp overflow");
    return (kc_cel_value){
        .kind = KC_CEL_TIMESTAMP, .zone = zone, .nanos = (uint32_t)nanos, .integer = seconds};
}

static kc_cel_value shift_timestamp(kc_cel_value time, int64_t ns)
{
    int64_t seconds = time.integer + ns / NANOS, nanos = (int64_t)time.nanos + ns % NANOS;
    if (nanos < 0 || nanos >= NANOS) {
        seconds += nanos < 0 ? -1 : 1;
        nanos += nanos < 0 ? NANOS : -NANOS;
    }
    return checked_timestamp(seconds, nanos, time.zone);
}

static kc_cel_value span_value(bool overflow, int64_t ns)
{
    return overflow ? kc__cel_error_const("integer overflow")
                    : (kc_cel_value){.kind = KC_CEL_DURATION, .integer = ns};
}

static kc_cel_value add_spans(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    int64_t r = 0;
    (void)ev, (void)n;
    bool overflow = __builtin_add_overflow(a[0].integer, a[1].integer, &r);
    return span_value(overflow, r);
}

static kc_cel_value subtract_spans(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    int64_t r = 0;
    (void)ev, (void)n;
    bool overflow = __builtin_sub_overflow(a[0].integer, a[1].integer, &r);
    return span_value(overflow, r);
}

static kc_cel_value add_time_span(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return shift_timestamp(a[0], a[1].integer);
}

static kc_cel_value add_span_time(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return shift_timestamp(a[1], a[0].integer);
}

static kc_cel_value subtract_time_span(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    if (a[1].integer == INT64_MIN)
        return span_value(true, 0);
    return shift_timestamp(a[0], -a[1].integer);
}

static kc_cel_value subtract_times(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    int64_t seconds = a[0].integer - a[1].integer, ns = 0, r = 0;
    (void)ev, (void)n;
    if (__builtin_mul_overflow(seconds, (int64_t)NANOS, &ns) ||
        __builtin_add_overflow(ns, (int64_t)a[0].nanos - (int64_t)a[1].nanos, &r))
        return int_overflow();
    return span_value(false, r);
}

/* ---- costs ---- */

static uint64_t both_texts_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return kc__cel_cost_factor(kc__cel_size(a[0]) + kc__cel_size(a[1]), KC__CEL_STRING_FACTOR);
}

static uint64_t in_list_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return kc__cel_size(a[1]);
}

/* The sum of both; of texts also the cost of copying them. */
static kc__cel_estimate estimate_join(const kc__cel_estimate_args *args)
{
    kc_cel_cost size = kc__cel_range_add(args->sizes[0], args->sizes[1]);
    return (kc__cel_estimate){
        .cost = kc__cel_range_factor(size, KC__CEL_STRING_FACTOR), .has_size = true, .size = size};
}

static kc__cel_estimate estimate_add_list(const kc__cel_estimate_args *args)
{
    kc__cel_estimate estimate = estimate_join(args);
    estimate.cost = kc__cel_range(1, 1);
    return estimate;
}

static kc__cel_estimate estimate_in_list(const kc__cel_estimate_args *args)
{
    return kc__cel_estimate_cost_only(kc__cel_range_factor(args->sizes[1], 1));
}

#define GLOBAL(function_, id_, impl_, result_, ...)                                   \
    {                                                                                 \
        .function = function_, .id = id_, .impl = impl_, .result = result_, .args = { \
            __VA_ARGS__                                                               \
        }                                                                             \
    }
#define MEMBER(function_, id_, impl_, result_, ...)                                         \
    {                                                                                       \
        .function = function_, .id = id_, .member = true, .impl = impl_, .result = result_, \
        .args = {                                                                           \
            __VA_ARGS__                                                                     \
        }                                                                                   \
    }
#define SIZE(member_, id_, arg_)                                                    \
    {                                                                               \
        .function = "size", .id = id_, .member = member_, .checks_arguments = true, \
        .impl = size_of, .result = T_INT, .args = {                                 \
            arg_                                                                    \
        }                                                                           \
    }
#define COSTLY(function_, id_, impl_, actual_, estimate_, result_, ...)                            \
    {                                                                                              \
        .function = function_, .id = id_, .impl = impl_, .actual = actual_, .estimate = estimate_, \
        .result = result_, .args = {                                                               \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const kc__cel_overload overloads[] = {
    GLOBAL(KC__CEL_OP_CONDITIONAL, "conditional", not_called, T_A, T_BOOL, T_A, T_A),
    GLOBAL(KC__CEL_OP_AND, "logical_and", not_called, T_BOOL, T_BOOL, T_BOOL),
    GLOBAL(KC__CEL_OP_OR, "logical_or", not_called, T_BOOL, T_BOOL, T_BOOL),
    GLOBAL(KC__CEL_OP_NOT, "logical_not", not_bool, T_BOOL, T_BOOL),
    {.function = KC__CEL_OP_NOT_FALSE,
     .id = "not_strictly_false",
     .non_strict = true,
     .impl = not_strictly_false,
     .result = T_BOOL,
     .args = {T_BOOL}},
    COSTLY(KC__CEL_OP_EQUAL, "equals", not_called, NULL, kc__cel_estimate_comparison, T_BOOL, T_A,
           T_A),
    COSTLY(KC__CEL_OP_NOT_EQUAL, "not_equals", not_called, NULL, kc__cel_estimate_comparison,
           T_BOOL, T_A, T_A),

    COSTLY(KC__CEL_OP_ADD, "add_bytes", add_text, both_texts_cost, estimate_join, T_BYTES, T_BYTES,
           T_BYTES),
    GLOBAL(KC__CEL_OP_ADD, "add_double", add_double, T_DOUBLE, T_DOUBLE, T_DOUBLE),
    GLOBAL(KC__CEL_OP_ADD, "add_duration_duration", add_spans, T_SPAN, T_SPAN, T_SPAN),
    GLOBAL(KC__CEL_OP_ADD, "add_duration_timestamp", add_span_time, T_TIME, T_SPAN, T_TIME),
    GLOBAL(KC__CEL_OP_ADD, "add_timestamp_duration", add_time_span, T_TIME, T_TIME, T_SPAN),
    GLOBAL(KC__CEL_OP_ADD, "add_int64", add_int, T_INT, T_INT, T_INT),
    COSTLY(KC__CEL_OP_ADD, "add_lists", add_lists, NULL, estimate_add_list, T_LIST, T_LIST, T_LIST),
    COSTLY(KC__CEL_OP_ADD, "add_string", add_text, both_texts_cost, estimate_join, T_STRING,
           T_STRING, T_STRING),
    GLOBAL(KC__CEL_OP_ADD, "add_uint64", add_uint, T_UINT, T_UINT, T_UINT),

    GLOBAL(KC__CEL_OP_DIVIDE, "divide_double", divide_double, T_DOUBLE, T_DOUBLE, T_DOUBLE),
    GLOBAL(KC__CEL_OP_DIVIDE, "divide_int64", divide_int, T_INT, T_INT, T_INT),
    GLOBAL(KC__CEL_OP_DIVIDE, "divide_uint64", divide_uint, T_UINT, T_UINT, T_UINT),
    GLOBAL(KC__CEL_OP_MODULO, "modulo_int64", modulo_int, T_INT, T_INT, T_INT),
    GLOBAL(KC__CEL_OP_MODULO, "modulo_uint64", modulo_uint, T_UINT, T_UINT, T_UINT),
    GLOBAL(KC__CEL_OP_MULTIPLY, "multiply_double", multiply_double, T_DOUBLE, T_DOUBLE, T_DOUBLE),
    GLOBAL(KC__CEL_OP_MULTIPLY, "multiply_int64", multiply_int, T_INT, T_INT, T_INT),
    GLOBAL(KC__CEL_OP_MULTIPLY, "multiply_uint64", multiply_uint, T_UINT, T_UINT, T_UINT),
    GLOBAL(KC__CEL_OP_NEGATE, "negate_double", negate_double, T_DOUBLE, T_DOUBLE),
    GLOBAL(KC__CEL_OP_NEGATE, "negate_int64", negate_int, T_INT, T_INT),
    GLOBAL(KC__CEL_OP_SUBTRACT, "subtract_double", subtract_double, T_DOUBLE, T_DOUBLE, T_DOUBLE),
    GLOBAL(KC__CEL_OP_SUBTRACT, "subtract_duration_duration", subtract_spans, T_SPAN, T_SPAN,
           T_SPAN),
    GLOBAL(KC__CEL_OP_SUBTRACT, "subtract_int64", subtract_int, T_INT, T_INT, T_INT),
    GLOBAL(KC__CEL_OP_SUBTRACT, "subtract_timestamp_duration", subtract_time_span, T_TIME, T_TIME,
           T_SPAN),
    GLOBAL(KC__CEL_OP_SUBTRACT, "subtract_timestamp_timestamp", subtract_times, T_SPAN, T_TIME,
           T_TIME),
    GLOBAL(KC__CEL_OP_SUBTRACT, "subtract_uint64", subtract_uint, T_UINT, T_UINT, T_UINT),

    GLOBAL(KC__CEL_OP_INDEX, "index_list", not_called, T_A, T_LIST, T_INT),
    GLOBAL(KC__CEL_OP_INDEX, "index_map", not_called, T_B, T_MAP, T_A),
    COSTLY(KC__CEL_OP_IN, "in_list", in_list, in_list_cost, estimate_in_list, T_BOOL, T_A, T_LIST),
    GLOBAL(KC__CEL_OP_IN, "in_map", in_map, T_BOOL, T_A, T_MAP),

    SIZE(false, "size_bytes", T_BYTES),
    SIZE(true, "bytes_size", T_BYTES),
    SIZE(false, "size_list", T_LIST),
    SIZE(true, "list_size", T_LIST),
    SIZE(false, "size_map", T_MAP),
    SIZE(true, "map_size", T_MAP),
    SIZE(false, "size_string", T_STRING),
    SIZE(true, "string_size", T_STRING),
};

const kc__cel_library kc__cel_library_operators = {overloads, KC_COUNT(overloads), KC__CEL_ALWAYS};
