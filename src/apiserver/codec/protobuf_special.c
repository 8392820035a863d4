/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_special.c: messages whose JSON is not an object. They have few fields, which will not
 * change, so each has a hand-written decoder:
 *
 *     Time, MicroTime   1 seconds, 2 nanos          Quantity                1 text
 *     Duration          1 nanoseconds               RawExtension, FieldsV1  1 JSON text
 *     IntOrString       1 type, 2 number, 3 text
 *
 * The decoders follow Go's: a Time has no fraction of a second and a MicroTime no nanoseconds; an
 * empty message is the zero time, but a message without seconds is 1970. JSON inside protobuf is
 * parsed like any JSON from outside, with the same limits, and written compactly.
 */
#include "apiserver/codec/protobuf_internal.h"

#include "kc/clock.h"
#include "kc/quantity.h"
#include "kc/time.h"

#include <time.h>

/* The first second of year 1, which is Go's zero time; the first second of year 0; the last
 * second of 9999. */
#define NO_TIME    INT64_C(-62135596800)
#define FIRST_TIME INT64_C(-62167219200)
#define LAST_TIME  INT64_C(253402300799)

static const kc__protobuf_wire numbers[] = {KC__PROTOBUF_VARINT, KC__PROTOBUF_VARINT};
static const kc__protobuf_wire text[] = {KC__PROTOBUF_DELIMITED};
static const kc__protobuf_wire int_or_string[] = {KC__PROTOBUF_VARINT, KC__PROTOBUF_VARINT,
                                                  KC__PROTOBUF_DELIMITED};

bool kc__protobuf_is_special(kc__type_field_kind kind)
{
    return kind >= KC__FIELD_TIME && kind <= KC__FIELD_FIELDS_V1;
}

typedef struct protobuf_timestamp {
    int64_t seconds;
    int32_t micros;
    bool none;
} protobuf_timestamp;

/* Returns the bytes of the last element of a chain: the last one wins as a whole. */
static kc_str last_run(const kc__protobuf_decoder *d, kc__protobuf_input in)
{
    kc_str bytes = in.bytes;
    for (uint32_t at = in.chain; at; at = d->elements.items[at - 1].next)
        bytes = d->elements.items[at - 1].bytes;
    return bytes;
}

static int read_moment(kc__protobuf_decoder *d, kc__protobuf_input in, bool with_micros,
                       protobuf_timestamp *ret)
{
    kc__protobuf_input last = {.bytes = last_run(d, in)};
    if (!last.bytes.n) {
        *ret = (protobuf_timestamp){.none = true};
        return 0;
    }
    kc__protobuf_element e[2] = {0};
    int r = kc__protobuf_elements_read(d, last, numbers, 2, e);
    if (r < 0)
        return r;
    int64_t seconds = (int64_t)e[0].number;
    int32_t micros = with_micros ? (int32_t)e[1].number / 1000 : 0;
    if (seconds < FIRST_TIME + 3 || seconds > LAST_TIME - 3) /* Leaves room for the nanos. */
        return kc__protobuf_fail(d, "the time is not within the years 0 to 9999");
    seconds += micros / 1000000 - (micros % 1000000 < 0);
    micros = (micros % 1000000 + 1000000) % 1000000;
    *ret = (protobuf_timestamp){seconds, micros, seconds == NO_TIME && micros == 0};
    return 0;
}

static int write_moment(kc__protobuf_decoder *d, kc__protobuf_input in, bool with_micros)
{
    protobuf_timestamp when = {0};
    struct tm tm;
    int r = read_moment(d, in, with_micros, &when);
    if (r < 0)
        return r;
    time_t seconds = (time_t)when.seconds;
    if (when.none || !gmtime_r(&seconds, &tm)) {
        kc_buf_puts(&d->out, "null");
        return 0;
    }
    kc_buf_printf(&d->out, "\"%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1,
                  tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
    if (with_micros)
        kc_buf_printf(&d->out, ".%06d", (int)when.micros);
    kc_buf_puts(&d->out, "Z\"");
    return 0;
}

static int write_duration(kc__protobuf_decoder *d, kc__protobuf_input in)
{
    kc__protobuf_element e[1] = {0};
    int r = kc__protobuf_elements_read(d, in, numbers, 1, e);
    if (r < 0)
        return r;
    kc_buf_putc(&d->out, '"');
    kc_duration_write(&d->out, (int64_t)e[0].number);
    kc_buf_putc(&d->out, '"');
    return 0;
}

static int write_quantity(kc__protobuf_decoder *d, kc__protobuf_input in)
{
    kc__protobuf_element e[1] = {{.bytes = KC_STR_INIT("0")}};
    char room[KC_QUANTITY_MAX];
    kc_str rewritten;
    kc_scoped(kc_error) why = {0};
    int r = kc__protobuf_elements_read(d, in, text, 1, e);
    if (r < 0)
        return r;
    if (kc_quantity_rewrite(e[0].bytes, room, &rewritten, &why) < 0)
        return kc__protobuf_fail(d, "%s", kc_error_text(&why));
    return kc__protobuf_write_string(d, rewritten);
}

static int write_int_or_string(kc__protobuf_decoder *d, kc__protobuf_input in)
{
    kc__protobuf_element e[3] = {0};
    int r = kc__protobuf_elements_read(d, in, int_or_string, 3, e);
    if (r < 0)
        return r;
    if (e[0].number > 1)
        return kc__protobuf_fail(d, "the type of an int-or-string is 0 or 1, not %lld",
                                 (long long)e[0].number);
    if (e[0].number == 1)
        return kc__protobuf_write_string(d, e[2].bytes);
    kc_buf_printf(&d->out, "%d", (int32_t)e[1].number);
    return 0;
}

/* Writes JSON text from bytes; no bytes are null. */
static int write_json(kc__protobuf_decoder *d, kc__protobuf_input in)
{
    kc__protobuf_element e[1] = {0};
    kc_scoped(kc_error) why = {0};
    int r = kc__protobuf_elements_read(d, in, text, 1, e);
    if (r < 0)
        return r;
    if (!e[0].bytes.n) {
        kc_buf_puts(&d->out, "null");
        return 0;
    }
    kc_auto(kc_view) *view = kc_view_parse(e[0].bytes, NULL, &why);
    if (!view)
        return kc__protobuf_fail(d, "%s", kc_error_text(&why));
    kc_json_write(&d->out, kc_view_root(view));
    return 0;
}

int kc__protobuf_write_special(kc__protobuf_decoder *d, kc__type_field_kind kind,
                               kc__protobuf_input in)
{
    switch (kind) {
    case KC__FIELD_TIME: return write_moment(d, in, false);
    case KC__FIELD_MICRO_TIME: return write_moment(d, in, true);
    case KC__FIELD_DURATION: return write_duration(d, in);
    case KC__FIELD_QUANTITY: return write_quantity(d, in);
    case KC__FIELD_INT_OR_STRING: return write_int_or_string(d, in);
    default: return write_json(d, in);
    }
}
