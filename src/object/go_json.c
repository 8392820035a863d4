/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_json.c: values as Go's encoding/json writes them: maps with sorted names, strings in which
 * what HTML would read is escaped.
 */
#include "object/go_json.h"

#include "kc/json.h"
#include "kc/number.h"
#include "object/go_quote.h"
#include "object/members.h"

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
        kc__go_json(out, m->value);
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
        kc__go_json(out, item);
        between = ",";
    }
    kc_buf_putc(out, ']');
}

/* Whole numbers beyond int64_t are floating point to Kubernetes. */
static bool as_float(const kc_value *value, double *ret)
{
    int64_t whole;
    kc_type type = kc_type_of(value);
    return (type == KC_FLOAT || (type == KC_INT && !kc_as_i64(value, &whole))) &&
           kc_as_f64(value, ret);
}

void kc__go_json(kc_buf *out, const kc_value *value)
{
    double number;
    switch (kc_type_of(value)) {
    case KC_STRING: write_string(out, kc_as_str(value)); break;
    case KC_ARRAY: write_array(out, value); break;
    case KC_OBJECT: write_object(out, value); break;
    default:
        if (as_float(value, &number))
            kc_json_write_double(out, number);
        else
            kc_json_write(out, value);
    }
}

void kc__go_value(kc_buf *out, const kc_value *value)
{
    double number;
    if (kc_type_of(value) == KC_STRING)
        kc__go_quote(out, kc_as_str(value));
    else if (as_float(value, &number))
        kc_double_write(out, number, false);
    else
        kc__go_json(out, value);
}
