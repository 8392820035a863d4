/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_write.c: converts values to YAML, line for line as kubectl prints them.
 *
 * This file traverses collections and sorts keys. emit.c quotes strings and breaks lines.
 *
 * Keys have a natural order: digits by their value ("a2" before "a10"), other signs before letters,
 * letters by their code. Every character beyond ASCII counts as a letter.
 */
#include "object/yaml/yaml_internal.h"

#include "kc/ascii.h"
#include "kc/number.h"
#include "kc/vec.h"

#include <math.h>

enum { STEP = 2 };

/* ---- order of keys ---- */

static bool is_letter(char c)
{
    char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c & 0x80);
}

/* The digits at `at`, together with nonzero digits directly before it, which are the same in both
 * keys, because they decide whether zeros count. */
static kc_str digits_at(kc_str s, size_t at, size_t *ret_end)
{
    size_t from = at, end = at;
    while (from > 0 && kc_is_digit(s.p[from - 1]))
        from--;
    while (end < s.n && kc_is_digit(s.p[end]))
        end++;
    *ret_end = end;
    if (end == at)
        from = at;
    while (from < end && s.p[from] == '0')
        from++;
    return kc_str_sub(s, from, end);
}

static int number_cmp(kc_str a, kc_str b)
{
    if (a.n != b.n)
        return a.n < b.n ? -1 : 1;
    return kc_str_cmp(a, b);
}

/* Compares two different characters, neither of them a letter. */
static int sign_cmp(kc_str a, kc_str b, size_t at)
{
    size_t a_end, b_end;
    int by_number = number_cmp(digits_at(a, at, &a_end), digits_at(b, at, &b_end));
    if (by_number)
        return by_number;
    if (a_end != b_end)
        return a_end < b_end ? -1 : 1;
    return a.p[at] < b.p[at] ? -1 : 1;
}

static int key_cmp(kc_str a, kc_str b)
{
    size_t at = 0, n = KC_MIN(a.n, b.n);
    while (at < n && a.p[at] == b.p[at])
        at++;
    if (at == n)
        return a.n < b.n ? -1 : a.n > b.n;
    bool a_letter = is_letter(a.p[at]), b_letter = is_letter(b.p[at]);
    if (a_letter && b_letter)
        return (unsigned char)a.p[at] < (unsigned char)b.p[at] ? -1 : 1;
    if (a_letter || b_letter)
        return b_letter ? -1 : 1;
    return sign_cmp(a, b, at);
}

typedef struct yaml_write_entry {
    kc_str key;
    const kc_value *value;
} yaml_write_entry;

typedef KC_VEC(yaml_write_entry) yaml_write_entries;

static int by_bytes(const void *a, const void *b)
{
    return kc_str_cmp(((const yaml_write_entry *)a)->key, ((const yaml_write_entry *)b)->key);
}

/* Merges the sorted runs from[0..middle) and from[middle..n). */
static void merge_runs(const yaml_write_entry *from, size_t middle, size_t n, yaml_write_entry *to)
{
    size_t left = 0, right = middle;
    for (size_t i = 0; i < n; i++) {
        bool take_left =
            right == n || (left < middle && key_cmp(from[left].key, from[right].key) <= 0);
        to[i] = take_left ? from[left++] : from[right++];
    }
}

/*
 * The natural order has cycles (16 < 1e < 6i < 16), so the result depends on the input order and
 * the algorithm, and qsort may not be used. A merge sort from byte order always yields the same
 * result for the same keys.
 */
static void sort_entries(yaml_write_entries *list)
{
    kc_vec_sort(list, by_bytes);
    yaml_write_entry *spare = kc_reallocarray(NULL, list->n, sizeof(yaml_write_entry));
    for (size_t run = 1; run < list->n; run *= 2) {
        for (size_t at = 0; at < list->n; at += 2 * run) {
            size_t n = KC_MIN(2 * run, list->n - at);
            merge_runs(list->items + at, KC_MIN(run, n), n, spare + at);
        }
        yaml_write_entry *sorted = spare;
        spare = list->items;
        list->items = sorted;
    }
    free(spare);
    list->cap = list->n;
}

/* ---- values ---- */

static void yaml_write_value(kc__yaml_emitter *e, const kc_value *value, bool in_mapping);

static void yaml_write_key(kc__yaml_emitter *e, kc_str key)
{
    if (kc__yaml_is_simple_key(key)) {
        kc__yaml_emit_string(e, key, true);
        kc__yaml_emit_indicator(e, ":", false, false);
        return;
    }
    kc__yaml_emit_indicator(e, "?", true, true);
    kc__yaml_emit_string(e, key, false);
    kc__yaml_emit_indent(e);
    kc__yaml_emit_indicator(e, ":", true, true);
}

static void write_mapping(kc__yaml_emitter *e, const kc_value *object)
{
    yaml_write_entries list = {0};
    int before = e->indent;
    kc_vec_reserve(&list, kc_value_len(object));
    kc_value_each_member (object, name, value)
        kc_vec_push(&list, (yaml_write_entry){name, value});
    sort_entries(&list);

    e->indent = before < 0 ? 0 : before + STEP;
    kc_vec_each (&list, item) {
        kc__yaml_emit_indent(e);
        yaml_write_key(e, item->key);
        yaml_write_value(e, item->value, true);
    }
    e->indent = before;
    kc_vec_done(&list);
}

/* Under a key the items start at the key's column. */
static void write_sequence(kc__yaml_emitter *e, const kc_value *array, bool in_mapping)
{
    int before = e->indent;
    bool at_key = in_mapping && !e->indention;
    e->indent = before < 0 ? 0 : at_key ? before : before + STEP;
    kc_value_each_item (array, item) {
        kc__yaml_emit_indent(e);
        kc__yaml_emit_indicator(e, "-", true, true);
        yaml_write_value(e, item, false);
    }
    e->indent = before;
}

static void yaml_write_number(kc__yaml_emitter *e, const kc_value *value)
{
    kc_scoped(kc_buf) text = {0};
    double number = 0;
    bool is_float = kc_value_type(value) == KC_JSON_FLOAT && kc_value_as_f64(value, &number);
    if (is_float && number == 0)
        kc_buf_puts(&text, signbit(number) ? "-0.0" : "0"); /* A plain -0 would be parsed as 0. */
    else if (is_float)
        kc_double_write(&text, number, false);
    else
        kc_json_write(&text, value);
    kc__yaml_emit_plain(e, kc_buf_str(&text));
}

static void yaml_write_value(kc__yaml_emitter *e, const kc_value *value, bool in_mapping)
{
    switch (kc_value_type(value)) {
    case KC_JSON_ABSENT:
    case KC_JSON_NULL: kc__yaml_emit_plain(e, KC_STR("null")); break;
    case KC_JSON_BOOL:
        kc__yaml_emit_plain(e, kc_value_as_bool(value, false) ? KC_STR("true") : KC_STR("false"));
        break;
    case KC_JSON_INT:
    case KC_JSON_FLOAT: yaml_write_number(e, value); break;
    case KC_JSON_STRING: kc__yaml_emit_string(e, kc_value_as_str(value), false); break;
    case KC_JSON_ARRAY:
        if (kc_value_len(value))
            write_sequence(e, value, in_mapping);
        else
            kc__yaml_emit_indicator(e, "[]", true, false);
        break;
    case KC_JSON_OBJECT:
        if (kc_value_len(value))
            write_mapping(e, value);
        else
            kc__yaml_emit_indicator(e, "{}", true, false);
        break;
    }
}

void kc_yaml_write(kc_buf *out, const kc_value *value)
{
    kc__yaml_emitter e = {.out = out, .indent = -1, .whitespace = true, .indention = true};
    yaml_write_value(&e, value, false);
    kc__yaml_emit_indent(&e);
}

void kc_yaml_write_element(kc_buf *out, const kc_value *value)
{
    kc__yaml_emitter e = {.out = out, .indent = 0, .whitespace = true, .indention = true};
    kc__yaml_emit_indicator(&e, "-", true, true);
    yaml_write_value(&e, value, false);
    kc__yaml_emit_indent(&e);
}
