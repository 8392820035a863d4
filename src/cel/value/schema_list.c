/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_list.c: lists of type set and map, as a schema declares them (x-kubernetes-list-type).
 *
 * Their order does not matter for equality, and x + y merges: an element of y replaces the one of x
 * with the same keys, or is added to a set that does not have it. Kubernetes keeps the elements as
 * Go values in Go maps, whose rules this file follows:
 *
 *     1 and 1.0                          different elements: int64 and float64
 *     a map that an expression made      has no keys, equals no element and is always added
 *     two such elements of y             are both added: only keys of x are looked up
 *     a list, a map or bytes in a set    cannot be hashed: the evaluation fails
 *
 * A key of an element is found by its escaped name, as in Kubernetes, so a key that needs escapes
 * is absent in every element. Elements are matched through a hash map, never pairwise.
 */
#include "cel/eval/eval_internal.h"

enum { KEYS_AS_ARRAY = 3 }; /* Kubernetes compares more keys as one text. */

typedef struct element_keys {
    kc__cel_eval *ev;
    const kc_cel_type *type;
    kc_str *names; /* Of a list of type map: its keys, escaped. */
    size_t n_names;
    size_t n_unique;        /* Elements so far that equal no other. */
    kc__cel_map *positions; /* The position of each key. */
} element_keys;

const kc_cel_type *kc__cel_list_keyed_type(kc_cel_value list)
{
    const kc_cel_type *type = kc__cel_list_declared_type(list);
    bool keyed = type && (type->list_type == KC_LIST_SET || type->list_type == KC_LIST_MAP);
    return keyed ? type : NULL;
}

static bool begin_keys(element_keys *k, kc__cel_eval *ev, const kc_cel_type *type, size_t room)
{
    *k = (element_keys){.ev = ev, .type = type, .positions = kc__cel_map_new(ev, room)};
    if (type->list_type == KC_LIST_MAP) {
        k->names = kc__cel_alloc(ev, kc_value_len(type->list_keys) * sizeof(*k->names));
        if (!k->names)
            return false;
        kc_value_each_item (type->list_keys, key) {
            kc_str name = kc_value_as_str(key);
            if (!kc__cel_escape(ev->arena, name, &name))
                name = kc_value_as_str(key);
            k->names[k->n_names++] = name;
        }
    }
    return k->positions != NULL;
}

/* ---- keys of Go maps, as text ---- */

static void write_unique_key(element_keys *k, kc_buf *out)
{
    kc_buf_printf(out, "u%zu", k->n_unique++);
}

static void write_double_key(element_keys *k, double d, kc_buf *out)
{
    if (d != d)
        write_unique_key(k, out); /* NaN equals nothing. */
    else
        kc_buf_printf(out, "d%a", d == 0 ? 0.0 : d);
}

/* A text that two Go values share if they are equal in Go. The evaluation fails for a value that Go
 * cannot hash. */
static void write_go_key(element_keys *k, kc_cel_value go, kc_buf *out)
{
    if (kc__cel_go_is_nil(go)) {
        kc_buf_putc(out, 'n');
        return;
    }
    if (go.kind == KC_CEL_DYN)
        go = kc__cel_read_json(k->ev, go.json.json, &kc__cel_type_dyn);
    switch ((kc_cel_kind)go.kind) {
    case KC_CEL_NULL: kc_buf_putc(out, '0'); break;
    case KC_CEL_BOOL: kc_buf_puts(out, go.boolean ? "b1" : "b0"); break;
    case KC_CEL_INT: kc_buf_printf(out, "i%lld", (long long)go.integer); break;
    case KC_CEL_UINT: kc_buf_printf(out, "U%llu", (unsigned long long)go.natural); break;
    case KC_CEL_DOUBLE: write_double_key(k, go.number, out); break;
    case KC_CEL_STRING: kc_buf_printf(out, "s%zu:%.*s", go.text.n, KC_ARG(go.text)); break;
    case KC_CEL_DURATION: kc_buf_printf(out, "D%lld", (long long)go.integer); break;
    case KC_CEL_TIMESTAMP:
        kc_buf_printf(out, "t%lld.%u%+d", (long long)go.integer, go.nanos, go.zone);
        break;
    case KC_CEL_LIST:
    case KC_CEL_MAP:
    case KC_CEL_OBJECT:
    case KC_CEL_BYTES:
        kc__cel_panic(k->ev, "runtime error: hash of unhashable type %s",
                      kc__cel_go_value_type(go));
        break;
    default: write_unique_key(k, out);
    }
}

/* The object behind a Go value; NULL for a value that Kubernetes takes for none. */
static const kc_value *go_object(kc_cel_value go)
{
    bool map = go.kind == KC_CEL_MAP || go.kind == KC_CEL_OBJECT;
    if (go.kind != KC_CEL_DYN && (!map || go.form != KC__CEL_JSON))
        return NULL;
    return kc_value_type(go.json.json) == KC_JSON_OBJECT ? go.json.json : NULL;
}

static void write_member_key(element_keys *k, const kc_value *member, kc_buf *out)
{
    kc_cel_value go = kc_cel_of_json(member, &kc__cel_type_dyn);
    if (k->n_names <= KEYS_AS_ARRAY) {
        write_go_key(k, go, out);
        return;
    }
    kc_buf_putc(out, ' ');
    if (kc__cel_go_is_nil(go))
        kc_buf_puts(out, "<nil>");
    else
        kc__cel_write_plain(kc__cel_read_json(k->ev, member, &kc__cel_type_dyn), out);
}

/* What identifies an element. False when the evaluation stopped. */
static bool element_key(element_keys *k, kc_cel_value go, kc_cel_value *ret)
{
    kc_scoped(kc_buf) text = {0};
    const kc_value *object = go_object(go);
    if (k->type->list_type == KC_LIST_SET)
        write_go_key(k, go, &text);
    else if (!object)
        write_unique_key(k, &text);
    for (size_t i = 0; i < k->n_names && object; i++)
        write_member_key(k, kc_value_get_str(object, k->names[i]), &text);
    *ret = kc__cel_copy_text(k->ev, KC_CEL_STRING, kc_buf_str(&text));
    return !k->ev->stopped;
}

/* Appends the Go values of a list to `to`, if that is given, and notes the positions of their keys.
 */
static bool take_elements(element_keys *k, kc_cel_value from, kc__cel_list *to)
{
    size_t n = kc__cel_list_len(from);
    for (size_t i = 0; i < n; i++) {
        kc_cel_value go = kc__cel_go_element(k->ev, from, i), key;
        if (!element_key(k, go, &key) ||
            !kc__cel_map_put(k->ev, k->positions, key, kc__cel_int((int64_t)i)) ||
            (to && !kc__cel_list_append(k->ev, to, go)))
            return false;
    }
    return true;
}

/* ---- x + y ---- */

static bool merge_element(element_keys *k, kc__cel_list *to, kc_cel_value go)
{
    const bool set = k->type->list_type == KC_LIST_SET;
    kc_cel_value key, at;
    if (!element_key(k, go, &key))
        return false;
    if (kc__cel_map_find(k->ev, kc__cel_map_value(k->positions), key, &at)) {
        if (!set)
            to->items[at.integer] = go;
        return true;
    }
    if (set && !kc__cel_map_put(k->ev, k->positions, key, kc__cel_int((int64_t)to->n)))
        return false;
    return kc__cel_list_append(k->ev, to, go);
}

kc_cel_value kc__cel_list_merge(kc__cel_eval *ev, const kc_cel_type *type, kc_cel_value a,
                                kc_cel_value b)
{
    element_keys keys;
    kc__cel_list *sum = kc__cel_list_new(ev, kc__cel_list_len(a) + kc__cel_list_len(b));
    kc__cel_iter iter;
    kc_cel_value item;
    bool ok = sum && begin_keys(&keys, ev, type, 0) && take_elements(&keys, a, sum);
    kc__cel_iter_begin(ev, b, &iter);
    while (ok && kc__cel_iter_next(ev, &iter, &item, NULL))
        ok = merge_element(&keys, sum, kc__cel_go_value(item));
    if (!ok || ev->stopped)
        return kc__cel_error_const(ev->why);
    sum->type = type;
    return kc__cel_list_value(sum);
}

/* ---- x == y ---- */

/* Compares an element of y with the one of x that has its keys. In a set, having it is enough. */
static kc_cel_value equal_to_keyed(element_keys *k, kc_cel_value a, kc_cel_value item)
{
    kc_cel_value key, at;
    if (!element_key(k, kc__cel_go_value(item), &key))
        return kc__cel_error_const(k->ev->why);
    if (!kc__cel_map_find(k->ev, kc__cel_map_value(k->positions), key, &at))
        return kc__cel_bool(false);
    if (k->type->list_type == KC_LIST_SET)
        return kc__cel_bool(true);
    return kc__cel_value_equals(k->ev, kc__cel_list_at(k->ev, a, (size_t)at.integer), item);
}

kc_cel_value kc__cel_list_equal_in_any_order(kc__cel_eval *ev, const kc_cel_type *type,
                                             kc_cel_value a, kc_cel_value b)
{
    element_keys keys;
    kc__cel_iter iter;
    kc_cel_value item;
    if (!begin_keys(&keys, ev, type, kc__cel_list_len(a)) || !take_elements(&keys, a, NULL))
        return kc__cel_error_const(ev->why);
    kc__cel_iter_begin(ev, b, &iter);
    while (kc__cel_iter_next(ev, &iter, &item, NULL)) {
        kc_cel_value same = equal_to_keyed(&keys, a, item);
        if (!kc_cel_is_true(same))
            return same;
    }
    return kc__cel_bool(true);
}
