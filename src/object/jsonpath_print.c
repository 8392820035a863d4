/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath_print.c: values as kubectl prints them, which is as Go does: scalars as fmt's %v,
 * containers as encoding/json, whose maps have sorted names and whose strings escape what HTML
 * would read. Scripts compare this output, so it is followed to the letter.
 */
#include "object/jsonpath_internal.h"
#include "object/members.h"

#include <stdio.h>

static void write_json(kc_buf *out, const kc_value *value);

/* Replaces what HTML would read in JSON text: <, >, &, U+2028 and U+2029. */
static void write_html_safe(kc_buf *out, kc_str json)
{
    size_t from = 0;
    for (size_t i = 0; i < json.n; i++) {
        unsigned char c = (unsigned char)json.p[i];
        bool html = c == '<' || c == '>' || c == '&';
        bool separator = c == 0xE2 && json.n - i >= 3 && (unsigned char)json.p[i + 1] == 0x80 &&
                         ((unsigned char)json.p[i + 2] & 0xFE) == 0xA8;
        if (!html && !separator)
            continue;
        kc_buf_append(out, kc_str_sub(json, from, i));
        kc_buf_printf(out, "\\u%04x", html ? c : 0x2028u + (json.p[i + 2] & 1));
        i += separator ? 2 : 0;
        from = i + 1;
    }
    kc_buf_append(out, kc_str_sub(json, from, json.n));
}

static void write_string(kc_buf *out, kc_str text)
{
    kc_scoped(kc_buf) quoted = {0};
    kc_json_quote(&quoted, text);
    write_html_safe(out, kc_buf_str(&quoted));
}

static void write_object(kc_buf *out, const kc_value *object)
{
    kc__member_list members = {0};
    kc__members_sorted(object, &members);
    kc_buf_putc(out, '{');
    kc_vec_each (&members, m) {
        kc_buf_puts(out, m == members.items ? "" : ",");
        write_string(out, m->name);
        kc_buf_putc(out, ':');
        write_json(out, m->value);
    }
    kc_buf_putc(out, '}');
    kc_vec_done(&members);
}

static void write_array(kc_buf *out, const kc_value *array)
{
    const char *between = "";
    kc_buf_putc(out, '[');
    kc_items (array, item) {
        kc_buf_puts(out, between);
        write_json(out, item);
        between = ",";
    }
    kc_buf_putc(out, ']');
}

static void write_json(kc_buf *out, const kc_value *value)
{
    switch (kc_type_of(value)) {
    case KC_STRING: write_string(out, kc_as_str(value)); break;
    case KC_ARRAY: write_array(out, value); break;
    case KC_OBJECT: write_object(out, value); break;
    default: kc_json_write(out, value);
    }
}

/* As %v: the fewest digits, with an exponent below 1e-4 and from 1e6 on. */
static void write_float(kc_buf *out, double number)
{
    char text[32];
    int precision = 0;
    do
        snprintf(text, sizeof(text), "%.*e", precision, number);
    while (strtod(text, NULL) != number && ++precision < 17);
    int exponent = atoi(strchr(text, 'e') + 1);
    if (exponent < -4 || exponent >= 6)
        kc_buf_puts(out, text);
    else
        kc_buf_printf(out, "%.*f", KC_MAX(0, precision - exponent), number);
}

void kc_jsonpath_print_value(kc_buf *out, const kc_value *value)
{
    double number;
    switch (kc_type_of(value)) {
    case KC_STRING: kc_buf_append(out, kc_as_str(value)); break;
    case KC_FLOAT:
        kc_as_f64(value, &number);
        write_float(out, number);
        break;
    default: write_json(out, value);
    }
}
