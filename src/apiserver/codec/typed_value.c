/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_value.c: decodes a value of a field: lists and maps, and one reader for each field kind.
 *
 * A reader starts at the value, moves after it and returns whether Go would call it empty. An error
 * in a type with its own unmarshaler in Go (times, quantities and the like) ends the decoding.
 * After a type mismatch decoding continues; the first mismatch is reported at the end, unless an
 * error of the other sort follows.
 *
 * To add a kind: add a reader, its row in `readers`, and its zero value in typed_zero.c.
 */
#include "apiserver/codec/typed_internal.h"

#include "kc/base64.h"
#include "kc/int_or_string.h"
#include "kc/quantity.h"
#include "kc/time.h"
#include "object/json/json_cursor.h"

#include <float.h>

typedef kc__typed_result typed_reader(kc__typed *t, kc__typed_frame *frame,
                                      const kc__type_field *field);

static bool is_number(char c)
{
    return c == '-' || (c >= '0' && c <= '9');
}

static kc__typed_result empty_if(bool empty)
{
    return empty ? KC__TYPED_EMPTY : KC__TYPED_KEPT;
}

static kc__typed_result read_bool(kc__typed *t, kc__typed_frame *frame, const kc__type_field *field)
{
    if (*t->at != 't' && *t->at != 'f')
        return kc__typed_mismatch(t, frame, field);
    return empty_if(kc__typed_word(t).p[0] == 'f');
}

static bool typed_integer_fits(kc_str digits, uint8_t kind)
{
    int64_t number;
    uint64_t natural;
    switch (kind) {
    case KC__FIELD_UINT32: return kc_str_to_u64(digits, &natural) && natural <= UINT32_MAX;
    case KC__FIELD_UINT64: return kc_str_to_u64(digits, &natural);
    case KC__FIELD_INT32:
        return kc_str_to_i64(digits, &number) && number >= INT32_MIN && number <= INT32_MAX;
    default: return kc_str_to_i64(digits, &number);
    }
}

static kc__typed_result read_integer(kc__typed *t, kc__typed_frame *frame,
                                     const kc__type_field *field)
{
    const char *from = t->at;
    if (!is_number(*from))
        return kc__typed_mismatch(t, frame, field);
    kc_str word = kc__typed_word(t);
    if (typed_integer_fits(word, field->kind))
        return empty_if(kc_str_eq(word, KC_STR("0")));
    t->at = from;
    return kc__typed_mismatch(t, frame, field);
}

static kc__typed_result read_float(kc__typed *t, kc__typed_frame *frame,
                                   const kc__type_field *field)
{
    const char *from = t->at;
    if (!is_number(*from))
        return kc__typed_mismatch(t, frame, field);
    kc_str word = kc__typed_word(t);
    double number = strtod(from, NULL); /* Stops at the delimiter after the number. */
    if (field->kind == KC__FIELD_FLOAT && (number > (double)FLT_MAX || number < -(double)FLT_MAX)) {
        t->at = from;
        return kc__typed_mismatch(t, frame, field);
    }
    return empty_if(kc_str_eq(word, KC_STR("0")));
}

static kc__typed_result read_string(kc__typed *t, kc__typed_frame *frame,
                                    const kc__type_field *field)
{
    if (*t->at != '"')
        return kc__typed_mismatch(t, frame, field);
    return empty_if(kc__typed_string(t).n == 0);
}

/* Returns the string read last without escapes; `room` holds it if it had any. */
static kc_str plain_text(const kc__typed *t, kc_str raw, kc_buf *room)
{
    if (!t->escaped)
        return raw;
    kc__json_unescape_to(room, raw);
    return kc_buf_str(room);
}

/* Replaces the input from `from` to `at` by a string that needs no escapes. */
static void put_string(kc__typed *t, const char *from, kc_str text)
{
    kc_str old = kc_str_of(from, (size_t)(t->at - from));
    if (*from == '"' && kc_str_eq(kc_str_sub(old, 1, old.n - 1), text))
        return;
    kc__typed_flush(t, from);
    kc_buf_putc(&t->out, '"');
    kc_buf_append(&t->out, text);
    kc_buf_putc(&t->out, '"');
}

/* Go also decodes an array of small numbers as bytes. */
static kc__typed_result read_byte_array(kc__typed *t, kc__typed_frame *frame)
{
    static const kc__type_field byte = {.kind = KC__FIELD_UINT32, .go_type = "[]uint8"};
    const char *from = t->at;
    kc_scoped(kc_buf) bytes = {0};
    kc_scoped(kc_buf) written = {0};
    uint64_t number = 0;
    for (t->at += t->at[1] == ']'; *t->at != ']';) {
        const char *item = ++t->at;
        bool is_null = *item == 'n';
        kc_str word = is_null || is_number(*item) ? kc__typed_word(t) : (kc_str){0};
        bool fits_byte = is_null || (kc_str_to_u64(word, &number) && number <= UINT8_MAX);
        t->at = fits_byte ? t->at : item;
        if (!fits_byte)
            kc__typed_mismatch(t, frame, &byte);
        kc_buf_putc(&bytes, is_null ? '\0' : (char)number);
    }
    t->at++;
    kc_base64_write(&written, kc_buf_str(&bytes), KC_BASE64);
    put_string(t, from, kc_buf_str(&written));
    return empty_if(written.n == 0);
}

static kc__typed_result read_bytes(kc__typed *t, kc__typed_frame *frame,
                                   const kc__type_field *field)
{
    const char *from = t->at;
    if (*from == '[')
        return read_byte_array(t, frame);
    if (*from != '"')
        return kc__typed_mismatch(t, frame, field);
    kc_str raw = kc__typed_string(t);
    if (kc__typed_base64_is_clean(raw))
        return empty_if(raw.n == 0);

    kc_scoped(kc_buf) room = {0};
    kc_scoped(kc_buf) written = {0};
    size_t bad;
    if (!kc__typed_base64_rewrite(&written, plain_text(t, raw, &room), &bad)) {
        kc__typed_refuse_base64(t, bad);
        return KC__TYPED_KEPT;
    }
    put_string(t, from, kc_buf_str(&written));
    return empty_if(written.n == 0);
}

static kc__typed_result read_struct(kc__typed *t, kc__typed_frame *frame,
                                    const kc__type_field *field)
{
    if (*t->at != '{')
        return kc__typed_mismatch(t, frame, field);
    return kc__typed_struct(t, frame, field->message);
}

static kc__typed_result read_any(kc__typed *t, kc__typed_frame *frame, const kc__type_field *field)
{
    (void)frame, (void)field;
    kc__typed_skip(t);
    return KC__TYPED_KEPT;
}

static kc__typed_result read_message(kc__typed *t, kc__typed_frame *frame,
                                     const kc__type_field *field)
{
    return field->message ? read_struct(t, frame, field) : read_any(t, frame, field);
}

/* Go has a custom unmarshaler for these, which silently drops unknown fields. */
static kc__typed_result read_either(kc__typed *t, kc__typed_frame *frame,
                                    const kc__type_field *field)
{
    if (*t->at != '{')
        return read_any(t, frame, field);
    kc_paths *unknown = t->unknown;
    t->unknown = NULL;
    kc__typed_result verdict = kc__typed_struct(t, frame, field->message);
    t->unknown = unknown;
    return verdict;
}

/* Whether a time needs no further check: "2006-01-02T15:04:05Z" in this century, on a day that
 * every month has. Every object contains such a time. */
static bool is_plain_time(kc_str text)
{
    static const char least[] = "2000-00-00T00:00:00Z", most[] = "2099-19-29T29:59:59Z";
    if (text.n != sizeof(least) - 1)
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < least[i] || text.p[i] > most[i])
            return false;
    return memcmp(text.p + 5, "12", 2) <= 0 && memcmp(text.p + 5, "00", 2) > 0 &&
           memcmp(text.p + 8, "28", 2) <= 0 && memcmp(text.p + 8, "00", 2) > 0 &&
           memcmp(text.p + 11, "23", 2) <= 0;
}

static kc__typed_result read_time(kc__typed *t, kc__typed_frame *frame, const kc__type_field *field)
{
    const char *from = t->at;
    if (*from != '"')
        return kc__typed_mismatch_final(t, frame, "string");
    kc_scoped(kc_buf) room = {0};
    kc_scoped(kc_error) err = {0};
    char out[KC_TIME_TEXT];
    kc_str raw = kc__typed_string(t), time;
    if (field->kind == KC__FIELD_TIME && is_plain_time(raw))
        return KC__TYPED_KEPT;
    kc_str text = plain_text(t, raw, &room);
    int done = field->kind == KC__FIELD_TIME ? kc_time_rewrite(text, out, &time, &err)
                                             : kc_time_rewrite_micro(text, out, &time, &err);
    if (done < 0)
        return kc__typed_fail(t, &err);
    if (time.n) {
        put_string(t, from, time);
        return KC__TYPED_KEPT;
    }
    kc__typed_replace(t, from, KC_STR("null"));
    return KC__TYPED_EMPTY;
}

static kc__typed_result read_duration(kc__typed *t, kc__typed_frame *frame,
                                      const kc__type_field *field)
{
    (void)field;
    const char *from = t->at;
    if (*from != '"')
        return kc__typed_mismatch_final(t, frame, "string");
    kc_scoped(kc_buf) room = {0};
    kc_scoped(kc_buf) written = {0};
    kc_scoped(kc_error) err = {0};
    int64_t ns;
    kc_str raw = kc__typed_string(t);
    if (kc_duration_parse(plain_text(t, raw, &room), &ns, &err) < 0)
        return kc__typed_fail(t, &err);
    kc_duration_write(&written, ns);
    put_string(t, from, kc_buf_str(&written));
    return KC__TYPED_KEPT;
}

static kc__typed_result read_quantity(kc__typed *t, kc__typed_frame *frame,
                                      const kc__type_field *field)
{
    (void)frame, (void)field;
    const char *from = t->at;
    kc__typed_skip(t);
    kc_str text = kc_str_of(from, (size_t)(t->at - from)), written;
    if (*from == '"') /* Kubernetes does not unescape here. */
        text = kc_str_trim(kc_str_sub(text, 1, text.n - 1));
    kc_scoped(kc_error) err = {0};
    char out[KC_QUANTITY_MAX];
    if (kc_quantity_rewrite(text, out, &written, &err) < 0)
        return kc__typed_fail(t, &err);
    put_string(t, from, written);
    return KC__TYPED_KEPT;
}

static kc__typed_result read_int_or_string(kc__typed *t, kc__typed_frame *frame,
                                           const kc__type_field *field)
{
    (void)field;
    const char *from = t->at;
    if (*from == '"') {
        kc__typed_string(t);
        return KC__TYPED_KEPT;
    }
    if (is_number(*from) && typed_integer_fits(kc__typed_word(t), KC__FIELD_INT32))
        return KC__TYPED_KEPT;
    t->at = from;
    return kc__typed_mismatch_final(t, frame, "int32");
}

static kc__typed_result read_list(kc__typed *t, kc__typed_frame *frame,
                                  const kc__type_field *field);

static typed_reader *const readers[] = {
    [KC__FIELD_BOOL] = read_bool,
    [KC__FIELD_INT32] = read_integer,
    [KC__FIELD_INT64] = read_integer,
    [KC__FIELD_UINT32] = read_integer,
    [KC__FIELD_UINT64] = read_integer,
    [KC__FIELD_FLOAT] = read_float,
    [KC__FIELD_DOUBLE] = read_float,
    [KC__FIELD_STRING] = read_string,
    [KC__FIELD_BYTES] = read_bytes,
    [KC__FIELD_MESSAGE] = read_message,
    [KC__FIELD_TIME] = read_time,
    [KC__FIELD_MICRO_TIME] = read_time,
    [KC__FIELD_DURATION] = read_duration,
    [KC__FIELD_QUANTITY] = read_quantity,
    [KC__FIELD_INT_OR_STRING] = read_int_or_string,
    [KC__FIELD_RAW] = read_any,
    [KC__FIELD_ANY] = read_any,
    [KC__FIELD_FIELDS_V1] = read_any,
    [KC__FIELD_LIST] = read_list,
    [KC__FIELD_EITHER] = read_either,
};

/* Rejects null for a duration. For other Go values that are no pointers, null becomes the zero
 * value, but a duration's unmarshaler parses it. */
static kc__typed_result refuse_null(kc__typed *t)
{
    kc_scoped(kc_error) err = {0};
    int64_t ns;
    kc_duration_parse(KC_STR(""), &ns, &err);
    return kc__typed_fail(t, &err);
}

static kc__typed_result replace_null(kc__typed *t, const kc__type_field *field)
{
    kc_scoped(kc_buf) zero = {0};
    t->at += strlen("null");
    if (field->kind == KC__FIELD_DURATION)
        return refuse_null(t);
    kc__typed_zero_element(&zero, field);
    kc__typed_replace(t, t->at - strlen("null"), kc_buf_str(&zero));
    return KC__TYPED_KEPT;
}

static kc__typed_result read_element(kc__typed *t, kc__typed_frame *frame,
                                     const kc__type_field *field)
{
    if (*t->at == 'n')
        return replace_null(t, field);
    kc__typed_result verdict = readers[field->kind](t, frame, field);
    return t->out.failed ? KC__TYPED_STOPPED : verdict;
}

/* Reads an empty list or map. Kubernetes' storage returns it as nil, but a list inside a map as
 * empty; until then it is empty. */
static kc__typed_result read_nothing(kc__typed *t, const kc__typed_frame *frame)
{
    t->at += 2;
    bool omitted = frame->place == KC__TYPED_AT_FIELD && kc__typed_omits(frame->field);
    if (!omitted && !t->keeps_empty && frame->place != KC__TYPED_AT_KEY)
        kc__typed_replace(t, t->at - 2, KC_STR("null"));
    return KC__TYPED_EMPTY;
}

/* Reads the elements of an array, each of the field's kind, ignoring its shape. */
static kc__typed_result read_elements(kc__typed *t, kc__typed_frame *frame,
                                      const kc__type_field *field)
{
    if (*t->at != '[')
        return kc__typed_mismatch(t, frame, frame->field);
    if (t->at[1] == ']')
        return read_nothing(t, frame);
    bool of_field = field == frame->field;
    for (size_t i = 0; *t->at != ']'; i++) {
        t->at++;
        if (of_field) {
            frame->place = KC__TYPED_AT_INDEX;
            frame->index = i;
        }
        if (read_element(t, frame, field) == KC__TYPED_STOPPED)
            return KC__TYPED_STOPPED;
    }
    t->at++;
    return KC__TYPED_KEPT;
}

/* Reads a named list type: its message has one field, the items. */
static kc__typed_result read_list(kc__typed *t, kc__typed_frame *frame, const kc__type_field *field)
{
    assert(field->message && field->message->n_fields == 1);
    return read_elements(t, frame, &field->message->fields[0]);
}

static kc__typed_result read_map(kc__typed *t, kc__typed_frame *frame, const kc__type_field *field)
{
    if (*t->at != '{')
        return kc__typed_mismatch(t, frame, field);
    if (t->at[1] == '}')
        return read_nothing(t, frame);
    size_t first = t->chunks.n;
    bool escaped = false;
    while (*t->at != '}') {
        t->at++;
        size_t from = kc__typed_position(t);
        kc_str key = kc__typed_string(t);
        escaped |= t->escaped;
        t->at++;
        frame->place = KC__TYPED_AT_KEY;
        frame->key = key;
        if (read_element(t, frame, field) == KC__TYPED_STOPPED)
            return KC__TYPED_STOPPED;
        kc_vec_push(&t->chunks, (kc__typed_chunk){(uint32_t)from, (uint32_t)kc__typed_position(t),
                                                  (uint32_t)key.n, key.p});
    }
    kc__typed_order_keys(t, first, escaped);
    t->at++;
    t->chunks.n = first;
    return t->out.failed ? KC__TYPED_STOPPED : KC__TYPED_KEPT;
}

/* Reads null for a field: equivalent to absent, or replaced by the zero value that an absent
 * field gets. */
static kc__typed_result read_null(kc__typed *t, const kc__type_field *field)
{
    if (!kc__typed_omits(field) && !kc__typed_zero_is_null(field))
        return replace_null(t, field);
    t->at += strlen("null");
    return KC__TYPED_EMPTY;
}

kc__typed_result kc__typed_value(kc__typed *t, kc__typed_frame *frame)
{
    const kc__type_field *field = frame->field;
    if (*t->at == 'n')
        return read_null(t, field);
    if (field->shape == KC__REPEATED)
        return read_elements(t, frame, field);
    if (field->shape == KC__MAPPED)
        return read_map(t, frame, field);
    kc__typed_result verdict = readers[field->kind](t, frame, field);
    /* A pointer may point to an empty value. But an empty time is written as null, which decodes
     * as absent. */
    bool is_time = field->kind == KC__FIELD_TIME || field->kind == KC__FIELD_MICRO_TIME;
    return verdict == KC__TYPED_EMPTY && field->marks & KC__POINTER && !is_time ? KC__TYPED_KEPT
                                                                                : verdict;
}
