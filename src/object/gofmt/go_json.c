/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_json.c: JSON in the format of Go's encoding/json: maps with sorted names, and strings with
 * HTML-relevant characters escaped.
 */
#include "object/gofmt/go_json.h"

#include "kc/json.h"
#include "kc/number.h"
#include "object/gofmt/go_quote.h"
#include "object/model/value_members.h"

void kc__go_json_escape(kc_buf *out, kc_str json)
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
    kc__go_json_escape(out, kc_buf_str(&quoted));
}

static void go_json_write_object(kc_buf *out, const kc_value *object)
{
    kc__value_named_vec members = {0};
    kc__value_members_sorted(object, &members);
    kc_buf_putc(out, '{');
    kc_vec_each (&members, m) {
        if (out->failed)
            break;
        kc_buf_puts(out, m == members.items ? "" : ",");
        write_string(out, m->name);
        kc_buf_putc(out, ':');
        kc__go_json(out, m->value);
    }
    kc_buf_putc(out, '}');
    kc_vec_done(&members);
}

static void go_json_write_array(kc_buf *out, const kc_value *array)
{
    const char *between = "";
    kc_buf_putc(out, '[');
    kc_value_each_item (array, item) {
        if (out->failed)
            break;
        kc_buf_puts(out, between);
        kc__go_json(out, item);
        between = ",";
    }
    kc_buf_putc(out, ']');
}

/* Kubernetes treats integers beyond int64_t as floating point. */
static bool as_float(const kc_value *value, double *ret)
{
    int64_t whole;
    kc_json_type type = kc_value_type(value);
    return (type == KC_JSON_FLOAT || (type == KC_JSON_INT && !kc_value_as_i64(value, &whole))) &&
           kc_value_as_f64(value, ret);
}

void kc__go_json(kc_buf *out, const kc_value *value)
{
    double number;
    switch (kc_value_type(value)) {
    case KC_JSON_STRING: write_string(out, kc_value_as_str(value)); break;
    case KC_JSON_ARRAY: go_json_write_array(out, value); break;
    case KC_JSON_OBJECT: go_json_write_object(out, value); break;
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
    if (kc_value_type(value) == KC_JSON_STRING)
        kc__go_quote(out, kc_value_as_str(value));
    else if (as_float(value, &number))
        kc_double_write(out, number, false);
    else
        kc__go_json(out, value);
}
