/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_scalar.c: converts numbers, booleans, strings and bytes to JSON.
 *
 * 32-bit numbers are truncated from 64 bits, as protobuf specifies. Strings must be UTF-8.
 * Kubernetes does not check: it stores the bytes and replaces invalid ones by U+FFFD in JSON, so
 * two different names can look the same. This decoder rejects such a body.
 */
#include "apiserver/codec/protobuf_internal.h"

#include "kc/base64.h"
#include "kc/number.h"
#include "kc/utf8.h"

#include <math.h>

kc__protobuf_wire kc__protobuf_scalar_wire(kc__type_field_kind kind)
{
    switch (kind) {
    case KC__FIELD_BOOL:
    case KC__FIELD_INT32:
    case KC__FIELD_INT64:
    case KC__FIELD_UINT32:
    case KC__FIELD_UINT64: return KC__PROTOBUF_VARINT;
    case KC__FIELD_FLOAT: return KC__PROTOBUF_FIXED32;
    case KC__FIELD_DOUBLE: return KC__PROTOBUF_FIXED64;
    default: return KC__PROTOBUF_DELIMITED;
    }
}

static double number_of(kc__type_field_kind kind, uint64_t bits)
{
    if (kind == KC__FIELD_FLOAT) {
        float narrow;
        uint32_t half = (uint32_t)bits;
        memcpy(&narrow, &half, sizeof(narrow));
        return (double)narrow;
    }
    double number;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

/* Whether the text is printable ASCII that needs no escapes in JSON. */
static bool is_plain(kc_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            return false;
    }
    return true;
}

int kc__protobuf_write_string(kc__protobuf_decoder *d, kc_str text)
{
    char *to = is_plain(text) ? kc_buf_reserve(&d->out, text.n + 2) : NULL;
    if (to) {
        to[0] = '"';
        if (text.n)
            memcpy(to + 1, text.p, text.n);
        to[text.n + 1] = '"';
        d->out.n += text.n + 2;
        return 0;
    }
    if (!kc_utf8_is_valid(text))
        return kc__protobuf_fail(d, "the text is not UTF-8");
    kc_json_quote(&d->out, text);
    return 0;
}

static void write_base64(kc_buf *out, kc_str bytes)
{
    kc_buf_putc(out, '"');
    kc_base64_write(out, bytes, KC_BASE64);
    kc_buf_putc(out, '"');
}

static int write_double(kc__protobuf_decoder *d, double number)
{
    if (!isfinite(number))
        return kc__protobuf_fail(d, "the number cannot be represented in JSON");
    kc_json_write_double(&d->out, number);
    return 0;
}

int kc__protobuf_write_scalar(kc__protobuf_decoder *d, kc__type_field_kind kind,
                              const kc__protobuf_element *e)
{
    switch (kind) {
    case KC__FIELD_BOOL: kc_buf_puts(&d->out, e->number ? "true" : "false"); return 0;
    case KC__FIELD_INT32: kc_buf_printf(&d->out, "%d", (int32_t)e->number); return 0;
    case KC__FIELD_INT64: kc_buf_printf(&d->out, "%lld", (long long)e->number); return 0;
    case KC__FIELD_UINT32: kc_buf_printf(&d->out, "%u", (uint32_t)e->number); return 0;
    case KC__FIELD_UINT64: kc_buf_printf(&d->out, "%llu", (unsigned long long)e->number); return 0;
    case KC__FIELD_FLOAT:
    case KC__FIELD_DOUBLE: return write_double(d, number_of(kind, e->number));
    case KC__FIELD_BYTES: write_base64(&d->out, e->bytes); return 0;
    default: return kc__protobuf_write_string(d, e->bytes);
    }
}
