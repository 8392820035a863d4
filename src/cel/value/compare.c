/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c: order and hashes of values. Numbers of different types compare by their mathematical
 * value; values of other different types have no order.
 */
#include "cel/eval/eval_internal.h"

#include <math.h>

bool kc__cel_double_to_int(double d, int64_t *ret)
{
    if (!(d > -9223372036854775808.0 && d < 9223372036854775808.0))
        return false;
    *ret = (int64_t)d;
    return true;
}

bool kc__cel_double_to_uint(double d, uint64_t *ret)
{
    if (!(d >= 0 && d < 18446744073709551616.0))
        return false;
    *ret = (uint64_t)d;
    return true;
}

#define ORDER(a, b) ((a) < (b) ? KC__CEL_BEFORE : (a) > (b) ? KC__CEL_AFTER : KC__CEL_SAME)

static kc__cel_order reverse(kc__cel_order order)
{
    return order == KC__CEL_BEFORE  ? KC__CEL_AFTER
           : order == KC__CEL_AFTER ? KC__CEL_BEFORE
                                    : order;
}

static kc__cel_order compare_double_int(double d, int64_t i)
{
    if (d < -9223372036854775808.0)
        return KC__CEL_BEFORE;
    if (d > 9223372036854775807.0)
        return KC__CEL_AFTER;
    return ORDER(d, (double)i);
}

static kc__cel_order compare_double_uint(double d, uint64_t u)
{
    if (d < 0)
        return KC__CEL_BEFORE;
    if (d > 18446744073709551615.0)
        return KC__CEL_AFTER;
    return ORDER(d, (double)u);
}

static kc__cel_order compare_int_uint(int64_t i, uint64_t u)
{
    if (i < 0 || u > INT64_MAX)
        return KC__CEL_BEFORE;
    return ORDER(i, (int64_t)u);
}

static kc__cel_order compare_double(double d, kc_cel_value b)
{
    if (b.kind == KC_CEL_INT)
        return isnan(d) ? KC__CEL_NAN : compare_double_int(d, b.integer);
    if (b.kind == KC_CEL_UINT)
        return isnan(d) ? KC__CEL_NAN : compare_double_uint(d, b.natural);
    if (b.kind != KC_CEL_DOUBLE)
        return KC__CEL_UNORDERED;
    return isnan(d) || isnan(b.number) ? KC__CEL_NAN : ORDER(d, b.number);
}

static kc__cel_order compare_int(int64_t i, kc_cel_value b)
{
    switch ((kc_cel_kind)b.kind) {
    case KC_CEL_INT: return ORDER(i, b.integer);
    case KC_CEL_UINT: return compare_int_uint(i, b.natural);
    case KC_CEL_DOUBLE:
        return isnan(b.number) ? KC__CEL_NAN : reverse(compare_double_int(b.number, i));
    default: return KC__CEL_UNORDERED;
    }
}

static kc__cel_order compare_uint(uint64_t u, kc_cel_value b)
{
    switch ((kc_cel_kind)b.kind) {
    case KC_CEL_UINT: return ORDER(u, b.natural);
    case KC_CEL_INT: return reverse(compare_int_uint(b.integer, u));
    case KC_CEL_DOUBLE:
        return isnan(b.number) ? KC__CEL_NAN : reverse(compare_double_uint(b.number, u));
    default: return KC__CEL_UNORDERED;
    }
}

kc__cel_order kc__cel_compare(kc_cel_value a, kc_cel_value b)
{
    switch ((kc_cel_kind)a.kind) {
    case KC_CEL_INT: return compare_int(a.integer, b);
    case KC_CEL_UINT: return compare_uint(a.natural, b);
    case KC_CEL_DOUBLE: return compare_double(a.number, b);
    default: break;
    }
    if (a.kind != b.kind)
        return KC__CEL_UNORDERED;
    switch ((kc_cel_kind)a.kind) {
    case KC_CEL_BOOL: return ORDER(a.boolean, b.boolean);
    case KC_CEL_DURATION: return ORDER(a.integer, b.integer);
    case KC_CEL_TIMESTAMP:
        return a.integer != b.integer ? ORDER(a.integer, b.integer) : ORDER(a.nanos, b.nanos);
    case KC_CEL_STRING:
    case KC_CEL_BYTES: {
        int order = kc_str_cmp(a.text, b.text);
        return ORDER(order, 0);
    }
    default: return KC__CEL_UNORDERED;
    }
}

/* ---- hashes ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h ^= v + 0x9E3779B97F4A7C15u + (h << 6) + (h >> 2);
    return h * 0xFF51AFD7ED558CCDu;
}

/* Equal numbers of different types have the same hash. */
static uint64_t hash_number(kc_cel_value v)
{
    int64_t i;
    uint64_t u;
    if (v.kind == KC_CEL_INT)
        return mix(1, (uint64_t)v.integer);
    if (v.kind == KC_CEL_UINT)
        return mix(1, v.natural);
    if (kc__cel_double_to_int(v.number, &i) && (double)i == v.number)
        return mix(1, (uint64_t)i);
    if (kc__cel_double_to_uint(v.number, &u) && (double)u == v.number)
        return mix(1, u);
    memcpy(&u, &v.number, sizeof(u));
    return mix(2, u);
}

/* Independent of the order, because some lists compare so. */
static uint64_t hash_elements(kc__cel_eval *ev, kc_cel_value v, uint64_t seed)
{
    uint64_t sum = v.kind == KC_CEL_LIST ? 3 : 4;
    kc__cel_iter iter;
    kc_cel_value key, value = {0};
    bool map = v.kind != KC_CEL_LIST;
    if (!kc__cel_iter_begin(ev, v, &iter))
        return sum;
    while (kc__cel_iter_next(ev, &iter, &key, map ? &value : NULL))
        sum += mix(kc__cel_hash(ev, key, seed), map ? kc__cel_hash(ev, value, seed) : 0);
    return sum;
}

uint64_t kc__cel_hash(kc__cel_eval *ev, kc_cel_value v, uint64_t seed)
{
    switch ((kc_cel_kind)v.kind) {
    case KC_CEL_BOOL: return mix(5, v.boolean);
    case KC_CEL_INT:
    case KC_CEL_UINT:
    case KC_CEL_DOUBLE: return hash_number(v);
    case KC_CEL_STRING:
    case KC_CEL_BYTES: return mix(v.kind, kc_str_hash(v.text, seed));
    case KC_CEL_TIMESTAMP: return mix(mix(6, (uint64_t)v.integer), v.nanos);
    case KC_CEL_DURATION: return mix(7, (uint64_t)v.integer);
    case KC_CEL_LIST:
    case KC_CEL_MAP:
    case KC_CEL_OBJECT: return hash_elements(ev, v, seed);
    case KC_CEL_OPTIONAL: return v.inner ? mix(8, kc__cel_hash(ev, *v.inner, seed)) : 8;
    default: return v.kind;
    }
}
