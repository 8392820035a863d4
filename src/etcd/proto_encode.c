/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto_encode.c: the encoder of protocol buffers: walks a struct by its table and appends its
 * fields.
 *
 * The length of a nested message precedes its bytes, so it is computed first, by a walk of the
 * nested struct. The walks repeat for each level; requests of etcd have at most four.
 *
 * To add a type of field: one case in field_size() and in put_field(), and one in proto_decode.c.
 */
#include "etcd/proto.h"

#include <assert.h>

enum { VARINT = 0, DELIMITED = 2 };

/* The layout of all lists. */
typedef struct any_list {
    const char *items;
    size_t n;
} any_list;

static size_t varint_size(uint64_t value)
{
    size_t n = 1;
    for (; value >= 0x80; value >>= 7)
        n++;
    return n;
}

static void put_varint(kc_buf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        kc_buf_putc(out, (char)(value | 0x80));
    kc_buf_putc(out, (char)value);
}

static uint64_t scalar_of(const kc__etcd_proto_field *field, const char *at)
{
    switch (field->type) {
    case KC__ETCD_PROTO_BOOL: return *(const bool *)at;
    case KC__ETCD_PROTO_INT32: return (uint64_t)(int64_t)*(const int32_t *)at;
    default: return *(const uint64_t *)at;
    }
}

static any_list proto_list_of(const char *at)
{
    any_list list;
    memcpy(&list, at, sizeof(list));
    return list;
}

static const void *nested_of(const char *at)
{
    const void *nested;
    memcpy(&nested, at, sizeof(nested));
    return nested;
}

static size_t message_size(const kc__etcd_proto_message *table, const void *message);

static size_t delimited_size(const kc__etcd_proto_field *field, size_t n)
{
    return varint_size((uint64_t)field->number << 3) + varint_size(n) + n;
}

static size_t list_size(const kc__etcd_proto_field *field, any_list list)
{
    size_t size = 0;
    for (size_t i = 0; i < list.n; i++) {
        const size_t n = field->type == KC__ETCD_PROTO_BYTES_LIST
                             ? ((const kc_str *)(const void *)list.items)[i].n
                             : message_size(field->message, list.items + i * field->message->size);
        size += delimited_size(field, n);
    }
    return size;
}

/* Bytes of a field with its tag; 0 if it is absent. */
static size_t field_size(const kc__etcd_proto_field *field, const char *at)
{
    switch (field->type) {
    case KC__ETCD_PROTO_BOOL:
    case KC__ETCD_PROTO_INT32:
    case KC__ETCD_PROTO_INT64: {
        const uint64_t value = scalar_of(field, at);
        return value ? varint_size((uint64_t)field->number << 3) + varint_size(value) : 0;
    }
    case KC__ETCD_PROTO_BYTES: {
        const kc_str *s = (const kc_str *)(const void *)at;
        return s->n ? delimited_size(field, s->n) : 0;
    }
    case KC__ETCD_PROTO_PRESENT_BYTES: {
        const kc_str *s = (const kc_str *)(const void *)at;
        return s->p ? delimited_size(field, s->n) : 0;
    }
    case KC__ETCD_PROTO_STRUCT: {
        const void *nested = nested_of(at);
        return nested ? delimited_size(field, message_size(field->message, nested)) : 0;
    }
    case KC__ETCD_PROTO_BYTES_LIST:
    case KC__ETCD_PROTO_STRUCT_LIST: return list_size(field, proto_list_of(at));
    }
    return 0;
}

static size_t message_size(const kc__etcd_proto_message *table, const void *message)
{
    size_t size = 0;
    for (size_t i = 0; i < table->n_fields; i++)
        size += field_size(&table->fields[i], (const char *)message + table->fields[i].offset);
    return size;
}

static void put_tag(kc_buf *out, const kc__etcd_proto_field *field, unsigned wire_type)
{
    put_varint(out, (uint64_t)field->number << 3 | wire_type);
}

static void put_bytes(kc_buf *out, const kc__etcd_proto_field *field, kc_str bytes)
{
    put_tag(out, field, DELIMITED);
    put_varint(out, bytes.n);
    kc_buf_append(out, bytes);
}

static void put_message(kc_buf *out, const kc__etcd_proto_message *table, const void *message);

static void put_nested(kc_buf *out, const kc__etcd_proto_field *field, const void *nested)
{
    put_tag(out, field, DELIMITED);
    put_varint(out, message_size(field->message, nested));
    put_message(out, field->message, nested);
}

static void put_list(kc_buf *out, const kc__etcd_proto_field *field, any_list list)
{
    for (size_t i = 0; i < list.n; i++) {
        if (field->type == KC__ETCD_PROTO_BYTES_LIST)
            put_bytes(out, field, ((const kc_str *)(const void *)list.items)[i]);
        else
            put_nested(out, field, list.items + i * field->message->size);
    }
}

/* A field that is present. */
static void put_field(kc_buf *out, const kc__etcd_proto_field *field, const char *at)
{
    switch (field->type) {
    case KC__ETCD_PROTO_BOOL:
    case KC__ETCD_PROTO_INT32:
    case KC__ETCD_PROTO_INT64:
        put_tag(out, field, VARINT);
        put_varint(out, scalar_of(field, at));
        break;
    case KC__ETCD_PROTO_BYTES:
    case KC__ETCD_PROTO_PRESENT_BYTES:
        put_bytes(out, field, *(const kc_str *)(const void *)at);
        break;
    case KC__ETCD_PROTO_STRUCT: put_nested(out, field, nested_of(at)); break;
    case KC__ETCD_PROTO_BYTES_LIST:
    case KC__ETCD_PROTO_STRUCT_LIST: put_list(out, field, proto_list_of(at)); break;
    }
}

/* Without walking what is nested. */
static bool is_present(const kc__etcd_proto_field *field, const char *at)
{
    switch (field->type) {
    case KC__ETCD_PROTO_STRUCT: return nested_of(at) != NULL;
    case KC__ETCD_PROTO_BYTES_LIST:
    case KC__ETCD_PROTO_STRUCT_LIST: return proto_list_of(at).n != 0;
    default: return field_size(field, at) != 0;
    }
}

static void put_message(kc_buf *out, const kc__etcd_proto_message *table, const void *message)
{
    for (size_t i = 0; i < table->n_fields; i++) {
        const kc__etcd_proto_field *field = &table->fields[i];
        const char *at = (const char *)message + field->offset;
        if (is_present(field, at))
            put_field(out, field, at);
    }
}

void kc__etcd_proto_encode(const kc__etcd_proto_message *table, const void *message, kc_buf *out)
{
    kc_buf_reserve(out, message_size(table, message));
    put_message(out, table, message);
}
