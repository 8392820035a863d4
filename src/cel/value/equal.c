/* SPDX-License-Identifier: Apache-2.0 */
/*
 * equal.c: equality of values.
 *
 * The rules are those of cel-go and of Kubernetes' types, which differ in what they do with a
 * comparison that makes no sense:
 *
 *     a number, string or other scalar, a list, a map of an expression    is unequal to other types
 *     a list or map of a schema, an address, a quantity, …                refuses other types:
 * error
 *
 * An error inside of a list or map of an expression counts as equal; a list or map of a schema
 * reports it. Numbers compare by their mathematical value. A list of type set or map, as its schema
 * says, equals another list with the same elements in any order (schema_list.c).
 */
#include "cel/eval/eval_internal.h"

#include "kc/diff.h"

static bool is_map(kc_cel_value v)
{
    return v.kind == KC_CEL_MAP || v.kind == KC_CEL_OBJECT;
}

/* The answer of a type that compares only with itself. */
static kc_cel_value refuse_comparison(kc_cel_value other)
{
    return kc__cel_is_error(other) ? other : kc__cel_no_such_overload();
}

/* ---- lists ---- */

static kc_cel_value equal_in_order(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b)
{
    const bool declared = kc__cel_list_declared_type(a) != NULL;
    kc__cel_iter in_a, in_b;
    kc_cel_value x, y, error = {.kind = KC_CEL_NULL};
    kc__cel_iter_begin(ev, a, &in_a);
    kc__cel_iter_begin(ev, b, &in_b);
    while (kc__cel_iter_next(ev, &in_a, &x, NULL) && kc__cel_iter_next(ev, &in_b, &y, NULL)) {
        kc_cel_value same = declared ? kc__cel_value_equals(ev, x, y) : kc__cel_equals(ev, x, y);
        if (kc_cel_is_true(same))
            continue;
        if (declared || !kc__cel_is_error(same))
            return same;
        if (!kc__cel_is_error(error))
            error = same;
    }
    return kc__cel_is_error(error) && a.form == KC__CEL_CONCAT ? error : kc__cel_bool(true);
}

static kc_cel_value equal_lists(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b)
{
    if (b.kind != KC_CEL_LIST)
        return kc__cel_list_declared_type(a) ? refuse_comparison(b) : kc__cel_bool(false);
    if (kc__cel_list_len(a) != kc__cel_list_len(b))
        return kc__cel_bool(false);
    const kc_cel_type *type = kc__cel_list_keyed_type(a);
    return type ? kc__cel_list_equal_in_any_order(ev, type, a, b) : equal_in_order(ev, a, b);
}

/* ---- maps ---- */

static bool is_declared_map(kc_cel_value v)
{
    return is_map(v) && v.form == KC__CEL_JSON && v.json.type->declared;
}

/* The type of a member by its name in JSON; NULL when the schema says none. */
static const kc_cel_type *member_type(const kc_cel_type *type, kc_str name)
{
    if (type->kind != KC_CEL_OBJECT)
        return type->n_params > 1 ? type->params[1] : NULL;
    const kc__cel_field *field = kc__cel_type_field_of_json(type, name);
    return field ? field->type : NULL;
}

/* A member by its name in JSON. A null field of an object counts as absent. */
static bool find_json_member(kc__cel_eval *ev, kc_cel_value map, kc_str name, kc_cel_value *ret)
{
    if (!is_declared_map(map))
        return kc__cel_map_find(ev, map, kc__cel_text(name), ret);
    const kc_cel_type *type = member_type(map.json.type, name);
    const kc_value *json = type ? kc__cel_json_get(ev, map.json.json, name) : NULL;
    if (!json || (map.kind == KC_CEL_OBJECT && kc_value_type(json) == KC_JSON_NULL))
        return false;
    *ret = kc__cel_read_json(ev, json, type);
    return true;
}

/* A member that the schema gives no type compares as JSON. It may be absent on the other side of an
 * object that preserves unknown fields. */
static kc_cel_value equal_unknown_member(kc__cel_eval *ev, kc_cel_value a, const kc_value *json,
                                         kc_cel_value b, kc_str name)
{
    if (!is_declared_map(b))
        return refuse_comparison(b);
    const kc_value *other = kc__cel_json_get(ev, b.json.json, name);
    return kc__cel_bool(other ? kc_value_equal(json, other, NULL) : a.json.type->preserves_unknown);
}

static kc_cel_value equal_member(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b, kc_str name)
{
    kc_cel_value x, y;
    bool found = find_json_member(ev, a, name, &x);
    if (found != find_json_member(ev, b, name, &y))
        return kc__cel_bool(false);
    return found ? kc__cel_value_equals(ev, x, y) : kc__cel_bool(true);
}

static kc_cel_value equal_declared_maps(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b)
{
    if (!is_map(b))
        return refuse_comparison(b);
    if (kc__cel_map_len(a) != kc__cel_map_len(b))
        return kc__cel_bool(false);
    kc_value_each_member (a.json.json, name, json) {
        kc_cel_value same = member_type(a.json.type, name)
                                ? equal_member(ev, a, b, name)
                                : equal_unknown_member(ev, a, json, b, name);
        if (!kc_cel_is_true(same))
            return same;
    }
    return kc__cel_bool(true);
}

/* The type of an object that an expression constructed; NULL for others. */
static const kc_cel_type *constructed_type(kc_cel_value v)
{
    return is_map(v) && v.form == KC__CEL_OWN ? v.map->type : NULL;
}

static bool equal_entries(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b)
{
    kc__cel_iter iter;
    kc_cel_value key, value = {0}, other;
    kc__cel_iter_begin(ev, a, &iter);
    while (kc__cel_iter_next(ev, &iter, &key, &value)) {
        if (!kc__cel_map_find(ev, b, key, &other))
            return false;
        kc_cel_value same = kc__cel_equals(ev, value, other);
        if (!kc_cel_is_true(same) && !kc__cel_is_error(same))
            return false;
    }
    return true;
}

static kc_cel_value equal_maps(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b)
{
    if (is_declared_map(a))
        return equal_declared_maps(ev, a, b);
    if (!is_map(b))
        return kc__cel_bool(false);
    if (a.form == KC__CEL_LOOKUP || b.form == KC__CEL_LOOKUP)
        return kc__cel_bool(a.form == b.form && a.lookup == b.lookup);
    const kc_cel_type *type = constructed_type(a), *other = constructed_type(b);
    bool comparable = type && other ? strcmp(type->name, other->name) == 0 : type == other;
    return kc__cel_bool(comparable && kc__cel_map_len(a) == kc__cel_map_len(b) &&
                        equal_entries(ev, a, b));
}

/* ---- values ---- */

static kc_cel_value equal_optionals(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b)
{
    if (b.kind != KC_CEL_OPTIONAL || !a.inner || !b.inner)
        return kc__cel_bool(b.kind == KC_CEL_OPTIONAL && a.inner == b.inner);
    return kc__cel_value_equals(ev, *a.inner, *b.inner);
}

static kc_cel_value equal_opaque(kc_cel_value a, kc_cel_value b)
{
    if (b.kind != KC_CEL_OPAQUE || a.opaque.type != b.opaque.type || !a.opaque.type->equal)
        return refuse_comparison(b);
    kc__cel_equality same = a.opaque.type->equal(a.opaque.data, b.opaque.data);
    return same == KC__CEL_INCOMPARABLE ? kc__cel_no_such_overload()
                                        : kc__cel_bool(same == KC__CEL_EQUAL);
}

kc_cel_value kc__cel_value_equals(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b)
{
    switch ((kc_cel_kind)a.kind) {
    case KC_CEL_ERROR: return a;
    case KC_CEL_NULL: return kc__cel_bool(b.kind == KC_CEL_NULL);
    case KC_CEL_LIST: return equal_lists(ev, a, b);
    case KC_CEL_MAP:
    case KC_CEL_OBJECT: return equal_maps(ev, a, b);
    case KC_CEL_TYPE:
        return kc__cel_bool(b.kind == KC_CEL_TYPE && strcmp(a.type->name, b.type->name) == 0);
    case KC_CEL_OPTIONAL: return equal_optionals(ev, a, b);
    case KC_CEL_OPAQUE: return equal_opaque(a, b);
    default: return kc__cel_bool(kc__cel_compare(a, b) == KC__CEL_SAME);
    }
}

kc_cel_value kc__cel_equals(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b)
{
    if (a.kind == KC_CEL_NULL || b.kind == KC_CEL_NULL)
        return kc__cel_bool(a.kind == b.kind);
    return kc__cel_value_equals(ev, a, b);
}

bool kc__cel_equal(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b)
{
    return kc_cel_is_true(kc__cel_equals(ev, a, b));
}
