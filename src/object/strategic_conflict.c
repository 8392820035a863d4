/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_conflict.c: whether two strategic merge patches contradict each other: whether there is
 * something that both set, to different values.
 *
 *     {"a": 1, "l": [{"name": "x", "v": 1}]}
 *     {"b": 2, "l": [{"name": "x", "v": 2}]}      conflict: v of x
 *
 * Objects conflict where a member of both does, or where only one of them is a directive. Merged
 * lists of objects are matched by key; merged lists of values never conflict. Other lists conflict
 * unless they are equal, values in any order.
 */
#include "object/strategic_internal.h"

static int objects(kc__smp *s, const kc_value *a, const kc_value *b, const void *node);

/* 1 when both, one being a directive, are not the same directive. */
static int directives(const kc_value *a, const kc_value *b)
{
    const kc_value *in_a = kc_get(a, KC__PATCH), *in_b = kc_get(b, KC__PATCH);
    return (in_a || in_b) && !(in_a && in_b && kc_value_equal(in_a, in_b, NULL));
}

/* Elements with the same key must not conflict. */
static int merged_lists(kc__smp *s, const kc_value *a, const kc_value *b,
                        const kc_patch_field *field)
{
    kc_scoped(kc_map) by_key = {0};
    kc_items (b, element) {
        kc_str key;
        if (kc__smp_key(s, element, field->merge_key, &key) < 0)
            return -(int)KC_BAD_REQUEST;
        kc_map_put(&by_key, key, (void *)element);
    }
    kc_items (a, element) {
        kc_str key;
        if (kc__smp_key(s, element, field->merge_key, &key) < 0)
            return -(int)KC_BAD_REQUEST;
        const kc_value *other = kc_map_get(&by_key, key);
        int found = other ? directives(element, other) : 0;
        if (other && !found)
            found = objects(s, element, other, field->element);
        if (found)
            return found;
    }
    return 0;
}

/* 1 unless every value of `a` is in `b`. */
static int not_in(kc__smp *s, const kc_value *a, const kc_value *b)
{
    kc__keys keys = {0};
    int found = kc__smp_keys(s, b, (kc_str){0}, &keys);
    kc__ranks ranks = kc__ranks_of(&keys);
    kc_items (a, value) {
        kc_str key;
        if (found)
            break;
        found = kc__smp_key(s, value, (kc_str){0}, &key);
        if (found == 0)
            found = kc__rank(&ranks, key) == KC__NO_RANK;
    }
    kc__ranks_done(&ranks);
    kc_vec_done(&keys);
    return found;
}

static int replaced_lists(kc__smp *s, const kc_value *a, const kc_value *b, kc__smp_kind kind,
                          const void *element)
{
    if (kc_len(a) != kc_len(b))
        return 1;
    if (kind != KC__OBJECTS) {
        int found = not_in(s, a, b);
        return found ? found : not_in(s, b, a);
    }
    kc_iter others = kc__iter(b, KC_ARRAY);
    kc_items (a, item) {
        const kc_value *other = kc__iter_item(&others);
        int found = directives(item, other);
        if (!found)
            found = objects(s, item, other, element);
        if (found)
            return found;
    }
    return 0;
}

static int lists(kc__smp *s, const kc_value *a, const kc_value *b, const kc_patch_field *field)
{
    kc__smp_kind kind;
    int failed = kc__smp_kind_of_values(s, a, b, &kind);
    if (failed < 0)
        return failed;
    if (!field->merge)
        return replaced_lists(s, a, b, kind, field->element);
    return kind == KC__OBJECTS ? merged_lists(s, a, b, field) : 0;
}

static int members(kc__smp *s, kc_str name, const kc_value *a, const kc_value *b, const void *node)
{
    kc_patch_field field;
    kc_type type = kc_type_of(a);
    if (type != KC_OBJECT && type != KC_ARRAY)
        return !kc_value_equal(a, b, NULL);
    if (type != kc_type_of(b))
        return 1;
    if (kc_str_starts(name, KC_STR(KC__DELETE_VALUES)) ||
        kc_str_starts(name, KC_STR(KC__SET_ORDER)))
        return 0;
    int failed = kc__smp_field(s, node, name, &field);
    if (failed < 0)
        return failed;
    if (type == KC_ARRAY)
        return lists(s, a, b, &field);
    if (directives(a, b))
        return 1;
    return field.replace ? 0 : objects(s, a, b, field.object);
}

static int objects(kc__smp *s, const kc_value *a, const kc_value *b, const void *node)
{
    kc__members in_b = {.object = b};
    int found = 0;
    kc_members (a, name, value) {
        const kc_value *other = kc__members_find(&in_b, name);
        if (!other || kc_str_is(name, KC__PATCH) || kc_str_is(name, KC__RETAIN_KEYS))
            continue;
        found = members(s, name, value, other, node);
        if (found)
            break;
    }
    kc__members_done(&in_b);
    return found;
}

int kc__smp_conflict(kc__smp *s, const kc_value *a, const kc_value *b, const void *node)
{
    return directives(a, b) ? 1 : objects(s, a, b, node);
}
