/* SPDX-License-Identifier: Apache-2.0 */
/*
 * equal.c: semantic equality.
 *
 * Both sides may be absent (NULL) at any step, which makes the options simple: with empty_is_absent
 * a value equals an absent one if it contains nothing, and the same traversal finds that out, so
 * every value is visited once. Recursion is as deep as the values, which the reader has limited.
 */
#include "object/model/equal.h"
#include "kc/diff.h"
#include "object/model/value_members.h"

static bool equal_is_number(kc_json_type type)
{
    return type == KC_JSON_INT || type == KC_JSON_FLOAT;
}

/* Exact comparison by value: converting to double must not round an integer. */
static bool numbers_equal(const kc_value *a, const kc_value *b)
{
    int64_t a_signed, b_signed;
    uint64_t a_unsigned, b_unsigned;
    double a_double, b_double;
    if (kc_value_as_i64(a, &a_signed) && kc_value_as_i64(b, &b_signed))
        return a_signed == b_signed;
    if (kc_value_as_u64(a, &a_unsigned) && kc_value_as_u64(b, &b_unsigned))
        return a_unsigned == b_unsigned;
    if (kc_value_type(a) != KC_JSON_FLOAT || kc_value_type(b) != KC_JSON_FLOAT)
        return false;
    return kc_value_as_f64(a, &a_double) && kc_value_as_f64(b, &b_double) && a_double == b_double;
}

bool kc__value_scalars_equal(const kc_value *a, const kc_value *b)
{
    kc_json_type type = kc_value_type(a);
    if (equal_is_number(type) && equal_is_number(kc_value_type(b)))
        return numbers_equal(a, b);
    if (type != kc_value_type(b))
        return false;
    switch (type) {
    case KC_JSON_BOOL: return kc_value_as_bool(a, false) == kc_value_as_bool(b, false);
    case KC_JSON_STRING: return kc_str_eq(kc_value_as_str(a), kc_value_as_str(b));
    default: return true; /* Both null, or both absent. */
    }
}

bool kc__value_is_empty(const kc_value *value)
{
    kc_json_type type = kc_value_type(value);
    if (type == KC_JSON_OBJECT) {
        kc_value_each_member (value, name, member) {
            (void)name;
            if (!kc__value_is_empty(member))
                return false;
        }
        return true;
    }
    return type == KC_JSON_ABSENT || type == KC_JSON_NULL ||
           (type == KC_JSON_ARRAY && !kc_value_len(value));
}

static bool equal(const kc_value *a, const kc_value *b, const kc_equal_opts *opts);

/* True for values that `derived` ignores. */
static bool says_nothing(const kc_value *a)
{
    switch (kc_value_type(a)) {
    case KC_JSON_ABSENT:
    case KC_JSON_NULL: return true;
    case KC_JSON_STRING: return !kc_value_as_str(a).n;
    case KC_JSON_ARRAY:
    case KC_JSON_OBJECT: return !kc_value_len(a);
    default: return false;
    }
}

static bool arrays_equal(const kc_value *a, const kc_value *b, const kc_equal_opts *opts)
{
    if (opts->derived ? kc_value_len(a) > kc_value_len(b) : kc_value_len(a) != kc_value_len(b))
        return false;
    kc_value_iter in_b = kc__value_iter(b, KC_JSON_ARRAY);
    kc_value_each_item (a, item)
        if (!equal(item, kc__value_iter_item(&in_b), opts))
            return false;
    return true;
}

/* True if all members of b that a lacks are equal to absent. */
static bool rest_equal(const kc_value *a, const kc_value *b, const kc_equal_opts *opts)
{
    kc_scoped(kc__value_members) in_a = {.object = a};
    kc_value_each_member (b, name, value)
        if (!kc__value_members_find(&in_a, name) && !equal(NULL, value, opts))
            return false;
    return true;
}

static bool objects_equal(const kc_value *a, const kc_value *b, const kc_equal_opts *opts)
{
    kc_scoped(kc__value_members) in_b = {.object = b};
    size_t common = 0;
    if (!opts->empty_is_absent && !opts->derived && kc_value_len(a) != kc_value_len(b))
        return false;
    kc_value_each_member (a, name, value) {
        const kc_value *other = kc__value_members_find(&in_b, name);
        common += other != NULL;
        if (!equal(value, other, opts))
            return false;
    }
    return opts->derived || common == kc_value_len(b) || rest_equal(a, b, opts);
}

static bool equal(const kc_value *a, const kc_value *b, const kc_equal_opts *opts)
{
    kc_json_type a_type = kc_value_type(a), b_type = kc_value_type(b);
    if (opts->derived && says_nothing(a))
        return true;
    if (a_type == KC_JSON_ARRAY && b_type == KC_JSON_ARRAY)
        return arrays_equal(a, b, opts);
    if (a_type == KC_JSON_OBJECT && b_type == KC_JSON_OBJECT)
        return objects_equal(a, b, opts);
    if (opts->empty_is_absent && a_type != b_type &&
        (kc__value_is_empty(a) || kc__value_is_empty(b)))
        return kc__value_is_empty(a) && kc__value_is_empty(b);
    return kc__value_scalars_equal(a, b);
}

bool kc_value_equal(const kc_value *a, const kc_value *b, const kc_equal_opts *opts)
{
    return equal(a, b, opts ? opts : &(kc_equal_opts){0});
}

bool kc_object_equal(const kc_object *a, const kc_object *b, const kc_equal_opts *opts)
{
    if (a == b || kc_str_eq(kc_object_json(a), kc_object_json(b)))
        return true;
    kc_auto(kc_view) *a_view = kc_view_of(a);
    kc_auto(kc_view) *b_view = kc_view_of(b);
    return kc_value_equal(kc_view_root(a_view), kc_view_root(b_view), opts);
}
