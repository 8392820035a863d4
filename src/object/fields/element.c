/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element.c: path elements: their order, their text in messages, and their names in FieldsV1.
 *
 * Two texts exist for one element. Messages show a path as .ports[port=80,protocol="TCP"].name;
 * FieldsV1 has the members "f:ports", "k:{\"port\":80,\"protocol\":\"TCP\"}" and "f:name". Values
 * inside are formatted by Go on one side and by json-iterator on the other (value.c).
 *
 * An element of another kind needs a kc__fields_kind, a letter in kc__fields_element_write and
 * kc__fields_element_read, and its place in the order.
 */
#include "object/fields/fields_internal.h"

#include <inttypes.h>

kc__fields_element kc__fields_index(int64_t index)
{
    return (kc__fields_element){.order = (uint64_t)index ^ (UINT64_C(1) << 63),
                                .kind = KC__FIELDS_INDEX};
}

kc__fields_element kc__fields_key(kc__fields_key_part *parts, uint32_t n)
{
    /* FieldsV1 may have a key of any length. */
    if (n > 16)
        qsort(parts, n, sizeof(*parts), kc_str_compare);
    for (uint32_t i = 1; i < n; i++) {
        kc__fields_key_part part = parts[i];
        uint32_t at = i;
        for (; at > 0 && kc_str_cmp(part.name, parts[at - 1].name) < 0; at--)
            parts[at] = parts[at - 1];
        parts[at] = part;
    }
    return (kc__fields_element){.parts = parts, .n = n, .kind = KC__FIELDS_KEY};
}

kc__fields_element kc__fields_value_element(const kc_value *value)
{
    return (kc__fields_element){.value = value, .kind = KC__FIELDS_VALUE};
}

static int names_cmp(const kc__fields_element *a, const kc__fields_element *b)
{
    /* The first eight bytes are equal, or are padded with zeros. */
    if (a->n == b->n && kc__object_same_bytes(a->name, b->name, a->n))
        return 0;
    return kc_str_cmp(kc_str_of(a->name, a->n), kc_str_of(b->name, b->n));
}

/* Nearly every key is one string, and items of one list share its name. */
static bool is_string_key_of(const kc__fields_element *a, const kc__fields_element *b)
{
    return a->n == 1 && b->n == 1 && a->parts->name.p == b->parts->name.p &&
           a->parts->name.n == b->parts->name.n &&
           kc__fields_is(a->parts->value, YYJSON_TYPE_STR) &&
           kc__fields_is(b->parts->value, YYJSON_TYPE_STR);
}

/* Most texts differ in their first eight bytes, which are compared as numbers. */
static int texts_cmp(kc_str a, kc_str b)
{
    const uint64_t first = kc__fields_name_order(a.p, a.n), other = kc__fields_name_order(b.p, b.n);
    if (first != other)
        return first < other ? -1 : 1;
    return kc_str_cmp(a, b);
}

static int keys_cmp(const kc__fields_element *a, const kc__fields_element *b)
{
    if (is_string_key_of(a, b))
        return texts_cmp(kc__fields_text(a->parts->value), kc__fields_text(b->parts->value));
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        int order = kc__fields_same_text(a->parts[i].name, b->parts[i].name)
                        ? 0
                        : kc_str_cmp(a->parts[i].name, b->parts[i].name);
        if (!order)
            order = kc__fields_value_cmp(a->parts[i].value, b->parts[i].value);
        if (order)
            return order;
    }
    return a->n < b->n ? -1 : a->n > b->n;
}

int kc__fields_element_cmp_slowly(const kc__fields_element *a, const kc__fields_element *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    switch (a->kind) {
    case KC__FIELDS_NAME: return names_cmp(a, b);
    case KC__FIELDS_KEY: return keys_cmp(a, b);
    case KC__FIELDS_VALUE: return kc__fields_value_cmp(a->value, b->value);
    default: return 0;
    }
}

static int64_t index_of(const kc__fields_element *element)
{
    return (int64_t)(element->order ^ (UINT64_C(1) << 63));
}

static void print_key(kc_buf *out, const kc__fields_element *element)
{
    kc_buf_putc(out, '[');
    for (uint32_t i = 0; i < element->n; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_buf_append(out, element->parts[i].name);
        kc_buf_putc(out, '=');
        kc__fields_value_print(out, element->parts[i].value);
    }
    kc_buf_putc(out, ']');
}

void kc__fields_element_print(kc_buf *out, const kc__fields_element *element)
{
    switch (element->kind) {
    case KC__FIELDS_NAME:
        kc_buf_putc(out, '.');
        kc_buf_append(out, kc_str_of(element->name, element->n));
        break;
    case KC__FIELDS_KEY: print_key(out, element); break;
    case KC__FIELDS_VALUE:
        kc_buf_puts(out, "[=");
        kc__fields_value_print(out, element->value);
        kc_buf_putc(out, ']');
        break;
    case KC__FIELDS_INDEX: kc_buf_printf(out, "[%" PRId64 "]", index_of(element)); break;
    default: kc_buf_puts(out, "{{invalid path element}}"); break;
    }
}

void kc__fields_path_print(kc_buf *out, const kc__fields_path *path)
{
    if (!path)
        return;
    kc__fields_path_print(out, path->parent);
    kc__fields_element_print(out, path->element);
}

static void write_key(kc_buf *out, const kc__fields_element *element)
{
    kc_buf_puts(out, "k:{");
    for (uint32_t i = 0; i < element->n; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_json_quote(out, element->parts[i].name);
        kc_buf_putc(out, ':');
        kc__fields_value_write(out, element->parts[i].value);
    }
    kc_buf_putc(out, '}');
}

void kc__fields_element_write(kc_buf *out, const kc__fields_element *element)
{
    switch (element->kind) {
    case KC__FIELDS_NAME:
        kc_buf_append(out, KC_STR("f:"));
        kc_buf_append(out, kc_str_of(element->name, element->n));
        break;
    case KC__FIELDS_KEY: write_key(out, element); break;
    case KC__FIELDS_VALUE:
        kc_buf_append(out, KC_STR("v:"));
        kc__fields_value_write(out, element->value);
        break;
    case KC__FIELDS_INDEX: kc_buf_printf(out, "i:%" PRId64, index_of(element)); break;
    default: break;
    }
}

bool kc__fields_element_is_exact(const kc__fields_element *element)
{
    const double most = 9007199254740992.0;
    uint32_t n = element->kind == KC__FIELDS_KEY ? element->n : element->kind == KC__FIELDS_VALUE;
    for (uint32_t i = 0; i < n; i++) {
        const kc_value *value =
            element->kind == KC__FIELDS_KEY ? element->parts[i].value : element->value;
        kc__fields_number number = kc__fields_number_of(value);
        if (number.is_number && (number.real >= most || number.real <= -most))
            return false;
    }
    return true;
}
