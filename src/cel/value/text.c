/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c: values as text: in messages, for people, and as JSON.
 *
 * Text for people is an expression that denotes the value: strings are quoted, uints end in u.
 */
#include "cel/eval/eval_internal.h"

#include "kc/base64.h"
#include "kc/json.h"
#include "kc/number.h"
#include "object/gofmt/go_quote.h"

#include <math.h>

/* Go's %g and %v: the shortest text, with an exponent below 1e-4 and from 1e6 on. */
static void write_double(double d, kc_buf *out)
{
    if (isnan(d) || isinf(d)) {
        kc_buf_puts(out, isnan(d) ? "NaN" : d < 0 ? "-Inf" : "+Inf");
        return;
    }
    if (signbit(d))
        kc_buf_putc(out, '-');
    kc_digits digits = kc_double_digits(d, false);
    if (digits.exponent < -4 || digits.exponent >= 6)
        kc_digits_write_exponent(out, &digits);
    else
        kc_digits_write(out, &digits);
}

/* An evaluation that only reads, for the iterators. */
static void with_reader(kc_cel_value value, kc_buf *out,
                        void (*write)(kc__cel_eval *, kc_cel_value, kc_buf *))
{
    kc_scoped(kc_arena) arena = {0};
    kc__cel_eval ev = {.arena = &arena, .max_bytes = SIZE_MAX, .budget = UINT64_MAX};
    write(&ev, value, out);
}

static void write_container(kc__cel_eval *ev, kc_cel_value value, kc_buf *out,
                            void (*write)(kc__cel_eval *, kc_cel_value, kc_buf *))
{
    bool list = value.kind == KC_CEL_LIST;
    kc__cel_iter iter;
    kc_cel_value key, item = {0};
    bool first = true;
    kc_buf_putc(out, list ? '[' : '{');
    bool iterates = kc__cel_iter_begin(ev, value, &iter);
    while (iterates && kc__cel_iter_next(ev, &iter, &key, list ? NULL : &item)) {
        if (!first)
            kc_buf_puts(out, ", ");
        first = false;
        write(ev, key, out);
        if (!list) {
            kc_buf_puts(out, ": ");
            write(ev, item, out);
        }
    }
    kc_buf_putc(out, list ? ']' : '}');
}

static void write_plain_element(kc__cel_eval *ev, kc_cel_value value, kc_buf *out)
{
    if (value.kind == KC_CEL_LIST || value.kind == KC_CEL_MAP || value.kind == KC_CEL_OBJECT)
        write_container(ev, value, out, write_plain_element);
    else
        kc__cel_write_plain(value, out);
}

void kc__cel_write_plain(kc_cel_value value, kc_buf *out)
{
    switch ((kc_cel_kind)value.kind) {
    case KC_CEL_NULL: kc_buf_putc(out, '0'); break; /* The value of the enumeration in Go. */
    case KC_CEL_LIST:
    case KC_CEL_MAP:
    case KC_CEL_OBJECT: with_reader(value, out, write_plain_element); break;
    case KC_CEL_STRING:
    case KC_CEL_BYTES:
    case KC_CEL_ERROR: kc_buf_append(out, value.text); break;
    default: kc_cel_write_text(value, out); break;
    case KC_CEL_UINT: kc_buf_printf(out, "%llu", (unsigned long long)value.natural); break;
    case KC_CEL_DOUBLE: write_double(value.number, out); break;
    }
}

/* ---- for people ---- */

static void write_number_text(kc_cel_value value, kc_buf *out)
{
    size_t from = out->n;
    write_double(value.number, out);
    kc_str text = kc_str_sub(kc_buf_str(out), from, out->n);
    if (isfinite(value.number) && kc_str_find(text, '.') < 0 && kc_str_find(text, 'e') < 0)
        kc_buf_puts(out, ".0");
}

static void write_opaque(kc_cel_value value, kc_buf *out)
{
    const kc_cel_type *type = value.opaque.type;
    if (!type->write) {
        kc_buf_puts(out, type->name);
        return;
    }
    if (type->function)
        kc_buf_printf(out, "%s(\"", type->function);
    type->write(value.opaque.data, out);
    if (type->function)
        kc_buf_puts(out, "\")");
}

static void write_value_text(kc__cel_eval *ev, kc_cel_value value, kc_buf *out)
{
    switch ((kc_cel_kind)value.kind) {
    case KC_CEL_NULL: kc_buf_puts(out, "null"); break;
    case KC_CEL_BOOL: kc_buf_puts(out, value.boolean ? "true" : "false"); break;
    case KC_CEL_INT: kc_buf_printf(out, "%lld", (long long)value.integer); break;
    case KC_CEL_UINT: kc_buf_printf(out, "%lluu", (unsigned long long)value.natural); break;
    case KC_CEL_DOUBLE: write_number_text(value, out); break;
    case KC_CEL_STRING: kc__go_quote(out, value.text); break;
    case KC_CEL_BYTES:
        kc_buf_putc(out, 'b');
        kc__go_quote(out, value.text);
        break;
    case KC_CEL_TIMESTAMP:
        kc_buf_puts(out, "timestamp(\"");
        kc__cel_write_timestamp(value, out);
        kc_buf_puts(out, "\")");
        break;
    case KC_CEL_DURATION:
        kc_buf_puts(out, "duration(\"");
        kc__cel_write_duration(value.integer, out);
        kc_buf_puts(out, "\")");
        break;
    case KC_CEL_LIST:
    case KC_CEL_MAP:
    case KC_CEL_OBJECT: write_container(ev, value, out, write_value_text); break;
    case KC_CEL_TYPE: kc_buf_puts(out, value.type->name); break;
    case KC_CEL_OPTIONAL:
        kc_buf_puts(out, value.inner ? "optional.of(" : "optional.none()");
        if (value.inner) {
            write_value_text(ev, *value.inner, out);
            kc_buf_putc(out, ')');
        }
        break;
    case KC_CEL_OPAQUE: write_opaque(value, out); break;
    case KC_CEL_DYN:
        write_value_text(ev, kc__cel_read_json(ev, value.json.json, value.json.type), out);
        break;
    default: kc_buf_append(out, value.text); break;
    }
}

void kc_cel_write_text(kc_cel_value value, kc_buf *out)
{
    with_reader(value, out, write_value_text);
}
