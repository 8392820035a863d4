/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_zero.c: what Go's encoder writes for a field without a value.
 *
 * `omitempty` omits false, 0, "", nil pointers, and empty lists and maps, but never a struct: a
 * Deployment without a status still has "status":{}, an Event without a time has "eventTime":null.
 * A field without omitempty is always written: a nil pointer, list or map as null, a struct with
 * its always-written fields.
 */
#include "apiserver/codec/typed_internal.h"

/* The zero value of each kind, and whether Go has a struct for it. NULL: it depends on the
 * message. */
static const struct {
    const char *zero;
    bool is_struct;
} kinds[] = {
    [KC__FIELD_BOOL] = {"false", false},     [KC__FIELD_INT32] = {"0", false},
    [KC__FIELD_INT64] = {"0", false},        [KC__FIELD_UINT32] = {"0", false},
    [KC__FIELD_UINT64] = {"0", false},       [KC__FIELD_FLOAT] = {"0", false},
    [KC__FIELD_DOUBLE] = {"0", false},       [KC__FIELD_STRING] = {"\"\"", false},
    [KC__FIELD_BYTES] = {"null", false},     [KC__FIELD_MESSAGE] = {NULL, true},
    [KC__FIELD_TIME] = {"null", true},       [KC__FIELD_MICRO_TIME] = {"null", true},
    [KC__FIELD_DURATION] = {"\"0s\"", true}, [KC__FIELD_QUANTITY] = {"\"0\"", true},
    [KC__FIELD_INT_OR_STRING] = {"0", true}, [KC__FIELD_RAW] = {"null", true},
    [KC__FIELD_ANY] = {"null", true},        [KC__FIELD_FIELDS_V1] = {"null", true},
    [KC__FIELD_LIST] = {"null", false},      [KC__FIELD_EITHER] = {"null", true},
};

static bool is_struct(const kc__type_field *field)
{
    return field->shape == KC__SINGLE && !(field->marks & KC__POINTER) &&
           kinds[field->kind].is_struct;
}

bool kc__typed_omits(const kc__type_field *field)
{
    return field->marks & KC__OMIT_ZERO || (field->marks & KC__OMIT_EMPTY && !is_struct(field));
}

bool kc__typed_zero_is_null(const kc__type_field *field)
{
    if (field->shape != KC__SINGLE || field->marks & KC__POINTER)
        return true;
    const char *zero = kinds[field->kind].zero;
    return zero && zero[0] == 'n';
}

static bool write_zero_field(const kc__type_field *field, uint32_t place, void *user)
{
    kc_buf *out = user;
    (void)place;
    if (kc__typed_omits(field))
        return true;
    kc_buf_puts(out, out->p[out->n - 1] == '{' ? "\"" : ",\"");
    kc_buf_append(out, field->name);
    kc_buf_puts(out, "\":");
    kc__typed_zero(out, field); /* Depth of structs nested by value: finite in Go. */
    return !out->failed;
}

static void zero_struct(kc_buf *out, const kc__type_message *message)
{
    kc_buf_putc(out, '{');
    if (message && !out->failed)
        kc__typed_each_field(message, write_zero_field, out);
    kc_buf_putc(out, '}');
}

void kc__typed_zero(kc_buf *out, const kc__type_field *field)
{
    if (kc__typed_zero_is_null(field))
        kc_buf_puts(out, "null");
    else if (kinds[field->kind].zero)
        kc_buf_puts(out, kinds[field->kind].zero);
    else
        zero_struct(out, field->message);
}

void kc__typed_zero_element(kc_buf *out, const kc__type_field *field)
{
    /* Kubernetes' storage returns absent bytes and lists inside a map as empty, not as nil. */
    if (field->kind == KC__FIELD_BYTES && field->shape == KC__MAPPED)
        kc_buf_puts(out, "\"\"");
    else if (field->kind == KC__FIELD_LIST && field->shape == KC__MAPPED)
        kc_buf_puts(out, "[]");
    else if (kinds[field->kind].zero)
        kc_buf_puts(out, kinds[field->kind].zero);
    else
        zero_struct(out, field->message);
}
