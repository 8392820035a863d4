/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_encode_value.c: encodes one value of a field.
 *
 *     Time, MicroTime   1 seconds, 2 nanos          Quantity                1 text
 *     Duration          1 nanoseconds               RawExtension, FieldsV1  1 JSON text
 *     IntOrString       1 type, 2 number, 3 text
 *
 * A zero time is a message without bytes; all other fields of these messages are always written.
 * Numbers of lists are not packed. The types of CRDs that are any JSON value have no protobuf form
 * here: Kubernetes stores CRDs as JSON.
 */
#include "apiserver/codec/protobuf_encode_internal.h"

#include "kc/base64.h"
#include "kc/time.h"

#include <stdio.h>
#include <time.h>

static int mismatch(kc__protobuf_encoder *e, const kc__type_field *field)
{
    return kc_error_set(e->err, KC_BAD_REQUEST, "protobuf: %.*s is not of type %s",
                        KC_ARG(field->name), field->go_type ? field->go_type : "string");
}

/* ---- scalars ---- */

static void put_fixed(kc_buf *out, uint64_t bits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        kc_buf_putc(out, (char)(bits >> (8 * i)));
}

static void put_number(kc__protobuf_encoder *e, uint32_t number, uint64_t value)
{
    kc__protobuf_put_tag(e->out, number, KC__PROTOBUF_VARINT);
    kc__protobuf_put_varint(e->out, value);
}

static int encode_integer(kc__protobuf_encoder *e, const kc__type_field *field, uint32_t number,
                          const kc_value *value)
{
    uint64_t natural = 0;
    int64_t integer = 0;
    if (kc__protobuf_is_set(value) && !kc_value_as_i64(value, &integer) &&
        !kc_value_as_u64(value, &natural))
        return mismatch(e, field);
    put_number(e, number, natural ? natural : (uint64_t)integer);
    return 0;
}

static int encode_double(kc__protobuf_encoder *e, const kc__type_field *field, uint32_t number,
                         const kc_value *value)
{
    const bool single = field->kind == KC__FIELD_FLOAT;
    double real = 0;
    uint64_t bits = 0;
    if (kc__protobuf_is_set(value) && !kc_value_as_f64(value, &real))
        return mismatch(e, field);
    const float narrow = (float)real;
    if (single)
        memcpy(&bits, &narrow, sizeof(narrow));
    else
        memcpy(&bits, &real, sizeof(real));
    kc__protobuf_put_tag(e->out, number, single ? KC__PROTOBUF_FIXED32 : KC__PROTOBUF_FIXED64);
    put_fixed(e->out, bits, single ? 4 : 8);
    return 0;
}

static int text_of(kc__protobuf_encoder *e, const kc__type_field *field, const kc_value *value,
                   kc_str *ret)
{
    if (kc__protobuf_is_set(value) && kc_value_type(value) != KC_JSON_STRING)
        return mismatch(e, field);
    *ret = kc_value_as_str(value);
    return 0;
}

static int encode_base64(kc__protobuf_encoder *e, const kc__type_field *field, uint32_t number,
                         kc_str text)
{
    const size_t start = kc__protobuf_begin(e->out, number);
    if (!kc_base64_read(e->out, text, KC_BASE64))
        return mismatch(e, field);
    kc__protobuf_end(e->out, start);
    return 0;
}

static int encode_text(kc__protobuf_encoder *e, const kc__type_field *field, uint32_t number,
                       const kc_value *value)
{
    kc_str text = {0};
    const int r = text_of(e, field, value, &text);
    if (r < 0)
        return r;
    if (field->kind == KC__FIELD_BYTES)
        return encode_base64(e, field, number, text);
    kc__protobuf_put_bytes(e->out, number, text);
    return 0;
}

/* ---- messages whose JSON is not an object ---- */

/* Years 0 to 9999, which kc_time does not cover. */
static int encode_time(kc__protobuf_encoder *e, const kc__type_field *field, const kc_value *value)
{
    kc_str text = {0}, rewritten = {0};
    char room[KC_TIME_TEXT];
    const int r = text_of(e, field, value, &text);
    if (r < 0 || !text.n)
        return r;
    const bool micro = field->kind == KC__FIELD_MICRO_TIME;
    if (micro ? kc_time_rewrite_micro(text, room, &rewritten, NULL) < 0
              : kc_time_rewrite(text, room, &rewritten, NULL) < 0)
        return mismatch(e, field);
    if (!rewritten.n)
        return 0;
    struct tm tm = {0};
    int micros = 0;
    if (sscanf(rewritten.p, "%4d-%2d-%2dT%2d:%2d:%2d.%6d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &micros) < 6)
        return mismatch(e, field);
    tm.tm_year -= 1900;
    tm.tm_mon--;
    put_number(e, 1, (uint64_t)(int64_t)timegm(&tm));
    put_number(e, 2, (uint64_t)micros * 1000);
    return 0;
}

static int encode_duration(kc__protobuf_encoder *e, const kc__type_field *field,
                           const kc_value *value)
{
    kc_str text = {0};
    int64_t ns = 0;
    const int r = text_of(e, field, value, &text);
    if (r < 0)
        return r;
    if (text.n && kc_duration_parse(text, &ns, NULL) < 0)
        return mismatch(e, field);
    put_number(e, 1, (uint64_t)ns);
    return 0;
}

static int encode_quantity(kc__protobuf_encoder *e, const kc__type_field *field,
                           const kc_value *value)
{
    kc_str text = {0};
    const int r = text_of(e, field, value, &text);
    if (r < 0)
        return r;
    kc__protobuf_put_bytes(e->out, 1, text.n ? text : KC_STR("0"));
    return 0;
}

static int encode_int_or_string(kc__protobuf_encoder *e, const kc__type_field *field,
                                const kc_value *value)
{
    const bool is_text = kc_value_type(value) == KC_JSON_STRING;
    int64_t integer = 0;
    if (kc__protobuf_is_set(value) && !is_text && !kc_value_as_i64(value, &integer))
        return mismatch(e, field);
    put_number(e, 1, is_text);
    put_number(e, 2, (uint64_t)integer);
    kc__protobuf_put_bytes(e->out, 3, kc_value_as_str(value));
    return 0;
}

static void encode_json(kc__protobuf_encoder *e, const kc_value *value)
{
    if (!kc__protobuf_is_set(value))
        return;
    const size_t start = kc__protobuf_begin(e->out, 1);
    kc_json_write(e->out, value);
    kc__protobuf_end(e->out, start);
}

static int encode_items(kc__protobuf_encoder *e, const kc__type_message *list,
                        const kc_value *value)
{
    kc_value_each_item (value, item) {
        const int r = kc__protobuf_encode_value(e, &list->fields[0], list->fields[0].number, item);
        if (r < 0)
            return r;
    }
    return 0;
}

static int encode_contents(kc__protobuf_encoder *e, const kc__type_field *field,
                           const kc_value *value)
{
    switch (field->kind) {
    case KC__FIELD_MESSAGE: return kc__protobuf_encode_message(e, field->message, value);
    case KC__FIELD_TIME:
    case KC__FIELD_MICRO_TIME: return encode_time(e, field, value);
    case KC__FIELD_DURATION: return encode_duration(e, field, value);
    case KC__FIELD_QUANTITY: return encode_quantity(e, field, value);
    case KC__FIELD_INT_OR_STRING: return encode_int_or_string(e, field, value);
    case KC__FIELD_RAW:
    case KC__FIELD_FIELDS_V1: encode_json(e, value); return 0;
    case KC__FIELD_LIST: return encode_items(e, field->message, value);
    default:
        return kc_error_set(e->err, KC_BAD_REQUEST, "protobuf: %.*s has no protobuf form",
                            KC_ARG(field->name));
    }
}

int kc__protobuf_encode_value(kc__protobuf_encoder *e, const kc__type_field *field, uint32_t number,
                              const kc_value *value)
{
    switch (field->kind) {
    case KC__FIELD_BOOL: put_number(e, number, kc_value_as_bool(value, false)); return 0;
    case KC__FIELD_INT32:
    case KC__FIELD_INT64:
    case KC__FIELD_UINT32:
    case KC__FIELD_UINT64: return encode_integer(e, field, number, value);
    case KC__FIELD_FLOAT:
    case KC__FIELD_DOUBLE: return encode_double(e, field, number, value);
    case KC__FIELD_STRING:
    case KC__FIELD_BYTES: return encode_text(e, field, number, value);
    default: break;
    }
    const size_t start = kc__protobuf_begin(e->out, number);
    const int r = encode_contents(e, field, value);
    if (r == 0)
        kc__protobuf_end(e->out, start);
    return r;
}
