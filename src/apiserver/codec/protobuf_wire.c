/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_wire.c: splits bytes into elements.
 *
 * No length is trusted: every value is a slice of the bytes that contain it. Elements are counted
 * over all messages, which bounds the time that a body of three megabytes can cost. Groups, which
 * no API definition uses and only the oldest encoders write, are rejected rather than skipped.
 */
#include "apiserver/codec/protobuf_internal.h"

#include <stdarg.h>

#define MAX_FIELD_NUMBER ((UINT64_C(1) << 29) - 1)

static void write_protobuf_path(const kc__protobuf_decoder *d, kc_buf *out)
{
    for (unsigned i = 0; i < d->depth; i++) {
        const kc__protobuf_step *step = &d->path[i];
        if (step->field->name.n)
            kc_buf_printf(out, "%s%.*s", out->n ? "." : "", KC_ARG(step->field->name));
        if (step->index != SIZE_MAX)
            kc_buf_printf(out, "[%zu]", step->index);
    }
}

int kc__protobuf_fail(kc__protobuf_decoder *d, const char *fmt, ...)
{
    kc_scoped(kc_buf) path = {0};
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, fmt);
    write_protobuf_path(d, &path);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    return kc_error_set(d->err, KC_BAD_REQUEST, "protobuf: %s%s%s", kc_buf_cstr(&path),
                        path.n ? ": " : "", kc_buf_cstr(&text));
}

bool kc__protobuf_varint_next(kc_str *rest, uint64_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < rest->n && i < 10; i++) {
        uint8_t byte = (uint8_t)rest->p[i];
        if (i == 9 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80) {
            *ret = value;
            *rest = kc_str_sub(*rest, i + 1, rest->n);
            return true;
        }
    }
    return false;
}

static bool fixed_next(kc_str *rest, size_t n, uint64_t *ret)
{
    if (rest->n < n)
        return false;
    *ret = 0;
    for (size_t i = 0; i < n; i++)
        *ret |= (uint64_t)(uint8_t)rest->p[i] << (8 * i);
    *rest = kc_str_sub(*rest, n, rest->n);
    return true;
}

static bool delimited_next(kc_str *rest, kc_str *ret)
{
    uint64_t n;
    if (!kc__protobuf_varint_next(rest, &n) || n > rest->n)
        return false;
    *ret = kc_str_of(rest->p, (size_t)n);
    *rest = kc_str_sub(*rest, (size_t)n, rest->n);
    return true;
}

static int value_next(kc__protobuf_decoder *d, kc_str *rest, kc__protobuf_element *e)
{
    bool complete = false;
    switch (e->wire) {
    case KC__PROTOBUF_VARINT: complete = kc__protobuf_varint_next(rest, &e->number); break;
    case KC__PROTOBUF_FIXED64: complete = fixed_next(rest, 8, &e->number); break;
    case KC__PROTOBUF_DELIMITED: complete = delimited_next(rest, &e->bytes); break;
    case KC__PROTOBUF_FIXED32: complete = fixed_next(rest, 4, &e->number); break;
    case 3:
    case 4: return kc__protobuf_fail(d, "groups are not supported");
    default: return kc__protobuf_fail(d, "invalid wire type %d", e->wire);
    }
    return complete ? 0 : kc__protobuf_fail(d, "a value is truncated or too large");
}

static int count_element(kc__protobuf_decoder *d)
{
    if (d->elements_left == 0)
        return kc_error_set(d->err, KC_TOO_LARGE, "protobuf: too many fields");
    d->elements_left--;
    return 0;
}

int kc__protobuf_packed_next(kc__protobuf_decoder *d, kc_str *rest, kc__protobuf_element *e)
{
    int r = count_element(d);
    return r < 0 ? r : value_next(d, rest, e);
}

int kc__protobuf_element_next(kc__protobuf_decoder *d, kc_str *rest, uint32_t *ret_number,
                              kc__protobuf_element *ret)
{
    uint64_t tag;
    int r = count_element(d);
    if (r < 0)
        return r;
    if (!kc__protobuf_varint_next(rest, &tag))
        return kc__protobuf_fail(d, "a field number is truncated or too large");
    if (tag >> 3 == 0 || tag >> 3 > MAX_FIELD_NUMBER)
        return kc__protobuf_fail(d, "invalid field number %llu", (unsigned long long)(tag >> 3));
    kc__protobuf_element e = {.wire = tag & 7};
    if ((r = value_next(d, rest, &e)) < 0)
        return r;
    *ret_number = (uint32_t)(tag >> 3);
    *ret = e;
    return 0;
}

int kc__protobuf_element_expect(kc__protobuf_decoder *d, const kc__protobuf_element *e,
                                kc__protobuf_wire wire)
{
    if (e->wire == wire)
        return 0;
    return kc__protobuf_fail(d, "the wire type is %d, not %d", e->wire, wire);
}

static int read_run(kc__protobuf_decoder *d, kc_str rest, const kc__protobuf_wire *wires, size_t n,
                    kc__protobuf_element *ret)
{
    while (rest.n) {
        uint32_t number;
        kc__protobuf_element e;
        int r = kc__protobuf_element_next(d, &rest, &number, &e);
        if (r == 0 && number <= n)
            r = kc__protobuf_element_expect(d, &e, wires[number - 1]);
        if (r < 0)
            return r;
        if (number <= n)
            ret[number - 1] = e;
    }
    return 0;
}

int kc__protobuf_elements_read(kc__protobuf_decoder *d, kc__protobuf_input in,
                               const kc__protobuf_wire *wires, size_t n, kc__protobuf_element *ret)
{
    if (!in.chain)
        return read_run(d, in.bytes, wires, n, ret);
    for (uint32_t at = in.chain; at; at = d->elements.items[at - 1].next) {
        int r = read_run(d, d->elements.items[at - 1].bytes, wires, n, ret);
        if (r < 0)
            return r;
    }
    return 0;
}
