/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c: values to JSON text, canonical or indented.
 *
 * Strings are written as scan.c accepts them: only '"', '\' and control characters are escaped.
 * Numbers are written as Go's encoding/json writes them, because clients and recorded answers of
 * other servers compare text: the shortest digits that read back as the same number, with an
 * exponent below 1e-6 and for very large ones. Go begins the latter at 1e21; here it is 1e18, so
 * that a float never turns into a whole number that does not fit 64 bits and would be refused when
 * read.
 */
#include "object/object_internal.h"

#include "kc/number.h"
#include "kc/utf8.h"

static const char hex[] = "0123456789abcdef";

static void escape(kc_buf *out, unsigned char c)
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

static bool must_escape(unsigned char c)
{
    return c < ' ' || c == '"' || c == '\\';
}

static void write_str(kc_buf *out, kc_str text)
{
    size_t from = 0;
    kc_buf_reserve(out, text.n + 2);
    kc_buf_putc(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (!must_escape(c))
            continue;
        kc_buf_append(out, kc_str_sub(text, from, i));
        escape(out, c);
        from = i + 1;
    }
    kc_buf_append(out, kc_str_sub(text, from, text.n));
    kc_buf_putc(out, '"');
}

void kc_json_quote(kc_buf *out, kc_str text)
{
    kc_scoped(kc_buf) clean = {0};
    size_t from = 0;
    for (size_t i = 0; i < text.n;) {
        size_t n = kc_utf8_next(kc_str_sub(text, i, text.n), NULL);
        if (!n) {
            kc_buf_append(&clean, kc_str_sub(text, from, i));
            kc_buf_puts(&clean, "\xEF\xBF\xBD");
            from = i + 1;
        }
        i += n ? n : 1;
    }
    kc_buf_append(&clean, kc_str_sub(text, from, text.n));
    write_str(out, kc_buf_str(&clean));
}

static void write_exponent(kc_buf *out, kc_str digits, int exponent)
{
    kc_buf_putc(out, digits.p[0]);
    if (digits.n > 1) {
        kc_buf_putc(out, '.');
        kc_buf_append(out, kc_str_sub(digits, 1, digits.n));
    }
    kc_buf_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    /* Go writes e-7, not e-07, but e+21 as it is. */
    if (exponent < 0 && exponent > -10 && !out->failed) {
        out->p[out->n - 2] = out->p[out->n - 1];
        out->n--;
    }
}

static void write_positional(kc_buf *out, kc_str digits, int exponent)
{
    int point = exponent + 1;
    if (point <= 0) {
        kc_buf_puts(out, "0.");
        for (int i = point; i < 0; i++)
            kc_buf_putc(out, '0');
        kc_buf_append(out, digits);
        return;
    }
    kc_buf_append(out, kc_str_sub(digits, 0, (size_t)point));
    for (int i = (int)digits.n; i < point; i++)
        kc_buf_putc(out, '0');
    if (digits.n > (size_t)point) {
        kc_buf_putc(out, '.');
        kc_buf_append(out, kc_str_sub(digits, (size_t)point, digits.n));
    }
}

void kc_json_write_double(kc_buf *out, double number)
{
    if (number == 0) {
        kc_buf_putc(out, '0'); /* Also for -0: as a whole number it has no sign. */
        return;
    }
    kc_digits digits = kc_double_digits(number, false);
    if (number < 0)
        kc_buf_putc(out, '-');
    if (digits.exponent < -6 || digits.exponent >= 18)
        write_exponent(out, kc_str_of(digits.text, digits.n), digits.exponent);
    else
        write_positional(out, kc_str_of(digits.text, digits.n), digits.exponent);
}

static void write_number(kc_buf *out, yyjson_val *value)
{
    if (yyjson_is_real(value))
        kc_json_write_double(out, yyjson_get_real(value));
    else if (yyjson_is_uint(value))
        kc_buf_printf(out, "%llu", (unsigned long long)yyjson_get_uint(value));
    else
        kc_buf_printf(out, "%lld", (long long)yyjson_get_sint(value));
}

/* A new line and its indentation; nothing in compact text (indent < 0). */
static void new_line(kc_buf *out, int indent)
{
    if (indent < 0)
        return;
    kc_buf_putc(out, '\n');
    for (int i = 0; i < indent; i++)
        kc_buf_puts(out, "  ");
}

static void write_value(kc_buf *out, const kc_value *value, int indent);

static void write_object(kc_buf *out, const kc_value *object, int indent)
{
    int inner = indent < 0 ? -1 : indent + 1;
    bool first = true;
    kc_buf_putc(out, '{');
    kc_members (object, name, value) {
        if (!first)
            kc_buf_putc(out, ',');
        first = false;
        new_line(out, inner);
        write_str(out, name);
        kc_buf_puts(out, indent < 0 ? ":" : ": ");
        write_value(out, value, inner);
    }
    if (!first)
        new_line(out, indent);
    kc_buf_putc(out, '}');
}

static void write_array(kc_buf *out, const kc_value *array, int indent)
{
    int inner = indent < 0 ? -1 : indent + 1;
    bool first = true;
    kc_buf_putc(out, '[');
    kc_items (array, item) {
        if (!first)
            kc_buf_putc(out, ',');
        first = false;
        new_line(out, inner);
        write_value(out, item, inner);
    }
    if (!first)
        new_line(out, indent);
    kc_buf_putc(out, ']');
}

static void write_value(kc_buf *out, const kc_value *value, int indent)
{
    switch (kc_type_of(value)) {
    case KC_ABSENT:
    case KC_NULL: kc_buf_puts(out, "null"); break;
    case KC_BOOL: kc_buf_puts(out, kc_as_bool(value, false) ? "true" : "false"); break;
    case KC_INT:
    case KC_FLOAT: write_number(out, (yyjson_val *)value); break;
    case KC_STRING: write_str(out, kc_as_str(value)); break;
    case KC_ARRAY: write_array(out, value, indent); break;
    case KC_OBJECT: write_object(out, value, indent); break;
    }
}

void kc_json_write(kc_buf *out, const kc_value *value)
{
    write_value(out, value, -1);
}

void kc_json_write_pretty(kc_buf *out, const kc_value *value)
{
    write_value(out, value, 0);
}
