/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_conflict.c: detects conflicts of two strategic merge patches: values that both set
 * differently.
 *
 *     {"a": 1, "l": [{"name": "x", "v": 1}]}
 *     {"b": 2, "l": [{"name": "x", "v": 2}]}      conflict: v of x
 *
 * Objects conflict if a common member does, or if only one of them is a directive. Merged lists of
 * objects are matched by key; merged lists of values never conflict. Other lists conflict unless
 * they are equal, with values in any order.
 */
#include "object/patch/strategic_internal.h"

static int objects(kc__strategic_patcher *s, const kc_value *a, const kc_value *b,
                   const void *node);

/* 1 when at least one is a directive and they differ. */
static int directives(const kc_value *a, const kc_value *b)
{
    const kc_value *in_a = kc_value_get(a, KC__STRATEGIC_PATCH),
                   *in_b = kc_value_get(b, KC__STRATEGIC_PATCH);
    return (in_a || in_b) && !(in_a && in_b && kc_value_equal(in_a, in_b, NULL));
}

/* Elements with the same key must not conflict. */
static int merged_lists(kc__strategic_patcher *s, const kc_value *a, const kc_value *b,
                        const kc_patch_field *field)
{
    kc_scoped(kc_map) by_key = {0};
    kc_value_each_item (b, element) {
        kc_str key;
        if (kc__strategic_key(s, element, field->merge_key, &key) < 0)
            return kc_error_result(s->err);
        kc_map_put(&by_key, key, (void *)element);
    }
    kc_value_each_item (a, element) {
        kc_str key;
        if (kc__strategic_key(s, element, field->merge_key, &key) < 0)
            return kc_error_result(s->err);
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
static int not_in(kc__strategic_patcher *s, const kc_value *a, const kc_value *b)
{
    kc__strategic_key_vec keys = {0};
    int found = kc__strategic_keys(s, b, (kc_str){0}, &keys);
    kc__strategic_ranks ranks = kc__strategic_ranks_of(&keys);
    kc_value_each_item (a, value) {
        kc_str key;
        if (found)
            break;
        found = kc__strategic_key(s, value, (kc_str){0}, &key);
        if (found == 0)
            found = kc__strategic_rank(&ranks, key) == KC__STRATEGIC_NO_RANK;
    }
    kc__strategic_ranks_done(&ranks);
    kc_vec_done(&keys);
    return found;
}

static int replaced_lists(kc__strategic_patcher *s, const kc_value *a, const kc_value *b,
                          kc__strategic_kind kind, const void *element)
{
    if (kc_value_len(a) != kc_value_len(b))
        return 1;
    if (kind != KC__STRATEGIC_OBJECTS) {
        int found = not_in(s, a, b);
        return found ? found : not_in(s, b, a);
    }
    kc_value_iter others = kc__value_iter(b, KC_JSON_ARRAY);
    kc_value_each_item (a, item) {
        const kc_value *other = kc__value_iter_item(&others);
        int found = directives(item, other);
        if (!found)
            found = objects(s, item, other, element);
        if (found)
            return found;
    }
    return 0;
}

static int lists(kc__strategic_patcher *s, const kc_value *a, const kc_value *b,
                 const kc_patch_field *field)
{
    kc__strategic_kind kind;
    int failed = kc__strategic_kind_of_values(s, a, b, &kind);
    if (failed < 0)
        return failed;
    if (!field->merge)
        return replaced_lists(s, a, b, kind, field->element);
    return kind == KC__STRATEGIC_OBJECTS ? merged_lists(s, a, b, field) : 0;
}

static int members(kc__strategic_patcher *s, kc_str name, const kc_value *a, const kc_value *b,
                   const void *node)
{
    kc_patch_field field;
    kc_json_type type = kc_value_type(a);
    if (type != KC_JSON_OBJECT && type != KC_JSON_ARRAY)
        return !kc_value_equal(a, b, NULL);
    if (type != kc_value_type(b))
        return 1;
    if (kc_str_starts(name, KC_STR(KC__STRATEGIC_DELETE_VALUES)) ||
        kc_str_starts(name, KC_STR(KC__STRATEGIC_SET_ORDER)))
        return 0;
    int failed = kc__strategic_field(s, node, name, &field);
    if (failed < 0)
        return failed;
    if (type == KC_JSON_ARRAY)
        return lists(s, a, b, &field);
    if (directives(a, b))
        return 1;
    return field.replace ? 0 : objects(s, a, b, field.object);
}

static int objects(kc__strategic_patcher *s, const kc_value *a, const kc_value *b, const void *node)
{
    kc__value_members in_b = {.object = b};
    int found = 0;
    kc_value_each_member (a, name, value) {
        const kc_value *other = kc__value_members_find(&in_b, name);
        if (!other || kc_str_is(name, KC__STRATEGIC_PATCH) ||
            kc_str_is(name, KC__STRATEGIC_RETAIN_KEYS))
            continue;
        found = members(s, name, value, other, node);
        if (found)
            break;
    }
    kc__value_members_done(&in_b);
    return found;
}

int kc__strategic_conflict(kc__strategic_patcher *s, const kc_value *a, const kc_value *b,
                           const void *node)
{
    return directives(a, b) ? 1 : objects(s, a, b, node);
}
