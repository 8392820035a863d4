/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_write.c: values to YAML, line for line as kubectl prints them.
 *
 * This file walks the value: collections, and the order of keys. How strings are quoted and where
 * lines break is yaml_emit.c's.
 *
 * Keys are put in a natural order: digits count by their value ("a2" before "a10"), other signs
 * come before letters, letters go by their code. Beyond ASCII every character counts as a letter.
 */
#include "object/yaml_internal.h"

#include "kc/ascii.h"
#include "kc/number.h"
#include "kc/vec.h"

#include <math.h>

enum { STEP = 2 };

/* ---- Order of keys ---- */

static bool is_letter(char c)
{
    char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c & 0x80);
}

/* The digits at `at`, with whatever nonzero digits stand directly before it, which are the same in
 * both keys, as they decide whether zeros count. */
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

/* Of two characters that differ, neither of them a letter. */
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

typedef struct entry {
    kc_str key;
    const kc_value *value;
} entry;

typedef KC_VEC(entry) entries;

static int by_bytes(const void *a, const void *b)
{
    return kc_str_cmp(((const entry *)a)->key, ((const entry *)b)->key);
}

/* Merges the sorted runs from[0..middle) and from[middle..n). */
static void merge_runs(const entry *from, size_t middle, size_t n, entry *to)
{
    size_t left = 0, right = middle;
    for (size_t i = 0; i < n; i++) {
        bool take_left =
            right == n || (left < middle && key_cmp(from[left].key, from[right].key) <= 0);
        to[i] = take_left ? from[left++] : from[right++];
    }
}

/*
 * The natural order has cycles (16 < 1e < 6i < 16), so what comes out depends on what goes in and
 * on the way it is sorted, and qsort must not be trusted with it. Starting from the order of bytes,
 * with a merge sort of our own, the same keys always come out the same.
 */
static void sort_entries(entries *list)
{
    kc_vec_sort(list, by_bytes);
    entry *spare = kc_reallocarray(NULL, list->n, sizeof(entry));
    for (size_t run = 1; run < list->n; run *= 2) {
        for (size_t at = 0; at < list->n; at += 2 * run) {
            size_t n = KC_MIN(2 * run, list->n - at);
            merge_runs(list->items + at, KC_MIN(run, n), n, spare + at);
        }
        entry *sorted = spare;
        spare = list->items;
        list->items = sorted;
    }
    free(spare);
    list->cap = list->n;
}

/* ---- Values ---- */

static void write_value(kc__yaml_emitter *e, const kc_value *value, bool in_mapping);

static void write_key(kc__yaml_emitter *e, kc_str key)
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
    entries list = {0};
    int before = e->indent;
    kc_vec_reserve(&list, kc_len(object));
    kc_members (object, name, value)
        kc_vec_push(&list, (entry){name, value});
    sort_entries(&list);

    e->indent = before < 0 ? 0 : before + STEP;
    kc_vec_each (&list, item) {
        kc__yaml_emit_indent(e);
        write_key(e, item->key);
        write_value(e, item->value, true);
    }
    e->indent = before;
    kc_vec_done(&list);
}

/* Under a key the items stand at the key's column. */
static void write_sequence(kc__yaml_emitter *e, const kc_value *array, bool in_mapping)
{
    int before = e->indent;
    bool at_key = in_mapping && !e->indention;
    e->indent = before < 0 ? 0 : at_key ? before : before + STEP;
    kc_items (array, item) {
        kc__yaml_emit_indent(e);
        kc__yaml_emit_indicator(e, "-", true, true);
        write_value(e, item, false);
    }
    e->indent = before;
}

static void write_number(kc__yaml_emitter *e, const kc_value *value)
{
    kc_scoped(kc_buf) text = {0};
    double number = 0;
    bool is_float = kc_type_of(value) == KC_FLOAT && kc_as_f64(value, &number);
    if (is_float && number == 0)
        kc_buf_puts(&text, signbit(number) ? "-0.0" : "0"); /* A plain -0 would be read as 0. */
    else if (is_float)
        kc_double_write(&text, number, false);
    else
        kc_json_write(&text, value);
    kc__yaml_emit_plain(e, kc_buf_str(&text));
}

static void write_value(kc__yaml_emitter *e, const kc_value *value, bool in_mapping)
{
    switch (kc_type_of(value)) {
    case KC_ABSENT:
    case KC_NULL: kc__yaml_emit_plain(e, KC_STR("null")); break;
    case KC_BOOL:
        kc__yaml_emit_plain(e, kc_as_bool(value, false) ? KC_STR("true") : KC_STR("false"));
        break;
    case KC_INT:
    case KC_FLOAT: write_number(e, value); break;
    case KC_STRING: kc__yaml_emit_string(e, kc_as_str(value), false); break;
    case KC_ARRAY:
        if (kc_len(value))
            write_sequence(e, value, in_mapping);
        else
            kc__yaml_emit_indicator(e, "[]", true, false);
        break;
    case KC_OBJECT:
        if (kc_len(value))
            write_mapping(e, value);
        else
            kc__yaml_emit_indicator(e, "{}", true, false);
        break;
    }
}

void kc_yaml_write(kc_buf *out, const kc_value *value)
{
    kc__yaml_emitter e = {.out = out, .indent = -1, .whitespace = true, .indention = true};
    write_value(&e, value, false);
    kc__yaml_emit_indent(&e);
}
