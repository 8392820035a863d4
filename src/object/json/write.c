/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c: converts values to JSON text, canonical or indented.
 *
 * Strings have the form that scan.c accepts: only '"', '\' and control characters are escaped.
 * Numbers have the format of Go's encoding/json, because clients and recorded responses of other
 * servers compare text: the shortest digits that parse to the same number, with an exponent below
 * 1e-6 and for very large numbers. Go uses an exponent from 1e21 on; here it is 1e18, so that a
 * float never becomes an integer beyond 64 bits, which a reader would reject.
 */
#include "object/json/json_plain.h"
#include "object/model/object_internal.h"

#include "kc/number.h"
#include "kc/utf8.h"

static const char hex[] = "0123456789abcdef";

static void json_write_escape(kc_buf *out, unsigned char c)
{
    static const char shorts[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                  ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    kc_buf_putc(out, '\\');
    if (c < sizeof(shorts) && shorts[c]) {
        kc_buf_putc(out, shorts[c]);
        return;
    }
    kc_buf_puts(out, "u00");
    kc_buf_putc(out, hex[c >> 4]);
    kc_buf_putc(out, hex[c & 15]);
}

/* Characters beyond ASCII are written as they are. */
static size_t length_beyond_ascii(kc_str text)
{
    size_t n = 0;
    while (n < text.n && (signed char)text.p[n] < 0)
        n++;
    return n;
}

/* Writes the first bytes of a text, which are not plain; returns their number. */
static size_t json_write_special(kc_buf *out, kc_str text)
{
    size_t n = length_beyond_ascii(text);
    if (n)
        kc_buf_append(out, kc_str_sub(text, 0, n));
    else
        json_write_escape(out, (unsigned char)text.p[0]);
    return n ? n : 1;
}

static void write_str(kc_buf *out, kc_str text)
{
    size_t plain = kc__json_plain_length(text);
    char *to = kc_buf_reserve(out, text.n + 2);
    if (!to)
        return;
    *to = '"';
    memcpy(to + 1, text.n ? text.p : "", plain);
    out->n += plain + 1;
    while (plain < text.n) {
        text = kc_str_sub(text, plain, text.n);
        text = kc_str_sub(text, json_write_special(out, text), text.n);
        plain = kc__json_plain_length(text);
        kc_buf_append(out, kc_str_sub(text, 0, plain));
    }
    kc_buf_putc(out, '"');
}

/* The number of bytes before the first one that is not UTF-8. */
static size_t valid_length(kc_str text)
{
    size_t at = 0, n;
    while ((at += kc__json_plain_length(kc_str_sub(text, at, text.n))) < text.n &&
           (n = kc_utf8_next(kc_str_sub(text, at, text.n), NULL)))
        at += n;
    return at;
}

/* Writes a text whose bytes are all plain. */
static void write_plain(kc_buf *out, kc_str text)
{
    char *to = kc_buf_reserve(out, text.n + 2);
    if (!to)
        return;
    to[0] = '"';
    memcpy(to + 1, text.n ? text.p : "", text.n);
    to[text.n + 1] = '"';
    out->n += text.n + 2;
}

void kc_json_quote(kc_buf *out, kc_str text)
{
    if (kc__json_plain_length(text) == text.n) {
        write_plain(out, text);
        return;
    }
    size_t valid = valid_length(text);
    if (valid == text.n) {
        write_str(out, text);
        return;
    }
    kc_scoped(kc_buf) clean = {0};
    for (; valid < text.n; valid = valid_length(text)) {
        kc_buf_append(&clean, kc_str_sub(text, 0, valid));
        kc_buf_puts(&clean, "\xEF\xBF\xBD");
        text = kc_str_sub(text, valid + 1, text.n);
    }
    kc_buf_append(&clean, text);
    write_str(out, kc_buf_str(&clean));
}

void kc_json_quote_all(kc_buf *out, const kc_str *texts, size_t n)
{
    kc_buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_json_quote(out, texts[i]);
    }
    kc_buf_putc(out, ']');
}

/* Go writes e-7, not e-07, but leaves e+21. */
static void write_exponent(kc_buf *out, const kc_digits *digits)
{
    kc_digits_write_exponent(out, digits);
    if (digits->exponent < 0 && digits->exponent > -10 && !out->failed) {
        out->p[out->n - 2] = out->p[out->n - 1];
        out->n--;
    }
}

void kc_json_write_double(kc_buf *out, double number)
{
    if (number == 0) {
        kc_buf_putc(out, '0'); /* Also for -0: an integer has no negative zero. */
        return;
    }
    kc_digits digits = kc_double_digits(number, false);
    if (number < 0)
        kc_buf_putc(out, '-');
    if (digits.exponent < -6 || digits.exponent >= 18)
        write_exponent(out, &digits);
    else
        kc_digits_write(out, &digits);
}

static void json_write_number(kc_buf *out, yyjson_val *value)
{
    if (yyjson_is_real(value))
        kc_json_write_double(out, yyjson_get_real(value));
    else if (yyjson_is_uint(value))
        kc_u64_write(out, yyjson_get_uint(value));
    else
        kc_i64_write(out, yyjson_get_sint(value));
}

/* Appends a newline and indentation; nothing in compact text (indent < 0). */
static void new_line(kc_buf *out, int indent)
{
    if (indent < 0)
        return;
    kc_buf_putc(out, '\n');
    for (int i = 0; i < indent; i++)
        kc_buf_puts(out, "  ");
}

static void json_write_value(kc_buf *out, const kc_value *value, int indent);

static void json_write_object(kc_buf *out, const kc_value *object, int indent)
{
    int inner = indent < 0 ? -1 : indent + 1;
    bool first = true;
    kc_buf_putc(out, '{');
    kc_value_each_member (object, name, value) {
        if (!first)
            kc_buf_putc(out, ',');
        first = false;
        new_line(out, inner);
        write_str(out, name);
        kc_buf_puts(out, indent < 0 ? ":" : ": ");
        json_write_value(out, value, inner);
    }
    if (!first)
        new_line(out, indent);
    kc_buf_putc(out, '}');
}

static void json_write_array(kc_buf *out, const kc_value *array, int indent)
{
    int inner = indent < 0 ? -1 : indent + 1;
    bool first = true;
    kc_buf_putc(out, '[');
    kc_value_each_item (array, item) {
        if (!first)
            kc_buf_putc(out, ',');
        first = false;
        new_line(out, inner);
        json_write_value(out, item, inner);
    }
    if (!first)
        new_line(out, indent);
    kc_buf_putc(out, ']');
}

static void json_write_value(kc_buf *out, const kc_value *value, int indent)
{
    switch (kc_value_type(value)) {
    case KC_JSON_ABSENT:
    case KC_JSON_NULL: kc_buf_puts(out, "null"); break;
    case KC_JSON_BOOL: kc_buf_puts(out, kc_value_as_bool(value, false) ? "true" : "false"); break;
    case KC_JSON_INT:
    case KC_JSON_FLOAT: json_write_number(out, (yyjson_val *)value); break;
    case KC_JSON_STRING: write_str(out, kc_value_as_str(value)); break;
    case KC_JSON_ARRAY: json_write_array(out, value, indent); break;
    case KC_JSON_OBJECT: json_write_object(out, value, indent); break;
    }
}

void kc_json_write(kc_buf *out, const kc_value *value)
{
    json_write_value(out, value, -1);
}

void kc_json_write_pretty(kc_buf *out, const kc_value *value)
{
    json_write_value(out, value, 0);
}
