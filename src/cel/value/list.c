/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.c: lists, and iteration over lists and maps.
 *
 * a + b keeps both lists and copies nothing: the cost of an addition does not depend on the length
 * of the lists, so its time must not either. Iteration over a concatenation first makes one array
 * of it, which costs no more than the iteration. A sum that begins with a list of a schema reads
 * its elements by that schema (go_value.c).
 */
#include "cel/eval/eval_internal.h"

#include <math.h>

size_t kc__cel_list_len(kc_cel_value list)
{
    return list.form == KC__CEL_JSON ? kc_value_len(list.json.json) : list.list->n;
}

const kc_cel_type *kc__cel_list_element_type(const kc_cel_type *list)
{
    return list && list->n_params ? list->params[0] : &kc__cel_type_dyn;
}

const kc_cel_type *kc__cel_list_declared_type(kc_cel_value list)
{
    if (list.form != KC__CEL_JSON)
        return list.list->type;
    return list.json.type->declared ? list.json.type : NULL;
}

kc_cel_value kc__cel_list_at(kc__cel_eval *ev, kc_cel_value list, size_t index)
{
    if (list.form == KC__CEL_JSON)
        return kc__cel_read_json(ev, kc__cel_json_at(ev, list.json.json, index),
                                 kc__cel_list_element_type(list.json.type));
    if (list.list->type)
        return kc__cel_read_go(ev, kc__cel_go_element(ev, list, index),
                               kc__cel_list_element_type(list.list->type));
    if (list.form == KC__CEL_OWN)
        return list.list->items[index];
    size_t n_left = kc__cel_list_len(list.list->left);
    return index < n_left ? kc__cel_list_at(ev, list.list->left, index)
                          : kc__cel_list_at(ev, list.list->right, index - n_left);
}

kc__cel_list *kc__cel_list_new(kc__cel_eval *ev, size_t room)
{
    kc__cel_list *list = kc__cel_alloc(ev, sizeof(*list));
    if (!list)
        return NULL;
    *list = (kc__cel_list){.cap = room};
    if (room && !(list->items = kc__cel_alloc(ev, room * sizeof(*list->items))))
        return NULL;
    return list;
}

kc__cel_list *kc__cel_strings_new(kc__cel_eval *ev, size_t room)
{
    kc__cel_list *list = kc__cel_list_new(ev, room);
    if (list)
        list->slice = KC__CEL_SLICE_STRING;
    return list;
}

bool kc__cel_list_append(kc__cel_eval *ev, kc__cel_list *list, kc_cel_value item)
{
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 4;
        kc_cel_value *items = kc__cel_alloc(ev, cap * sizeof(*items));
        if (!items)
            return false;
        if (list->n)
            memcpy(items, list->items, list->n * sizeof(*items));
        list->items = items;
        list->cap = cap;
    }
    list->items[list->n++] = item;
    return true;
}

kc_cel_value kc__cel_list_concat(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b)
{
    size_t n_a = kc__cel_list_len(a), n_b = kc__cel_list_len(b);
    const kc_cel_type *type = kc__cel_list_declared_type(a);
    if (!n_b)
        return a;
    if (!n_a && !type)
        return b;
    kc__cel_list *list = kc__cel_list_new(ev, 0);
    if (!list)
        return kc__cel_error_const(ev->why);
    list->left = a;
    list->right = b;
    list->n = n_a + n_b;
    list->type = type;
    return (kc_cel_value){.kind = KC_CEL_LIST, .form = KC__CEL_CONCAT, .list = list};
}

/* Appends the elements of a list that is no concatenation. */
static bool append_elements(kc__cel_eval *ev, kc__cel_list *to, kc_cel_value from)
{
    kc__cel_iter iter;
    kc_cel_value item;
    kc__cel_iter_begin(ev, from, &iter);
    while (kc__cel_iter_next(ev, &iter, &item, NULL))
        if (!kc__cel_list_append(ev, to, item))
            return false;
    return true;
}

/* Appends what the type of a sum reads from the Go values of its right side. */
static bool append_read(kc__cel_eval *ev, kc__cel_list *to, kc_cel_value sum)
{
    const kc_cel_type *type = kc__cel_list_element_type(sum.list->type);
    for (size_t i = kc__cel_list_len(sum.list->left); i < sum.list->n && !ev->stopped; i++) {
        kc_cel_value go = kc__cel_go_element(ev, sum, i);
        if (!kc__cel_list_append(ev, to, kc__cel_read_go(ev, go, type)))
            return false;
    }
    return !ev->stopped;
}

/* Appends the elements of any list; the recursion is as deep as the expression that made it. */
static bool append_all(kc__cel_eval *ev, kc__cel_list *to, kc_cel_value from)
{
    if (from.form != KC__CEL_CONCAT)
        return append_elements(ev, to, from);
    return append_all(ev, to, from.list->left) &&
           (from.list->type ? append_read(ev, to, from) : append_all(ev, to, from.list->right));
}

bool kc__cel_iter_begin(kc__cel_eval *ev, kc_cel_value over, kc__cel_iter *ret)
{
    *ret = (kc__cel_iter){.over = over};
    if (over.kind == KC_CEL_LIST && over.form == KC__CEL_CONCAT) {
        kc__cel_list *flat = kc__cel_list_new(ev, over.list->n);
        bool complete = flat && append_all(ev, flat, over);
        ret->over = complete ? kc__cel_list_value(flat) : (kc_cel_value){.kind = KC_CEL_LIST};
    }
    over = ret->over;
    if (over.kind == KC_CEL_LIST) {
        ret->n = kc__cel_list_len(over);
        if (over.form == KC__CEL_JSON)
            ret->json = kc__value_iter(over.json.json, KC_JSON_ARRAY);
        return true;
    }
    if ((over.kind != KC_CEL_MAP && over.kind != KC_CEL_OBJECT) || over.form == KC__CEL_LOOKUP)
        return false;
    ret->n = kc__cel_map_len(over);
    if (over.form == KC__CEL_JSON)
        ret->json = kc__value_iter(over.json.json, KC_JSON_OBJECT);
    return true;
}

/* A value by its key: NaN equals no key, not even itself. */
static kc_cel_value entry_value(const kc__cel_map_entry *entry)
{
    if (entry->key.kind == KC_CEL_DOUBLE && isnan(entry->key.number))
        return kc__cel_error_const("no such key: NaN");
    return entry->value;
}

static bool next_own(kc__cel_eval *ev, kc__cel_iter *iter, kc_cel_value *ret,
                     kc_cel_value *ret_value)
{
    if (iter->at >= iter->n)
        return false;
    if (iter->over.kind == KC_CEL_LIST) {
        *ret = kc__cel_list_at(ev, iter->over, iter->at++);
        return true;
    }
    const kc__cel_map_entry *entry = &iter->over.map->entries[iter->at++];
    *ret = entry->key;
    if (ret_value)
        *ret_value = entry_value(entry);
    return true;
}

/* The value of a declared member. A null field of an object is absent, though its name is not. */
static kc_cel_value read_member(kc__cel_eval *ev, bool of_object, kc_str name, const kc_value *json,
                                const kc_cel_type *type)
{
    if (of_object && kc_value_type(json) == KC_JSON_NULL)
        return kc__cel_error(ev, "no such key: %.*s", KC_ARG(name));
    return kc__cel_read_json(ev, json, type);
}

/* Members of an object that are declared; their names as expressions write them. */
static bool next_member(kc__cel_eval *ev, kc__cel_iter *iter, kc_cel_value *ret,
                        kc_cel_value *ret_value)
{
    const kc_cel_type *type = iter->over.json.type;
    const kc_value *key, *value = NULL;
    while ((key = kc__value_iter_member(&iter->json, &value))) {
        kc_str name = kc_value_as_str(key);
        const kc_cel_type *value_type = type->n_params > 1 ? type->params[1] : &kc__cel_type_dyn;
        if (type->kind == KC_CEL_OBJECT) {
            const kc__cel_field *field = kc__cel_type_field_of_json(type, name);
            if (!field)
                continue;
            name = field->name;
            value_type = field->type;
        }
        *ret = kc__cel_text(name);
        if (ret_value)
            *ret_value = read_member(ev, type->kind == KC_CEL_OBJECT, name, value, value_type);
        return true;
    }
    return false;
}

bool kc__cel_iter_next(kc__cel_eval *ev, kc__cel_iter *iter, kc_cel_value *ret,
                       kc_cel_value *ret_value)
{
    if (ev->stopped)
        return false;
    if (iter->over.form != KC__CEL_JSON)
        return next_own(ev, iter, ret, ret_value);
    if (iter->over.kind != KC_CEL_LIST)
        return next_member(ev, iter, ret, ret_value);
    const kc_value *item = kc__value_iter_item(&iter->json);
    if (item)
        *ret = kc__cel_read_json(ev, item, kc__cel_list_element_type(iter->over.json.type));
    return item != NULL;
}
