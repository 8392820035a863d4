/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector.c: compiled label selectors: building, matching, printing. selector_parse.c parses text,
 * selector_object.c converts a LabelSelector, selector_check.c has the rules.
 *
 * Matching iterates once over the labels, not over the requirements, because the labels of an
 * object are text that is best read sequentially. The requirements are sorted by key. Each label
 * looks up its requirements; a violated one ends the match. Requirements that hold without the
 * label need nothing more; those that need it ("=", "in", exists, ">", "<") are counted, and in the
 * end the count must include all of them. So the only state is a counter, and the cost is labels x
 * log(requirements).
 *
 * Labels are compared in their JSON encoding: a key or value with an escape contains a character
 * that no valid requirement has, so it cannot equal one.
 */
#include "object/json/json_cursor.h"
#include "object/selector/selector_internal.h"

/* Up to this number a linear search is faster than a binary search. */
enum { FEW = 8 };

/* The sign of each operator, and its result without the label. */
static const struct op {
    const char *text;
    bool needs_label; /* Does not match objects without the label. */
} ops[] = {
    [KC_SELECT_EQUALS] = {"=", true},         [KC_SELECT_DOUBLE_EQUALS] = {"==", true},
    [KC_SELECT_IN] = {" in ", true},          [KC_SELECT_NOT_EQUALS] = {"!=", false},
    [KC_SELECT_NOT_IN] = {" notin ", false},  [KC_SELECT_EXISTS] = {"", true},
    [KC_SELECT_DOES_NOT_EXIST] = {"", false}, [KC_SELECT_GREATER] = {">", true},
    [KC_SELECT_LESS] = {"<", true},
};

void kc__selector_sort_values(kc_str *values, size_t *n, bool unique)
{
    if (*n < 2)
        return;
    qsort(values, *n, sizeof(*values), kc_str_compare);
    if (!unique)
        return;
    size_t kept = 1;
    for (size_t i = 1; i < *n; i++)
        if (!kc_str_eq(values[i], values[kept - 1]))
            values[kept++] = values[i];
    *n = kept;
}

bool kc__selector_parse_number(kc_str text, int64_t *ret)
{
    if (text.n > 1 && text.p[0] == '+' && text.p[1] != '-')
        text = kc_str_sub(text, 1, text.n);
    return kc_str_to_i64(text, ret);
}

/* While sorting, `number` contains the original position, so that the sort is stable. */
static int selector_by_key(const void *a, const void *b)
{
    const kc_requirement *x = a, *y = b;
    int order = kc_str_cmp(x->key, y->key);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static kc_requirement copied(kc_arena *arena, const kc_requirement *from)
{
    kc_requirement copy = {kc_arena_str(arena, from->key), from->op, NULL, from->n_values, 0};
    kc_str *values = kc_arena_alloc(arena, (from->n_values + 1) * sizeof(*values));
    for (size_t i = 0; i < from->n_values; i++)
        values[i] = kc_arena_str(arena, from->values[i]);
    kc__selector_sort_values(values, &copy.n_values, false);
    copy.values = values;
    return copy;
}

/* The length of their key alone excludes most labels. */
static inline uint64_t length_bit(kc_str key)
{
    return (uint64_t)1 << (key.n % 64);
}

kc_selector *kc__selector_make(const kc_requirement *requirements, size_t n)
{
    kc_selector *selector = kc_new(kc_selector);
    selector->n = n;
    selector->requirements =
        kc_arena_alloc(&selector->arena, (n + 1) * sizeof(*selector->requirements));
    for (size_t i = 0; i < n; i++) {
        selector->requirements[i] = copied(&selector->arena, &requirements[i]);
        selector->requirements[i].number = (int64_t)i;
        selector->n_present += ops[requirements[i].op].needs_label;
        selector->key_lengths |= length_bit(requirements[i].key);
    }
    qsort(selector->requirements, n, sizeof(*selector->requirements), selector_by_key);
    for (size_t i = 0; i < n; i++) {
        kc_requirement *r = &selector->requirements[i];
        r->number = 0;
        if (r->op == KC_SELECT_GREATER || r->op == KC_SELECT_LESS)
            kc__selector_parse_number(r->values[0], &r->number);
    }
    return selector;
}

kc_selector *kc_selector_new(const kc_requirement *requirements, size_t n, kc_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (kc__selector_check_requirement(&requirements[i], err) < 0)
            return NULL;
    return kc__selector_make(requirements, n);
}

kc_selector *kc_selector_free(kc_selector *selector)
{
    if (!selector)
        return NULL;
    kc_arena_done(&selector->arena);
    free(selector);
    return NULL;
}

bool kc_selector_is_everything(const kc_selector *selector)
{
    return !selector || (!selector->n && !selector->nothing);
}

bool kc_selector_is_nothing(const kc_selector *selector)
{
    return selector && selector->nothing;
}

const kc_requirement *kc_selector_requirements(const kc_selector *selector, size_t *ret_n)
{
    *ret_n = selector ? selector->n : 0;
    return selector ? selector->requirements : NULL;
}

static inline bool has_value(const kc_requirement *r, kc_str value)
{
    if (r->n_values > FEW)
        return bsearch(&value, r->values, r->n_values, sizeof(value), kc_str_compare) != NULL;
    for (size_t i = 0; i < r->n_values; i++)
        if (kc_str_eq(r->values[i], value))
            return true;
    return false;
}

static bool is_beyond(const kc_requirement *r, kc_str value)
{
    int64_t number;
    if (!kc__selector_parse_number(value, &number))
        return false;
    return r->op == KC_SELECT_GREATER ? number > r->number : number < r->number;
}

/* True if the requirement holds for an existing label. */
static inline bool holds(const kc_requirement *r, kc_str value)
{
    switch (r->op) {
    case KC_SELECT_EQUALS:
    case KC_SELECT_DOUBLE_EQUALS:
    case KC_SELECT_IN: return has_value(r, value);
    case KC_SELECT_NOT_EQUALS:
    case KC_SELECT_NOT_IN: return !has_value(r, value);
    case KC_SELECT_EXISTS: return true;
    case KC_SELECT_DOES_NOT_EXIST: return false;
    case KC_SELECT_GREATER:
    case KC_SELECT_LESS: return is_beyond(r, value);
    }
    return false;
}

/* The first requirement with this key; if there is none, any position without this key. */
static size_t first_at(const kc_selector *selector, kc_str key)
{
    size_t low = 0, high = selector->n;
    if (selector->n <= FEW) {
        while (low < high && !kc_str_eq(selector->requirements[low].key, key))
            low++;
        return low;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kc_str_cmp(selector->requirements[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Checks one label; false when a requirement does not hold. Adds the requirements that need it to
 * *present. */
static inline bool try_label(const kc_selector *selector, kc_str key, kc_str value, size_t *present)
{
    if (!(selector->key_lengths & length_bit(key)))
        return true;
    for (size_t i = first_at(selector, key); i < selector->n; i++) {
        const kc_requirement *r = &selector->requirements[i];
        if (!kc_str_eq(r->key, key))
            break;
        if (!holds(r, value))
            return false;
        *present += ops[r->op].needs_label;
    }
    return true;
}

/* True when no label needs to be checked; *ret is then the result. */
static bool is_decided(const kc_selector *selector, bool *ret)
{
    *ret = !kc_selector_is_nothing(selector);
    return !selector || selector->nothing || !selector->n;
}

bool kc_selector_match_json(const kc_selector *selector, kc_str labels_json)
{
    bool decided;
    if (is_decided(selector, &decided))
        return decided;
    kc__json_cursor at = kc__json_cursor_of(labels_json);
    kc_str key, value;
    size_t present = 0;
    while (kc__json_cursor_member(&at, &key, &value)) {
        if (kc__json_raw_is_string(value) &&
            !try_label(selector, key, kc__json_raw_inside(value), &present))
            return false;
        if (present == selector->n) /* No later label can violate a requirement. */
            return true;
    }
    return present == selector->n_present;
}

bool kc_selector_match(const kc_selector *selector, const kc_object *object)
{
    return kc_selector_match_json(selector, kc_object_labels_json(object));
}

bool kc_selector_match_value(const kc_selector *selector, const kc_value *labels)
{
    bool decided;
    if (is_decided(selector, &decided))
        return decided;
    size_t present = 0;
    kc_value_each_member (labels, key, value)
        if (kc_value_type(value) == KC_JSON_STRING &&
            !try_label(selector, key, kc_value_as_str(value), &present))
            return false;
    return present == selector->n_present;
}

bool kc_selector_match_labels(const kc_selector *selector, const kc_label *labels, size_t n)
{
    bool decided;
    if (is_decided(selector, &decided))
        return decided;
    size_t present = 0;
    for (size_t i = 0; i < n; i++)
        if (!try_label(selector, labels[i].key, labels[i].value, &present))
            return false;
    return present == selector->n_present;
}

bool kc_selector_exact(const kc_selector *selector, kc_str key, kc_str *ret_value)
{
    if (kc_selector_is_everything(selector) || selector->nothing)
        return false;
    size_t at = first_at(selector, key);
    if (at == selector->n || !kc_str_eq(selector->requirements[at].key, key))
        return false;
    const kc_requirement *r = &selector->requirements[at];
    if (r->op > KC_SELECT_IN || r->n_values != 1)
        return false;
    *ret_value = r->values[0];
    return true;
}

static void write_requirement(kc_buf *out, const kc_requirement *r)
{
    bool set = r->op == KC_SELECT_IN || r->op == KC_SELECT_NOT_IN;
    if (r->op == KC_SELECT_DOES_NOT_EXIST)
        kc_buf_putc(out, '!');
    kc_buf_append(out, r->key);
    kc_buf_puts(out, ops[r->op].text);
    kc_buf_puts(out, set ? "(" : "");
    for (size_t i = 0; i < r->n_values; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_buf_append(out, r->values[i]);
    }
    kc_buf_puts(out, set ? ")" : "");
}

void kc_selector_write(kc_buf *out, const kc_selector *selector)
{
    for (size_t i = 0; selector && i < selector->n; i++) {
        kc_buf_puts(out, i ? "," : "");
        write_requirement(out, &selector->requirements[i]);
    }
}
