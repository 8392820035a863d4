/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct_scalar.c: the scalar types: how each is decoded from JSON and encoded.
 *
 * To add one: a kc_member_type, a type in api.h, and a row in the table below.
 */
#include "object/struct/struct_internal.h"

#include "kc/base64.h"
#include "kc/duration.h"
#include "kc/json.h"

#include <assert.h>
#include <math.h>

static int expected(const char *what, const kc_value *value, kc_error *err)
{
    return kc_error_set(err, KC_BAD_REQUEST, "expected %s, got %s", what,
                        kc_json_type_name(kc_value_type(value)));
}

static char *text_in(kc_arena *arena, kc_str text)
{
    return kc_arena_strndup(arena, text.p, text.n);
}

/* ---- booleans and numbers ---- */

static int read_bool(const kc_value *value, const kc_member *member, kc_arena *arena, void *ret,
                     kc_error *err)
{
    (void)member;
    (void)arena;
    if (kc_value_type(value) != KC_JSON_BOOL)
        return expected("a boolean", value, err);
    *(bool *)ret = kc_value_as_bool(value, false);
    return 0;
}

static void write_bool(const void *from, const kc_member *member, kc_buf *out)
{
    (void)member;
    kc_buf_puts(out, *(const bool *)from ? "true" : "false");
}

static bool bool_is_empty(const void *value)
{
    return !*(const bool *)value;
}

/* One set of functions for each width. */
#define WHOLE(name, type, as, wide, format)                                                    \
    static int read_##name(const kc_value *value, const kc_member *member, kc_arena *arena,    \
                           void *ret, kc_error *err)                                           \
    {                                                                                          \
        wide n;                                                                                \
        (void)member;                                                                          \
        (void)arena;                                                                           \
        if (!as(value, &n))                                                                    \
            return expected("an integer in range", value, err);                                \
        if ((wide)(type)n != n)                                                                \
            return kc_error_set(err, KC_BAD_REQUEST, "%" format " does not fit its field", n); \
        *(type *)ret = (type)n;                                                                \
        return 0;                                                                              \
    }                                                                                          \
    static void write_##name(const void *from, const kc_member *member, kc_buf *out)           \
    {                                                                                          \
        (void)member;                                                                          \
        kc_buf_printf(out, "%" format, (wide) * (const type *)from);                           \
    }                                                                                          \
    static bool name##_is_empty(const void *value)                                             \
    {                                                                                          \
        return *(const type *)value == 0;                                                      \
    }

WHOLE(int32, int32_t, kc_value_as_i64, int64_t, "ld")
WHOLE(int64, int64_t, kc_value_as_i64, int64_t, "ld")
WHOLE(uint32, uint32_t, kc_value_as_u64, uint64_t, "lu")
WHOLE(uint64, uint64_t, kc_value_as_u64, uint64_t, "lu")

static int read_float64(const kc_value *value, const kc_member *member, kc_arena *arena, void *ret,
                        kc_error *err)
{
    (void)member;
    (void)arena;
    return kc_value_as_f64(value, ret) ? 0 : expected("a number", value, err);
}

/* JSON has no infinity; a reader would use 0 for an absent value. */
static void write_float64(const void *from, const kc_member *member, kc_buf *out)
{
    double number = *(const double *)from;
    (void)member;
    kc_json_write_double(out, isfinite(number) ? number : 0);
}

static bool float64_is_empty(const void *value)
{
    return *(const double *)value == 0;
}

static int read_float32(const kc_value *value, const kc_member *member, kc_arena *arena, void *ret,
                        kc_error *err)
{
    double wide;
    if (read_float64(value, member, arena, &wide, err) < 0)
        return kc_error_result(err);
    *(float *)ret = (float)wide;
    return 0;
}

static void write_float32(const void *from, const kc_member *member, kc_buf *out)
{
    double wide = *(const float *)from;
    write_float64(&wide, member, out);
}

static bool float32_is_empty(const void *value)
{
    return *(const float *)value == 0;
}

/* ---- strings ---- */

static int read_text(const kc_value *value, const kc_member *member, kc_arena *arena, void *ret,
                     kc_error *err)
{
    (void)member;
    if (kc_value_type(value) != KC_JSON_STRING)
        return expected("a string", value, err);
    *(char **)ret = text_in(arena, kc_value_as_str(value));
    return 0;
}

static void write_text(const void *from, const kc_member *member, kc_buf *out)
{
    (void)member;
    kc_json_quote(out, kc_cstr(*(char *const *)from));
}

static bool text_is_empty(const void *value)
{
    const char *text = *(char *const *)value;
    return !text || !*text;
}

/* A text that the enum does not know is an error: any mapping would change it. */
static int read_enum(const kc_value *value, const kc_member *member, kc_arena *arena, void *ret,
                     kc_error *err)
{
    (void)arena;
    for (int i = 0; member->names[i]; i++)
        if (kc_str_is(kc_value_as_str(value), member->names[i])) {
            *(int *)ret = i;
            return 0;
        }
    if (kc_value_type(value) != KC_JSON_STRING)
        return expected("a string", value, err);
    return kc_error_set(err, KC_BAD_REQUEST, "\"%.*s\" is none of the values this program knows",
                        KC_ARG(kc_value_as_str(value)));
}

static void write_enum(const void *from, const kc_member *member, kc_buf *out)
{
    int at = *(const int *)from, n = 0;
    while (member->names[n])
        n++;
    kc_json_quote(out, kc_cstr(at >= 0 && at < n ? member->names[at] : ""));
}

static bool enum_is_empty(const void *value)
{
    return *(const int *)value == 0;
}

static int read_bytes(const kc_value *value, const kc_member *member, kc_arena *arena, void *ret,
                      kc_error *err)
{
    kc_scoped(kc_buf) bytes = {0};
    (void)member;
    if (kc_value_type(value) != KC_JSON_STRING ||
        !kc_base64_read(&bytes, kc_value_as_str(value), KC_BASE64))
        return expected("base64", value, err);
    uint8_t *copy = kc_arena_alloc(arena, bytes.n + 1);
    memcpy(copy, bytes.n ? bytes.p : "", bytes.n);
    *(kc_bytes *)ret = (kc_bytes){copy, bytes.n};
    return 0;
}

static void write_bytes(const void *from, const kc_member *member, kc_buf *out)
{
    const kc_bytes *bytes = from;
    (void)member;
    kc_buf_putc(out, '"');
    kc_base64_write(out, kc_str_of((const char *)bytes->p, bytes->n), KC_BASE64);
    kc_buf_putc(out, '"');
}

static bool bytes_is_empty(const void *value)
{
    return ((const kc_bytes *)value)->n == 0;
}

static int read_raw(const kc_value *value, const kc_member *member, kc_arena *arena, void *ret,
                    kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    (void)member;
    (void)err;
    kc_json_write(&json, value);
    ((kc_raw *)ret)->json = text_in(arena, kc_buf_str(&json));
    return 0;
}

/* The program's own text: invalid JSON is written as null, so that the whole stays valid. */
static void write_raw(const void *from, const kc_member *member, kc_buf *out)
{
    const kc_raw *raw = from;
    (void)member;
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(raw->json), NULL, NULL);
    kc_json_write(out, view ? kc_view_root(view) : NULL);
}

static bool raw_is_empty(const void *value)
{
    return !((const kc_raw *)value)->json;
}

/* ---- strings with a format ---- */

static int read_int_or_string(const kc_value *value, const kc_member *member, kc_arena *arena,
                              void *ret, kc_error *err)
{
    kc_int_or_string *v = ret;
    if (kc_value_type(value) != KC_JSON_STRING)
        return read_int32(value, member, arena, &v->number, err);
    v->is_string = true;
    return read_text(value, member, arena, &v->text, err);
}

static void write_int_or_string(const void *from, const kc_member *member, kc_buf *out)
{
    const kc_int_or_string *v = from;
    if (v->is_string)
        write_text(&v->text, member, out);
    else
        write_int32(&v->number, member, out);
}

static bool int_or_string_is_empty(const void *value)
{
    const kc_int_or_string *v = value;
    return v->is_string ? text_is_empty(&v->text) : v->number == 0;
}

static int read_quantity(const kc_value *value, const kc_member *member, kc_arena *arena, void *ret,
                         kc_error *err)
{
    kc_quantity q;
    char text[KC_QUANTITY_MAX];
    (void)member;
    if (kc_quantity_from(value, &q, err) < 0)
        return kc_error_result(err);
    ((kc_quantity_text *)ret)->text = text_in(arena, kc_quantity_print(q, text));
    return 0;
}

/* In canonical form, so that equal quantities are equal text. */
static void write_quantity(const void *from, const kc_member *member, kc_buf *out)
{
    char text[KC_QUANTITY_MAX];
    kc_str written = kc_cstr(((const kc_quantity_text *)from)->text), canonical;
    (void)member;
    kc_json_quote(out,
                  kc_quantity_rewrite(written, text, &canonical, NULL) == 0 ? canonical : written);
}

static bool quantity_is_empty(const void *value)
{
    return text_is_empty(&((const kc_quantity_text *)value)->text);
}

static int read_time(const kc_value *value, const kc_member *member, kc_arena *arena, void *ret,
                     kc_error *err)
{
    (void)member;
    (void)arena;
    if (kc_value_type(value) != KC_JSON_STRING)
        return expected("a time", value, err);
    return kc_time_parse(kc_value_as_str(value), ret, err);
}

static void write_time(const void *from, const kc_member *member, kc_buf *out)
{
    char text[KC_TIME_TEXT];
    (void)member;
    kc_json_quote(out, kc_time_print(*(const kc_time *)from, text));
}

static void write_micro_time(const void *from, const kc_member *member, kc_buf *out)
{
    char text[KC_TIME_TEXT];
    (void)member;
    kc_json_quote(out, kc_time_print_micro(*(const kc_time *)from, text));
}

static int read_duration(const kc_value *value, const kc_member *member, kc_arena *arena, void *ret,
                         kc_error *err)
{
    (void)member;
    (void)arena;
    if (kc_value_type(value) != KC_JSON_STRING)
        return expected("a duration", value, err);
    return kc_duration_parse(kc_value_as_str(value), ret, err);
}

static void write_duration(const void *from, const kc_member *member, kc_buf *out)
{
    (void)member;
    kc_buf_putc(out, '"');
    kc_duration_write(out, *(const int64_t *)from);
    kc_buf_putc(out, '"');
}

/* ---- the table ---- */

#define SCALAR(type, name) {sizeof(type), read_##name, write_##name, name##_is_empty}

static const kc__struct_scalar scalars[] = {
    [KC_MEMBER_BOOLEAN] = SCALAR(bool, bool),
    [KC_MEMBER_INT32] = SCALAR(int32_t, int32),
    [KC_MEMBER_INT64] = SCALAR(int64_t, int64),
    [KC_MEMBER_UINT32] = SCALAR(uint32_t, uint32),
    [KC_MEMBER_UINT64] = SCALAR(uint64_t, uint64),
    [KC_MEMBER_FLOAT32] = SCALAR(float, float32),
    [KC_MEMBER_FLOAT64] = SCALAR(double, float64),
    [KC_MEMBER_TEXT] = SCALAR(char *, text),
    [KC_MEMBER_ENUM] = SCALAR(int, enum),
    [KC_MEMBER_BYTES] = SCALAR(kc_bytes, bytes),
    [KC_MEMBER_INT_OR_STRING] = SCALAR(kc_int_or_string, int_or_string),
    [KC_MEMBER_QUANTITY] = SCALAR(kc_quantity_text, quantity),
    [KC_MEMBER_TIME] = {sizeof(kc_timestamp), read_time, write_time, int64_is_empty},
    [KC_MEMBER_MICRO_TIME] = {sizeof(kc_micro_timestamp), read_time, write_micro_time,
                              int64_is_empty},
    [KC_MEMBER_DURATION] = {sizeof(kc_duration_field), read_duration, write_duration,
                            int64_is_empty},
    [KC_MEMBER_RAW] = SCALAR(kc_raw, raw),
};

const kc__struct_scalar *kc__struct_scalar_of(const kc_member *member)
{
    assert(member->type < KC_COUNT(scalars));
    return &scalars[member->type];
}

size_t kc__struct_member_size(const kc_member *member)
{
    if (member->flags & KC_MEMBER_POINTERS)
        return sizeof(void *);
    if (member->type == KC_MEMBER_INNER)
        return sizeof(kc_string_map); /* All lists and maps are a pointer and a count. */
    return member->type == KC_MEMBER_STRUCT ? member->of->size : kc__struct_scalar_of(member)->size;
}
