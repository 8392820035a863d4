/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same.c: whether two values are equal, and members of long objects found by name.
 *
 * Both are about one danger: an object has its members in any order, so comparing or matching two
 * objects of n members the plain way takes n² steps, and a client can send 100,000. A kc__lookup
 * remembers where it found the last member, which makes the usual case (same order on both sides)
 * a parallel walk, and turns to a hash table when it has searched a long object a few times.
 */
#include "object/patch_internal.h"

kc__lookup kc__lookup_of(const kc_value *object)
{
    return (kc__lookup){.object = object, .next = kc__iter(object, KC_OBJECT)};
}

void kc__lookup_done(kc__lookup *lookup)
{
    kc_map_done(&lookup->names);
}

static void index_names(kc__lookup *lookup)
{
    kc_members (lookup->object, name, value)
        kc_map_put(&lookup->names, name, (void *)value);
}

/* The member, or NULL, by walking from `from` on; the iterator is left behind it. */
static const kc_value *walk_to(kc_iter *from, kc_str name)
{
    const kc_value *key, *value;
    while ((key = kc__iter_member(from, &value)))
        if (kc_str_eq(kc_as_str(key), name))
            return value;
    return NULL;
}

const kc_value *kc__lookup_get(kc__lookup *lookup, kc_str name)
{
    kc_iter next = lookup->next;
    const kc_value *value, *key = kc__iter_member(&next, &value);
    if (!key || !kc_str_eq(kc_as_str(key), name)) {
        if (kc_len(lookup->object) > KC__SHORT && ++lookup->asked == KC__ASKED_OFTEN)
            index_names(lookup);
        if (lookup->names.n)
            return kc_map_get(&lookup->names, name);
        next = kc__iter(lookup->object, KC_OBJECT);
        value = walk_to(&next, name);
        if (!value)
            return NULL;
    }
    lookup->next = next;
    return value;
}

static bool same_numbers(const kc_value *a, const kc_value *b)
{
    int64_t ai, bi;
    uint64_t au, bu;
    double af, bf;
    if (kc_as_i64(a, &ai) && kc_as_i64(b, &bi))
        return ai == bi;
    if (kc_as_u64(a, &au) && kc_as_u64(b, &bu))
        return au == bu;
    /* A whole number that fits only one side's type was told apart above or is below. */
    return kc_type_of(a) == KC_FLOAT && kc_type_of(b) == KC_FLOAT && kc_as_f64(a, &af) &&
           kc_as_f64(b, &bf) && af == bf;
}

static bool same_objects(const kc_value *a, const kc_value *b)
{
    kc__lookup in_b = kc__lookup_of(b);
    bool same = kc_len(a) == kc_len(b);
    if (same) {
        kc_members (a, name, value) {
            const kc_value *other = kc__lookup_get(&in_b, name);
            same = other && kc__same(value, other);
            if (!same)
                break;
        }
    }
    kc__lookup_done(&in_b);
    return same;
}

static bool same_arrays(const kc_value *a, const kc_value *b)
{
    if (kc_len(a) != kc_len(b))
        return false;
    kc_iter others = kc__iter(b, KC_ARRAY);
    kc_items (a, item)
        if (!kc__same(item, kc__iter_item(&others)))
            return false;
    return true;
}

static bool is_number(kc_type type)
{
    return type == KC_INT || type == KC_FLOAT;
}

bool kc__same(const kc_value *a, const kc_value *b)
{
    kc_type type = kc_type_of(a);
    if (is_number(type))
        return is_number(kc_type_of(b)) && same_numbers(a, b);
    if (type != kc_type_of(b))
        return false;
    switch (type) {
    case KC_BOOL: return kc_as_bool(a, false) == kc_as_bool(b, false);
    case KC_STRING: return kc_str_eq(kc_as_str(a), kc_as_str(b));
    case KC_ARRAY: return same_arrays(a, b);
    case KC_OBJECT: return same_objects(a, b);
    default: return true;
    }
}

kc_view *kc__view_of_node(const kc_node *node)
{
    kc_view *view = kc_new(kc_view);
    view->doc = yyjson_mut_val_imut_copy((yyjson_mut_val *)node, NULL);
    if (!view->doc)
        abort();
    return view;
}

/* Takes a node and all below it off `left`; false when they are more. */
static bool count_down(const kc_node *node, size_t *left)
{
    if (!*left)
        return false;
    --*left;
    kc_node_items (node, item)
        if (!count_down(item, left))
            return false;
    kc_node_members (node, name, value) {
        (void)name;
        if (!*left || (--*left, !count_down(value, left)))
            return false;
    }
    return true;
}

bool kc__same_node(const kc_node *node, const kc_value *value)
{
    kc_type type = kc_node_type(node);
    if (type != KC_ARRAY && type != KC_OBJECT)
        return kc_type_of(value) != KC_ARRAY && kc_type_of(value) != KC_OBJECT &&
               kc__same(kc__scalar(node), value);
    if (type != kc_type_of(value))
        return false;
    /* A document keeps a container and what is in it side by side. */
    size_t left = (size_t)(unsafe_yyjson_get_next((yyjson_val *)value) - value);
    if (!count_down(node, &left) || left)
        return false;
    kc_auto(kc_view) *view = kc__view_of_node(node);
    return kc__same(kc_view_root(view), value);
}
