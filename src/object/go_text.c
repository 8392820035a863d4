/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_text.c: values as Go prints them; the three ways of go_text_internal.h.
 *
 * What Go counts as printable is a matter of Unicode's tables. The ranges below are the ones that
 * are not: controls, spaces other than U+0020, format characters, surrogates, private use. Code
 * points no Unicode version has assigned yet are taken as printable, where Go would escape them.
 */
#include "object/go_text_internal.h"

#include "object/object_internal.h"

#include <math.h>
#include <stdio.h>

static const struct {
    uint32_t from, to;
} unprintable[] = {
    {0x00, 0x1F},       {0x7F, 0xA0},        {0xAD, 0xAD},       {0x600, 0x605},
    {0x61C, 0x61C},     {0x6DD, 0x6DD},      {0x70F, 0x70F},     {0x1680, 0x1680},
    {0x180E, 0x180E},   {0x2000, 0x200F},    {0x2028, 0x202F},   {0x205F, 0x206F},
    {0x3000, 0x3000},   {0xD800, 0xF8FF},    {0xFEFF, 0xFEFF},   {0xFFF0, 0xFFFB},
    {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD},  {0x110CD, 0x110CD}, {0x1D173, 0x1D17A},
    {0xE0000, 0xE00FF}, {0xE01F0, 0x10FFFF},
};

static bool printable(uint32_t c)
{
    for (size_t i = 0; i < KC_COUNT(unprintable) && unprintable[i].from <= c; i++)
        if (c <= unprintable[i].to)
            return false;
    return true;
}

static uint32_t decode(const unsigned char *p, size_t n)
{
    static const unsigned char first[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = p[0] & first[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3F);
    return c;
}

static void quote_ascii(kc_buf *out, unsigned char c)
{
    static const char shorts[] = {
        ['\a'] = 'a', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\v'] = 'v',
        ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    if (c < sizeof(shorts) && shorts[c])
        kc_buf_printf(out, "\\%c", shorts[c]);
    else if (printable(c))
        kc_buf_putc(out, (char)c);
    else
        kc_buf_printf(out, "\\x%02x", c);
}

void kc__go_quote(kc_buf *out, kc_str text)
{
    const unsigned char *p = (const unsigned char *)text.p;
    kc_buf_putc(out, '"');
    for (size_t i = 0, n; i < text.n; i += n) {
        n = kc__utf8_length(p + i, text.n - i);
        uint32_t c = n ? decode(p + i, n) : p[i];
        if (n == 1)
            quote_ascii(out, p[i]);
        else if (!n)
            kc_buf_printf(out, "\\x%02x", c);
        else if (printable(c))
            kc_buf_append(out, kc_str_of(text.p + i, n));
        else
            kc_buf_printf(out, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
        n = n ? n : 1;
    }
    kc_buf_putc(out, '"');
}

void kc__go_float(kc_buf *out, double number)
{
    char text[40];
    int precision = 0;
    do
        snprintf(text, sizeof(text), "%.*e", precision, number);
    while (strtod(text, NULL) != number && ++precision < 17);
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 6)
        kc_buf_puts(out, text);
    else
        kc_buf_printf(out, "%.*f", KC_MAX(precision - exponent, 0), number);
}

static void write_string(kc_buf *out, kc_str text)
{
    size_t before = out->n;
    kc_json_quote(out, text);
    if (!memchr(out->p + before, '<', out->n - before) &&
        !memchr(out->p + before, '>', out->n - before) &&
        !memchr(out->p + before, '&', out->n - before))
        return;
    kc_autofree char *plain = kc_strndup(out->p + before, out->n - before);
    out->n = before;
    for (const char *p = plain; *p; p++) {
        if (*p == '<' || *p == '>' || *p == '&')
            kc_buf_printf(out, "\\u%04x", *p);
        else
            kc_buf_putc(out, *p);
    }
}

static int by_name(const void *a, const void *b)
{
    return kc_str_cmp(kc_as_str(*(const kc_value *const *)a),
                      kc_as_str(*(const kc_value *const *)b));
}

static void write_object(kc_buf *out, const kc_value *object)
{
    size_t n = 0, len = kc_len(object);
    kc_autofree const kc_value **names = kc_calloc(len + 1, sizeof(*names));
    kc_members (object, name, value) {
        (void)name;
        names[n++] = value - 1; /* A member's name stands before its value. */
    }
    qsort(names, n, sizeof(*names), by_name);
    kc_buf_putc(out, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            kc_buf_putc(out, ',');
        write_string(out, kc_as_str(names[i]));
        kc_buf_putc(out, ':');
        kc__go_json(out, names[i] + 1);
    }
    kc_buf_putc(out, '}');
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
    bool first = true;
    double number;
    switch (kc_type_of(value)) {
    case KC_OBJECT: write_object(out, value); break;
    case KC_STRING: write_string(out, kc_as_str(value)); break;
    case KC_ARRAY:
        kc_buf_putc(out, '[');
        kc_items (value, item) {
            if (!first)
                kc_buf_putc(out, ',');
            first = false;
            kc__go_json(out, item);
        }
        kc_buf_putc(out, ']');
        break;
    default:
        if (as_float(value, &number))
            kc_json_write_double(out, number);
        else
            kc_json_write(out, value);
        break;
    }
}

void kc__go_value(kc_buf *out, const kc_value *value)
{
    double number;
    if (kc_type_of(value) == KC_STRING)
        kc__go_quote(out, kc_as_str(value));
    else if (as_float(value, &number))
        kc__go_float(out, number);
    else
        kc__go_json(out, value);
}
