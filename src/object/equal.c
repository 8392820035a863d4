/* SPDX-License-Identifier: Apache-2.0 */
/*
 * equal.c: semantic equality.
 *
 * Both sides may be absent (NULL) at any step, which makes the options simple: with
 * empty_is_absent a value against nothing is equal when it holds nothing, and that is found out by
 * the same walk, so every value is looked at once. Recursion is as deep as the values, which the
 * reader has limited.
 */
#include "object/equal.h"
#include "kc/diff.h"
#include "object/members.h"

static bool is_number(kc_type type)
{
    return type == KC_INT || type == KC_FLOAT;
}

/* By value and exactly: a double is not allowed to round the integer it is compared with. */
static bool numbers_equal(const kc_value *a, const kc_value *b)
{
    int64_t a_signed, b_signed;
    uint64_t a_unsigned, b_unsigned;
    double a_double, b_double;
    if (kc_as_i64(a, &a_signed) && kc_as_i64(b, &b_signed))
        return a_signed == b_signed;
    if (kc_as_u64(a, &a_unsigned) && kc_as_u64(b, &b_unsigned))
        return a_unsigned == b_unsigned;
    if (kc_type_of(a) != KC_FLOAT || kc_type_of(b) != KC_FLOAT)
        return false;
    return kc_as_f64(a, &a_double) && kc_as_f64(b, &b_double) && a_double == b_double;
}

bool kc__scalars_equal(const kc_value *a, const kc_value *b)
{
    kc_type type = kc_type_of(a);
    if (is_number(type) && is_number(kc_type_of(b)))
        return numbers_equal(a, b);
    if (type != kc_type_of(b))
        return false;
    switch (type) {
    case KC_BOOL: return kc_as_bool(a, false) == kc_as_bool(b, false);
    case KC_STRING: return kc_str_eq(kc_as_str(a), kc_as_str(b));
    default: return true; /* Both null, or both absent. */
    }
}

bool kc__holds_nothing(const kc_value *value)
{
    kc_type type = kc_type_of(value);
    if (type == KC_OBJECT) {
        kc_members (value, name, member) {
            (void)name;
            if (!kc__holds_nothing(member))
                return false;
        }
        return true;
    }
    return type == KC_ABSENT || type == KC_NULL || (type == KC_ARRAY && !kc_len(value));
}

static bool equal(const kc_value *a, const kc_value *b, const kc_equal_opts *opts);

/* What `derived` does not compare. */
static bool says_nothing(const kc_value *a)
{
    switch (kc_type_of(a)) {
    case KC_ABSENT:
    case KC_NULL: return true;
    case KC_STRING: return !kc_as_str(a).n;
    case KC_ARRAY:
    case KC_OBJECT: return !kc_len(a);
    default: return false;
    }
}

static bool arrays_equal(const kc_value *a, const kc_value *b, const kc_equal_opts *opts)
{
    if (opts->derived ? kc_len(a) > kc_len(b) : kc_len(a) != kc_len(b))
        return false;
    kc_iter in_b = kc__iter(b, KC_ARRAY);
    kc_items (a, item)
        if (!equal(item, kc__iter_item(&in_b), opts))
            return false;
    return true;
}

/* Whether members of b that a does not have are equal to nothing. */
static bool rest_equal(const kc_value *a, const kc_value *b, const kc_equal_opts *opts)
{
    kc_scoped(kc__members) in_a = {.object = a};
    kc_members (b, name, value)
        if (!kc__members_find(&in_a, name) && !equal(NULL, value, opts))
            return false;
    return true;
}

static bool objects_equal(const kc_value *a, const kc_value *b, const kc_equal_opts *opts)
{
    kc_scoped(kc__members) in_b = {.object = b};
    size_t common = 0;
    if (!opts->empty_is_absent && !opts->derived && kc_len(a) != kc_len(b))
        return false;
    kc_members (a, name, value) {
        const kc_value *other = kc__members_find(&in_b, name);
        common += other != NULL;
        if (!equal(value, other, opts))
            return false;
    }
    return opts->derived || common == kc_len(b) || rest_equal(a, b, opts);
}

static bool equal(const kc_value *a, const kc_value *b, const kc_equal_opts *opts)
{
    kc_type a_type = kc_type_of(a), b_type = kc_type_of(b);
    if (opts->derived && says_nothing(a))
        return true;
    if (a_type == KC_ARRAY && b_type == KC_ARRAY)
        return arrays_equal(a, b, opts);
    if (a_type == KC_OBJECT && b_type == KC_OBJECT)
        return objects_equal(a, b, opts);
    if (opts->empty_is_absent && a_type != b_type && (kc__holds_nothing(a) || kc__holds_nothing(b)))
        return kc__holds_nothing(a) && kc__holds_nothing(b);
    return kc__scalars_equal(a, b);
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
