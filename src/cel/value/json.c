/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c: JSON as values.
 *
 * With a declared type, JSON is converted as the schema says: a string in the format date-time is a
 * timestamp, a number is a double whether it is written with a point or not. JSON that does not fit
 * its type is an error when it is read; validation of the schema has usually excluded that.
 *
 * Access by position or name is linear in yyjson. A container with more than INDEX_FROM elements
 * gets an index in the evaluation's arena when it is accessed, so a rule that looks up every
 * element of a long list takes linear time.
 */
#include "cel/eval/eval_internal.h"

#include "kc/base64.h"
#include "kc/duration.h"
#include "kc/time.h"

enum { INDEX_FROM = 32 };

/* ---- indexes ---- */

typedef struct kc__cel_index {
    const kc_value *container;
    const kc_value **items; /* Of an array, by position. */
    kc_str *names; /* Of an object: names and values in a hash table with open addressing. */
    const kc_value **values;
    size_t n_slots;
    uint64_t seed;
    struct kc__cel_index *next;
} kc__cel_index;

static kc__cel_index *find_index(kc__cel_eval *ev, const kc_value *container)
{
    for (kc__cel_index **at = &ev->indexes, *index; (index = *at); at = &index->next) {
        if (index->container != container)
            continue;
        *at = index->next; /* The most recent one goes first. */
        index->next = ev->indexes;
        return ev->indexes = index;
    }
    return NULL;
}

static kc__cel_index *add_index(kc__cel_eval *ev, const kc_value *container)
{
    kc__cel_index *index = kc__cel_alloc(ev, sizeof(*index));
    if (!index)
        return NULL;
    *index = (kc__cel_index){.container = container, .seed = ev->seed, .next = ev->indexes};
    return index;
}

static kc__cel_index *index_array(kc__cel_eval *ev, const kc_value *array, size_t n)
{
    kc__cel_index *index = add_index(ev, array);
    if (!index || !(index->items = kc__cel_alloc(ev, n * sizeof(*index->items))))
        return NULL;
    size_t i = 0;
    kc_value_each_item (array, item)
        index->items[i++] = item;
    return ev->indexes = index;
}

const kc_value *kc__cel_json_at(kc__cel_eval *ev, const kc_value *array, size_t i)
{
    size_t n = kc_value_len(array);
    if (n <= INDEX_FROM)
        return kc_value_at(array, i);
    kc__cel_index *index = find_index(ev, array);
    if (!index)
        index = index_array(ev, array, n);
    return index && i < n ? index->items[i] : NULL;
}

static size_t slot_of_name(const kc__cel_index *index, kc_str name)
{
    size_t slot = kc_str_hash(name, index->seed) & (index->n_slots - 1);
    while (index->values[slot] && !kc_str_eq(index->names[slot], name))
        slot = (slot + 1) & (index->n_slots - 1);
    return slot;
}

static kc__cel_index *index_object(kc__cel_eval *ev, const kc_value *object, size_t n)
{
    kc__cel_index *index = add_index(ev, object);
    if (!index)
        return NULL;
    for (index->n_slots = 64; index->n_slots < 2 * n;)
        index->n_slots *= 2;
    index->names = kc__cel_alloc(ev, index->n_slots * sizeof(*index->names));
    index->values = kc__cel_alloc(ev, index->n_slots * sizeof(*index->values));
    if (!index->names || !index->values)
        return NULL;
    memset(index->values, 0, index->n_slots * sizeof(*index->values));
    kc_value_each_member (object, name, value) {
        size_t slot = slot_of_name(index, name);
        index->names[slot] = name;
        index->values[slot] = value;
    }
    return ev->indexes = index;
}

const kc_value *kc__cel_json_get(kc__cel_eval *ev, const kc_value *object, kc_str name)
{
    size_t n = kc_value_len(object);
    if (n <= INDEX_FROM)
        return kc_value_get_str(object, name);
    kc__cel_index *index = find_index(ev, object);
    if (!index)
        index = index_object(ev, object, n);
    return index ? index->values[slot_of_name(index, name)] : NULL;
}

/* ---- conversion ---- */

kc_cel_value kc__cel_container(kc__cel_eval *ev, kc_cel_kind kind, const kc_value *json,
                               const kc_cel_type *type)
{
    return (kc_cel_value){.kind = (uint8_t)kind,
                          .form = KC__CEL_JSON,
                          .reading = ++ev->n_readings,
                          .json = {json, type}};
}

static kc_cel_value read_number(const kc_value *json)
{
    int64_t i;
    double d = 0;
    if (kc_value_type(json) == KC_JSON_INT && kc_value_as_i64(json, &i))
        return kc__cel_int(i);
    kc_value_as_f64(json, &d);
    return kc__cel_double(d);
}

static kc_cel_value read_dyn(kc__cel_eval *ev, const kc_value *json)
{
    switch (kc_value_type(json)) {
    case KC_JSON_BOOL: return kc__cel_bool(kc_value_as_bool(json, false));
    case KC_JSON_INT:
    case KC_JSON_FLOAT: return read_number(json);
    case KC_JSON_STRING: return kc__cel_text(kc_value_as_str(json));
    case KC_JSON_ARRAY: return kc__cel_container(ev, KC_CEL_LIST, json, &kc__cel_type_list_dyn);
    case KC_JSON_OBJECT: return kc__cel_container(ev, KC_CEL_MAP, json, &kc__cel_type_map_dyn);
    default: return kc_cel_null();
    }
}

static const char *go_type(const kc_value *json)
{
    return kc__cel_go_value_type(kc_cel_of_json(json, &kc__cel_type_dyn));
}

static kc_cel_value read_bytes(kc__cel_eval *ev, kc_str text)
{
    kc_scoped(kc_buf) bytes = {0};
    if (!kc_base64_read(&bytes, text, KC_BASE64))
        return kc__cel_error(ev, "Invalid byte formatted string %.*s", KC_ARG(text));
    return kc__cel_copy_text(ev, KC_CEL_BYTES, kc_buf_str(&bytes));
}

kc_cel_value kc__cel_read_text(kc__cel_eval *ev, kc_str text, const kc_cel_type *type)
{
    if (type->kind == KC_CEL_STRING)
        return kc__cel_text(text);
    if (type->kind == KC_CEL_BYTES)
        return read_bytes(ev, text);
    if (type->kind == KC_CEL_DURATION)
        return kc__cel_parse_duration(ev, text);
    return kc__cel_parse_timestamp(ev, text, type->format && strcmp(type->format, "date") == 0);
}

static kc_cel_value read_string(kc__cel_eval *ev, const kc_value *json, const kc_cel_type *type)
{
    kc_str text = kc_value_as_str(json);
    if (!text.p)
        return kc__cel_error(ev, "invalid data, expected string, got %s", go_type(json));
    return kc__cel_read_text(ev, text, type);
}

static kc_cel_value read_typed(kc__cel_eval *ev, const kc_value *json, const kc_cel_type *type)
{
    kc_json_type have = kc_value_type(json);
    switch (type->kind) {
    case KC_CEL_BOOL:
        if (have == KC_JSON_BOOL)
            return kc__cel_bool(kc_value_as_bool(json, false));
        return kc__cel_error(ev, "invalid data, expected bool, got %s", go_type(json));
    case KC_CEL_INT:
        if (have == KC_JSON_INT)
            return read_number(json);
        return kc__cel_error(ev, "invalid data, expected int, got %s", go_type(json));
    case KC_CEL_DOUBLE: {
        double d;
        if (kc_value_as_f64(json, &d))
            return kc__cel_double(d);
        return kc__cel_error(ev, "invalid data, expected float, got %s", go_type(json));
    }
    case KC_CEL_LIST:
        if (have == KC_JSON_ARRAY)
            return kc__cel_container(ev, KC_CEL_LIST, json, type);
        return kc__cel_error_const(
            "invalid data, expected an array for the provided schema with type=array");
    case KC_CEL_MAP:
    case KC_CEL_OBJECT:
        if (have == KC_JSON_OBJECT)
            return kc__cel_container(ev, type->kind, json, type);
        return kc__cel_error_const(
            "invalid data, expected a map for the provided schema with type=object");
    default: return read_string(ev, json, type);
    }
}

kc_cel_value kc__cel_read_json(kc__cel_eval *ev, const kc_value *json, const kc_cel_type *type)
{
    kc_json_type have = kc_value_type(json);
    if (have == KC_JSON_ABSENT || have == KC_JSON_NULL) {
        if (type->declared && !type->nullable)
            return kc__cel_error_const("invalid data, got null for schema with nullable=false");
        return kc_cel_null();
    }
    if (type->kind != KC_CEL_DYN)
        return read_typed(ev, json, type);
    if (type->declared && have != KC_JSON_STRING && have != KC_JSON_INT)
        return kc__cel_error_const(KC__CEL_NOT_INT_OR_STRING);
    return read_dyn(ev, json);
}
