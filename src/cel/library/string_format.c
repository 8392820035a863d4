/* SPDX-License-Identifier: Apache-2.0 */
/*
 * string_format.c: string.format: clauses %s %d %f %e %b %x %X %o, with a precision for %f.
 *
 * Numbers are written as cel-go writes them with the locale en_US: %f groups digits by thousands
 * ("1,052.033"), %e prints a power of ten ("1.052033×10⁰³") and takes its precision
 * as a width.
 */
#include "cel/library/string_format_internal.h"

#include "cel/eval/eval_internal.h"
#include "kc/ascii.h"
#include "kc/utf8.h"
#include "object/gofmt/go_quote.h"

#include <math.h>
#include <stdio.h>

typedef struct formatter {
    kc__cel_eval *ev;
    kc_buf *out;
    kc_buf error;
} formatter;

static bool fail_format(formatter *f, const char *what, const char *why, kc_cel_value v)
{
    kc_buf_printf(&f->error, "%s: %s, was given %s", what, why, kc__cel_type_of_value(v)->name);
    return false;
}

static bool fail_clause(formatter *f, const char *why, kc_cel_value v)
{
    return fail_format(f, "error during formatting", why, v);
}

/* ---- %s ---- */

static bool write_element(formatter *f, kc_cel_value v, kc_buf *out);

static bool write_list(formatter *f, kc_cel_value list, kc_buf *out)
{
    kc__cel_iter iter;
    kc_cel_value item;
    bool first = true;
    kc_buf_putc(out, '[');
    kc__cel_iter_begin(f->ev, list, &iter);
    while (kc__cel_iter_next(f->ev, &iter, &item, NULL)) {
        if (!first)
            kc_buf_puts(out, ", ");
        first = false;
        if (!write_element(f, item, out))
            return false;
    }
    kc_buf_putc(out, ']');
    return true;
}

typedef struct format_pair {
    char *key, *value;
} format_pair;

static int compare_format_pairs(const void *a, const void *b)
{
    return strcmp(((const format_pair *)a)->key, ((const format_pair *)b)->key);
}

static bool write_pair(formatter *f, kc_cel_value key, kc_cel_value value, format_pair *ret)
{
    kc_scoped(kc_buf) key_text = {0}, value_text = {0};
    bool valid = key.kind == KC_CEL_STRING || key.kind == KC_CEL_BOOL || key.kind == KC_CEL_INT ||
                 key.kind == KC_CEL_UINT;
    if (!valid) {
        kc_buf_printf(&f->error,
                      "error during formatting: no formatting function for map key of type %s",
                      kc__cel_type_of_value(key)->name);
        return false;
    }
    if (!write_element(f, key, &key_text) || !write_element(f, value, &value_text))
        return false;
    *ret = (format_pair){kc_buf_take(&key_text), kc_buf_take(&value_text)};
    return true;
}

static bool write_map(formatter *f, kc_cel_value map, kc_buf *out)
{
    KC_VEC(format_pair) pairs = {0};
    kc__cel_iter iter;
    kc_cel_value key, value = {0};
    bool ok = true;
    ok = kc__cel_iter_begin(f->ev, map, &iter);
    while (ok && kc__cel_iter_next(f->ev, &iter, &key, &value)) {
        format_pair pair;
        ok = write_pair(f, key, value, &pair);
        if (ok)
            kc_vec_push(&pairs, pair);
    }
    kc_vec_sort(&pairs, compare_format_pairs);
    kc_buf_putc(out, '{');
    kc_vec_each (&pairs, pair) {
        kc_buf_printf(out, "%s%s:%s", pair == pairs.items ? "" : ", ", pair->key, pair->value);
        free(pair->key);
        free(pair->value);
    }
    kc_buf_putc(out, '}');
    kc_vec_done(&pairs);
    return ok;
}

/* Bytes are printed as text. */
static bool check_bytes(formatter *f, kc_cel_value v)
{
    if (kc_utf8_is_valid(v.text))
        return true;
    kc_buf_puts(&f->error, "error during formatting: could not convert argument \"invalid UTF-8 in "
                           "bytes, cannot convert to string\" to string");
    return false;
}

/* A value inside of a list or map. */
static bool write_element(formatter *f, kc_cel_value v, kc_buf *out)
{
    switch ((kc_cel_kind)v.kind) {
    case KC_CEL_STRING: kc__go_quote(out, v.text); return true;
    case KC_CEL_BYTES:
        kc_buf_putc(out, 'b');
        kc__go_quote(out, v.text);
        return check_bytes(f, v);
    case KC_CEL_DOUBLE:
        if (isfinite(v.number))
            kc_buf_printf(out, "%.6f", v.number);
        else
            kc_buf_puts(out, isnan(v.number) ? "\"NaN\"" : v.number < 0 ? "\"-Inf\"" : "\"+Inf\"");
        return true;
    case KC_CEL_NULL:
    case KC_CEL_BOOL:
    case KC_CEL_TYPE:
    case KC_CEL_TIMESTAMP:
    case KC_CEL_DURATION: kc_cel_write_text(v, out); return true;
    case KC_CEL_INT:
    case KC_CEL_UINT: kc__cel_write_plain(v, out); return true;
    case KC_CEL_LIST: return write_list(f, v, out);
    case KC_CEL_MAP:
    case KC_CEL_OBJECT: return write_map(f, v, out);
    default:
        kc_buf_printf(&f->error, "error during formatting: no formatting function for %s",
                      kc__cel_type_of_value(v)->name);
        return false;
    }
}

static bool format_text(formatter *f, kc_cel_value v)
{
    switch ((kc_cel_kind)v.kind) {
    case KC_CEL_LIST: return write_list(f, v, f->out);
    case KC_CEL_MAP:
    case KC_CEL_OBJECT: return write_map(f, v, f->out);
    case KC_CEL_TIMESTAMP: kc__cel_write_timestamp(v, f->out); return true;
    case KC_CEL_DURATION: kc__cel_write_duration(v.integer, f->out); return true;
    case KC_CEL_NULL: kc_buf_puts(f->out, "null"); return true;
    case KC_CEL_BOOL:
    case KC_CEL_INT:
    case KC_CEL_UINT:
    case KC_CEL_DOUBLE:
    case KC_CEL_STRING:
    case KC_CEL_TYPE: kc__cel_write_plain(v, f->out); return true;
    case KC_CEL_BYTES:
        if (!check_bytes(f, v))
            return false;
        kc__cel_write_plain(v, f->out);
        return true;
    default:
        return fail_clause(
            f,
            "string clause can only be used on strings, bools, bytes, ints, doubles, "
            "maps, lists, types, durations, and timestamps",
            v);
    }
}

/* ---- numbers ---- */

/* A double, or the text of a special one. */
static bool double_argument(kc_cel_value v, double *ret)
{
    if (v.kind == KC_CEL_DOUBLE) {
        *ret = v.number;
        return true;
    }
    if (v.kind != KC_CEL_STRING)
        return false;
    if (kc_str_is(v.text, "NaN"))
        *ret = NAN;
    else if (kc_str_is(v.text, "Infinity") || kc_str_is(v.text, "-Infinity"))
        *ret = v.text.p[0] == '-' ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

static bool write_special(formatter *f, double d)
{
    if (isfinite(d))
        return false;
    kc_buf_puts(f->out, isnan(d) ? "NaN" : d < 0 ? "-∞" : "∞");
    return true;
}

/* Digits before the point in groups of three. */
static void write_grouped(kc_buf *out, const char *text)
{
    if (*text == '-')
        kc_buf_putc(out, *text++);
    size_t whole = strcspn(text, ".");
    for (size_t i = 0; i < whole; i++) {
        if (i && (whole - i) % 3 == 0)
            kc_buf_putc(out, ',');
        kc_buf_putc(out, text[i]);
    }
    kc_buf_puts(out, text + whole);
}

static bool format_fixed(formatter *f, kc_cel_value v, int precision)
{
    double d;
    if (!double_argument(v, &d))
        return fail_clause(f, "fixed-point clause can only be used on doubles", v);
    if (write_special(f, d))
        return true;
    kc_autofree char *text = kc_asprintf("%.*f", precision, d == 0 ? 0.0 : d);
    write_grouped(f->out, text);
    return true;
}

/* A power of ten in superscript: 1.052033×10⁰³. */
static void write_scientific(kc_buf *out, double d)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char text[64];
    snprintf(text, sizeof(text), "%.6e", d == 0 ? 0.0 : d); /* No sign for a negative zero. */
    char *exponent = strchr(text, 'e');
    *exponent++ = 0;
    kc_buf_printf(out, "%s\u00d710%s", text, *exponent == '-' ? "\u207b" : "");
    for (exponent++; *exponent; exponent++)
        kc_buf_puts(out, digits[*exponent - '0']);
}

/* As in cel-go, what is written as a precision is the least width. */
static bool format_scientific(formatter *f, kc_cel_value v, int width)
{
    double d;
    if (!double_argument(v, &d))
        return fail_clause(f, "scientific clause can only be used on doubles", v);
    kc_scoped(kc_buf) text = {0};
    kc_buf *out = f->out;
    f->out = &text;
    if (!write_special(f, d))
        write_scientific(&text, d);
    f->out = out;
    for (size_t n = kc__cel_runes(kc_buf_str(&text)); n < (size_t)width; n++)
        kc_buf_putc(out, ' ');
    kc_buf_append(out, kc_buf_str(&text));
    return true;
}

static bool format_decimal(formatter *f, kc_cel_value v)
{
    if (v.kind != KC_CEL_INT && v.kind != KC_CEL_UINT)
        return fail_clause(f, "decimal clause can only be used on integers", v);
    kc__cel_write_plain(v, f->out);
    return true;
}

/* The digits of an integer in a base, with a sign. */
static void write_base(kc_buf *out, kc_cel_value v, unsigned base, bool upper)
{
    const char *symbols = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    bool negative = v.kind == KC_CEL_INT && v.integer < 0;
    uint64_t n = negative ? 0 - (uint64_t)v.integer : v.natural;
    char digits[65];
    size_t at = sizeof(digits);
    do {
        digits[--at] = symbols[n % base];
        n /= base;
    } while (n);
    if (negative)
        kc_buf_putc(out, '-');
    kc_buf_append(out, kc_str_of(digits + at, sizeof(digits) - at));
}

static bool format_binary(formatter *f, kc_cel_value v)
{
    if (v.kind == KC_CEL_BOOL)
        kc_buf_putc(f->out, v.boolean ? '1' : '0');
    else if (v.kind == KC_CEL_INT || v.kind == KC_CEL_UINT)
        write_base(f->out, v, 2, false);
    else
        return fail_clause(f, "only integers and bools can be formatted as binary", v);
    return true;
}

static bool format_octal(formatter *f, kc_cel_value v)
{
    if (v.kind != KC_CEL_INT && v.kind != KC_CEL_UINT)
        return fail_clause(f, "octal clause can only be used on integers", v);
    write_base(f->out, v, 8, false);
    return true;
}

static bool format_hex(formatter *f, kc_cel_value v, bool upper)
{
    if (v.kind == KC_CEL_INT || v.kind == KC_CEL_UINT) {
        write_base(f->out, v, 16, upper);
    } else if (v.kind == KC_CEL_STRING || v.kind == KC_CEL_BYTES) {
        for (size_t i = 0; i < v.text.n; i++)
            kc_buf_printf(f->out, upper ? "%02X" : "%02x", (unsigned char)v.text.p[i]);
    } else {
        return fail_clause(f, "only integers, byte buffers, and strings can be formatted as hex",
                           v);
    }
    return true;
}

/* ---- clauses ---- */

enum { DEFAULT_PRECISION = 6, MAX_PRECISION = 1000 };

/* A clause behind the percent sign; *ret_length receives its length. */
static bool format_clause(formatter *f, kc_str clause, kc_cel_value v, size_t *ret_length)
{
    static const char parse[] = "could not parse formatting clause: ";
    size_t i = 0;
    int precision = DEFAULT_PRECISION;
    if (clause.p[0] == '.') {
        for (i = 1, precision = 0; i < clause.n && kc_is_digit(clause.p[i]); i++)
            precision = KC_MIN(precision * 10 + (clause.p[i] - '0'), MAX_PRECISION);
        if (i == clause.n || i == 1) {
            kc_buf_printf(&f->error, "%serror while parsing precision: %s", parse,
                          i == clause.n ? "could not find end of precision specifier"
                                        : "error while converting precision to integer: "
                                          "strconv.Atoi: parsing \"\": invalid syntax");
            return false;
        }
    }
    *ret_length = i + 1;
    switch (clause.p[i]) {
    case 's': return format_text(f, v);
    case 'd': return format_decimal(f, v);
    case 'f': return format_fixed(f, v, precision);
    case 'e': return format_scientific(f, v, precision);
    case 'b': return format_binary(f, v);
    case 'o': return format_octal(f, v);
    case 'x':
    case 'X': return format_hex(f, v, clause.p[i] == 'X');
    default:
        kc_buf_printf(&f->error, "%sunrecognized formatting clause \"%c\"", parse, clause.p[i]);
        return false;
    }
}

static bool format_all(formatter *f, kc_str format, kc_cel_value args)
{
    size_t n_args = kc__cel_list_len(args), next = 0;
    for (size_t i = 0, length; i < format.n; i += length) {
        length = 1;
        if (format.p[i] != '%') {
            kc_buf_putc(f->out, format.p[i]);
        } else if (i + 1 < format.n && format.p[i + 1] == '%') {
            kc_buf_putc(f->out, '%');
            length = 2;
        } else if (next >= n_args) {
            kc_buf_printf(&f->error, "index %zu out of range", next);
            return false;
        } else if (i + 1 == format.n) {
            kc_buf_puts(&f->error, "unexpected end of string");
            return false;
        } else {
            kc_cel_value v = kc__cel_list_at(f->ev, args, next++);
            if (!format_clause(f, kc_str_sub(format, i + 1, format.n), v, &length))
                return false;
            length++;
        }
    }
    return true;
}

kc_cel_value kc__cel_format(kc__cel_eval *ev, kc_str format, kc_cel_value args)
{
    kc_scoped(kc_buf) out = {.limit = KC_MAX(ev->max_bytes - ev->bytes, (size_t)1)};
    formatter f = {.ev = ev, .out = &out};
    bool ok = format_all(&f, format, args);
    if (out.failed) {
        ev->stopped = true;
        ev->why = "operation cancelled: memory limit exceeded";
    }
    kc_cel_value result = ok ? kc__cel_copy_text(ev, KC_CEL_STRING, kc_buf_str(&out))
                             : kc__cel_copy_text(ev, KC_CEL_ERROR, kc_buf_str(&f.error));
    kc_buf_done(&f.error);
    return result;
}
