/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optional.c: optional values, and the function that folds with two variables need.
 *
 * optMap and optFlatMap are macros (macro.c); a.?b and a[?b] are qualifiers (eval.c).
 */
#include "cel/library/library_internal.h"

static kc_cel_value optional_of(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)n;
    return kc__cel_optional_of(ev, a[0]);
}

static kc_cel_value optional_none(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)a, (void)n;
    return kc__cel_none();
}

static bool is_zero(kc_cel_value v)
{
    switch ((kc_cel_kind)v.kind) {
    case KC_CEL_NULL: return true;
    case KC_CEL_BOOL: return !v.boolean;
    case KC_CEL_INT:
    case KC_CEL_DURATION: return v.integer == 0;
    case KC_CEL_UINT: return v.natural == 0;
    case KC_CEL_DOUBLE: return v.number == 0;
    case KC_CEL_STRING:
    case KC_CEL_BYTES: return v.text.n == 0;
    case KC_CEL_TIMESTAMP: return v.integer == KC__CEL_TIME_MIN && !v.nanos;
    /* Lists and maps of a schema have no zero value. */
    case KC_CEL_LIST: return !kc__cel_list_declared_type(v) && kc__cel_list_len(v) == 0;
    case KC_CEL_MAP:
    case KC_CEL_OBJECT:
        return !(v.form == KC__CEL_JSON && v.json.type->declared) && kc__cel_map_len(v) == 0;
    default: return false;
    }
}

static kc_cel_value optional_of_non_zero(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)n;
    return is_zero(a[0]) ? kc__cel_none() : kc__cel_optional_of(ev, a[0]);
}

static kc_cel_value has_value(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_bool(a[0].inner != NULL);
}

static kc_cel_value optional_value(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return a[0].inner ? *a[0].inner : kc__cel_error_const("optional.none() dereference");
}

static kc_cel_value or_optional(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return a[0].inner ? a[0] : a[1];
}

static kc_cel_value or_value(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return a[0].inner ? *a[0].inner : a[1];
}

static kc_cel_value first_element(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)n;
    return kc__cel_list_len(a[0]) ? kc__cel_optional_of(ev, kc__cel_list_at(ev, a[0], 0))
                                  : kc__cel_none();
}

static kc_cel_value last_element(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    size_t len = kc__cel_list_len(a[0]);
    (void)n;
    return len ? kc__cel_optional_of(ev, kc__cel_list_at(ev, a[0], len - 1)) : kc__cel_none();
}

/* The values of optionals that have one. */
static kc_cel_value unwrap_optionals(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    kc__cel_list *list = kc__cel_list_new(ev, kc__cel_list_len(a[0]));
    kc__cel_iter iter;
    kc_cel_value item;
    (void)n;
    kc__cel_iter_begin(ev, a[0], &iter);
    while (list && kc__cel_iter_next(ev, &iter, &item, NULL)) {
        if (item.kind != KC_CEL_OPTIONAL) {
            kc_scoped(kc_buf) text = {0};
            kc__cel_write_plain(item, &text);
            return kc__cel_error(ev, "value %s is not optional", kc_buf_cstr(&text));
        }
        if (item.inner)
            kc__cel_list_append(ev, list, *item.inner);
    }
    return list ? kc__cel_list_value(list) : kc__cel_error_const(ev->why);
}

static kc_cel_value not_called_optional(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)a, (void)n;
    return kc__cel_no_such_overload();
}

#define ROW(function_, id_, member_, impl_, result_, ...)                                      \
    {                                                                                          \
        .function = function_, .id = id_, .member = member_, .impl = impl_, .result = result_, \
        .args = {                                                                              \
            __VA_ARGS__                                                                        \
        }                                                                                      \
    }

static const kc_cel_type optional_list = {.kind = KC_CEL_OPTIONAL,
                                          .name = "optional_type",
                                          .params = {&kc__cel_type_list_a},
                                          .n_params = 1};
static const kc_cel_type optional_map = {.kind = KC_CEL_OPTIONAL,
                                         .name = "optional_type",
                                         .params = {&kc__cel_type_map_ab},
                                         .n_params = 1};
static const kc_cel_type list_of_optionals = {
    .kind = KC_CEL_LIST, .name = "list", .params = {T_OPT}, .n_params = 1};
static const kc_cel_type optional_b = {
    .kind = KC_CEL_OPTIONAL, .name = "optional_type", .params = {&kc__cel_type_b}, .n_params = 1};

static const kc__cel_overload overloads[] = {
    ROW("optional.of", "optional_of", false, optional_of, T_OPT, T_A),
    ROW("optional.ofNonZeroValue", "optional_ofNonZeroValue", false, optional_of_non_zero, T_OPT,
        T_A),
    {.function = "optional.none", .id = "optional_none", .impl = optional_none, .result = T_OPT},
    ROW("value", "optional_value", true, optional_value, T_A, T_OPT),
    ROW("hasValue", "optional_hasValue", true, has_value, &kc__cel_type_bool, T_OPT),
    ROW("or", "optional_or_optional", true, or_optional, T_OPT, T_OPT, T_OPT),
    ROW("first", "list_first", true, first_element, T_OPT, &kc__cel_type_list_a),
    ROW("last", "list_last", true, last_element, T_OPT, &kc__cel_type_list_a),
    ROW("optional.unwrap", "optional_unwrap", false, unwrap_optionals, &kc__cel_type_list_a,
        &list_of_optionals),
    ROW("unwrapOpt", "optional_unwrapOpt", true, unwrap_optionals, &kc__cel_type_list_a,
        &list_of_optionals),
    ROW("orValue", "optional_orValue_value", true, or_value, T_A, T_OPT, T_A),
    ROW(KC__CEL_OP_OPT_INDEX, "list_optindex_optional_int", false, not_called_optional, T_OPT,
        &kc__cel_type_list_a, &kc__cel_type_int),
    ROW(KC__CEL_OP_OPT_INDEX, "optional_list_optindex_optional_int", false, not_called_optional,
        T_OPT, &optional_list, &kc__cel_type_int),
    ROW(KC__CEL_OP_OPT_INDEX, "map_optindex_optional_value", false, not_called_optional,
        &optional_b, &kc__cel_type_map_ab, T_A),
    ROW(KC__CEL_OP_OPT_INDEX, "optional_map_optindex_optional_value", false, not_called_optional,
        &optional_b, &optional_map, T_A),
    ROW(KC__CEL_OP_INDEX, "optional_list_index_int", false, not_called_optional, T_OPT,
        &optional_list, &kc__cel_type_int),
    ROW(KC__CEL_OP_INDEX, "optional_map_index_value", false, not_called_optional, &optional_b,
        &optional_map, T_A),
};

const kc__cel_library kc__cel_library_optional = {overloads, KC_COUNT(overloads),
                                                  KC__CEL_OPTIONALS};

/* ---- maps of folds with two variables ---- */

/* A map to insert into: the accumulator itself, or a copy of another map. */
static kc__cel_map *insertable(kc__cel_eval *ev, kc_cel_value map)
{
    if (map.form == KC__CEL_OWN && map.map->growing)
        return map.map;
    kc__cel_map *copy = kc__cel_map_new(ev, kc__cel_map_len(map) + 1);
    kc__cel_iter iter;
    kc_cel_value key, value = {0};
    kc__cel_iter_begin(ev, map, &iter);
    while (copy && kc__cel_iter_next(ev, &iter, &key, &value))
        kc__cel_map_put(ev, copy, key, value);
    return copy;
}

static kc_cel_value insert_entry(kc__cel_eval *ev, kc__cel_map *map, kc_cel_value key,
                                 kc_cel_value value)
{
    kc_cel_value found;
    if (!map)
        return kc__cel_error_const(ev->why);
    if (kc__cel_map_find(ev, kc__cel_map_value(map), key, &found)) {
        kc_scoped(kc_buf) text = {0};
        kc__cel_write_plain(key, &text);
        return kc__cel_error(ev, "insert failed: key %s already exists", kc_buf_cstr(&text));
    }
    if (!kc__cel_map_put(ev, map, key, value))
        return kc__cel_error_const(ev->why);
    return kc__cel_map_value(map);
}

static kc_cel_value insert_key_value(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)n;
    return insert_entry(ev, insertable(ev, a[0]), a[1], a[2]);
}

static kc_cel_value insert_map(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    kc__cel_map *map = insertable(ev, a[0]);
    kc__cel_iter iter;
    kc_cel_value key, value = {0};
    (void)n;
    kc__cel_iter_begin(ev, a[1], &iter);
    while (kc__cel_iter_next(ev, &iter, &key, &value)) {
        kc_cel_value result = insert_entry(ev, map, key, value);
        if (kc__cel_is_error(result))
            return result;
    }
    return map ? kc__cel_map_value(map) : kc__cel_error_const(ev->why);
}

static const kc__cel_overload map_overloads[] = {
    ROW(KC__CEL_MAP_INSERT, "@mapInsert_map_key_value", false, insert_key_value,
        &kc__cel_type_map_ab, &kc__cel_type_map_ab, &kc__cel_type_a, &kc__cel_type_b),
    ROW(KC__CEL_MAP_INSERT, "@mapInsert_map_map", false, insert_map, &kc__cel_type_map_ab,
        &kc__cel_type_map_ab, &kc__cel_type_map_ab),
};

const kc__cel_library kc__cel_library_two_variables = {map_overloads, KC_COUNT(map_overloads),
                                                       KC__CEL_TWO_VARIABLES};
