/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto_decode.c: the decoder of protocol buffers: fills a struct by its table.
 *
 * A message is read twice: the first pass checks the structure of its fields and counts the
 * elements of its lists, the second one stores the values. So a list is one array, allocated once,
 * and its memory follows from elements that are really there.
 *
 * A known field with another wire type than the table says is refused, as gogo/protobuf does, which
 * etcd uses. Groups are refused.
 */
#include "etcd/proto.h"

#include <assert.h>

enum { VARINT = 0, FIXED64 = 1, DELIMITED = 2, FIXED32 = 5 };

typedef struct proto_decoder {
    const char *start; /* Of the outermost message, for positions. */
    size_t elements_left;
    kc_arena *arena;
    kc_error *err;
} proto_decoder;

/* One field on the wire. */
typedef struct wire_field {
    uint64_t number;
    unsigned type;
    uint64_t scalar;
    kc_str bytes;
} wire_field;

static int malformed(const proto_decoder *d, const kc__etcd_proto_message *table, const char *at,
                     const char *why)
{
    return kc_error_set(d->err, KC_BAD_REQUEST, "malformed %s at byte %zu: %s", table->name,
                        (size_t)(at - d->start), why);
}

static int too_large(const proto_decoder *d, const kc__etcd_proto_message *table)
{
    return kc_error_set(d->err, KC_TOO_LARGE, "%s has too many elements", table->name);
}

/* False at the end of the input, and for more than 64 bits. */
static bool take_varint(kc_str *rest, uint64_t *ret)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 10 && i < rest->n; i++) {
        const uint8_t byte = (uint8_t)rest->p[i];
        if (i == 9 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *rest = kc_str_sub(*rest, i + 1, rest->n);
            *ret = value;
            return true;
        }
    }
    return false;
}

static bool take_bytes(kc_str *rest, uint64_t n, kc_str *ret)
{
    if (n > rest->n)
        return false;
    *ret = kc_str_sub(*rest, 0, (size_t)n);
    *rest = kc_str_sub(*rest, (size_t)n, rest->n);
    return true;
}

static bool take_payload(kc_str *rest, wire_field *wire)
{
    uint64_t n;
    switch (wire->type) {
    case VARINT: return take_varint(rest, &wire->scalar);
    case FIXED64: return take_bytes(rest, 8, &wire->bytes);
    case FIXED32: return take_bytes(rest, 4, &wire->bytes);
    case DELIMITED: return take_varint(rest, &n) && take_bytes(rest, n, &wire->bytes);
    default: return false;
    }
}

/* NULL, or what is wrong. */
static const char *take_field(kc_str *rest, wire_field *ret)
{
    uint64_t tag;
    if (!take_varint(rest, &tag))
        return "invalid tag";
    *ret = (wire_field){.number = tag >> 3, .type = tag & 7};
    if (!ret->number || ret->number > UINT32_MAX >> 3)
        return "invalid field number";
    return take_payload(rest, ret) ? NULL : "truncated field, or unsupported wire type";
}

static const kc__etcd_proto_field *find_proto_field(const kc__etcd_proto_message *table,
                                                    uint64_t number)
{
    for (size_t i = 0; i < table->n_fields; i++)
        if (table->fields[i].number == number)
            return &table->fields[i];
    return NULL;
}

static unsigned wire_type_of(const kc__etcd_proto_field *field)
{
    return field->type <= KC__ETCD_PROTO_INT64 ? VARINT : DELIMITED;
}

static bool is_list(const kc__etcd_proto_field *field)
{
    return field->type == KC__ETCD_PROTO_BYTES_LIST || field->type == KC__ETCD_PROTO_STRUCT_LIST;
}

/* The first pass: checks each field, counts the elements of lists. */
static int count_elements(proto_decoder *d, const kc__etcd_proto_message *table, kc_str bytes,
                          size_t *counts)
{
    for (kc_str rest = bytes; rest.n;) {
        const char *at = rest.p;
        wire_field wire;
        const char *wrong = take_field(&rest, &wire);
        const kc__etcd_proto_field *field = wrong ? NULL : find_proto_field(table, wire.number);
        if (field && wire.type != wire_type_of(field))
            wrong = "wrong wire type";
        if (wrong)
            return malformed(d, table, at, wrong);
        if (field)
            counts[field - table->fields]++;
    }
    return 0;
}

static int allocate_lists(proto_decoder *d, const kc__etcd_proto_message *table,
                          const size_t *counts, char *message)
{
    for (size_t i = 0; i < table->n_fields; i++) {
        const kc__etcd_proto_field *field = &table->fields[i];
        const bool counted = is_list(field) || field->type == KC__ETCD_PROTO_STRUCT;
        if (counted && counts[i] > d->elements_left)
            return too_large(d, table);
        if (counted)
            d->elements_left -= counts[i];
        if (!is_list(field) || !counts[i])
            continue;
        const size_t size = field->message ? field->message->size : sizeof(kc_str);
        void *items = kc_arena_calloc(d->arena, counts[i], size);
        if (!items)
            return too_large(d, table);
        memcpy(message + field->offset, &items, sizeof(items));
    }
    return 0;
}

static int decode_message(proto_decoder *d, const kc__etcd_proto_message *table, kc_str bytes,
                          char *message, unsigned depth);

/* The next element of a list; its array is large enough. */
static void *next_element(const kc__etcd_proto_field *field, char *at)
{
    struct {
        char *items;
        size_t n;
    } list;
    memcpy(&list, at, sizeof(list));
    const size_t size = field->message ? field->message->size : sizeof(kc_str);
    void *element = list.items + list.n++ * size;
    memcpy(at, &list, sizeof(list));
    return element;
}

static int store_struct(proto_decoder *d, const kc__etcd_proto_field *field, kc_str bytes, char *at,
                        unsigned depth)
{
    void *nested = kc_arena_calloc(d->arena, 1, field->message->size);
    if (!nested)
        return too_large(d, field->message);
    memcpy(at, &nested, sizeof(nested));
    return decode_message(d, field->message, bytes, nested, depth + 1);
}

static int store_field(proto_decoder *d, const kc__etcd_proto_field *field, const wire_field *wire,
                       char *at, unsigned depth)
{
    switch (field->type) {
    case KC__ETCD_PROTO_BOOL: *(bool *)at = wire->scalar != 0; return 0;
    case KC__ETCD_PROTO_INT32: *(uint32_t *)(void *)at = (uint32_t)wire->scalar; return 0;
    case KC__ETCD_PROTO_INT64: *(uint64_t *)(void *)at = wire->scalar; return 0;
    case KC__ETCD_PROTO_BYTES:
    case KC__ETCD_PROTO_PRESENT_BYTES: *(kc_str *)(void *)at = wire->bytes; return 0;
    case KC__ETCD_PROTO_BYTES_LIST: *(kc_str *)next_element(field, at) = wire->bytes; return 0;
    case KC__ETCD_PROTO_STRUCT: return store_struct(d, field, wire->bytes, at, depth);
    case KC__ETCD_PROTO_STRUCT_LIST:
        return decode_message(d, field->message, wire->bytes, next_element(field, at), depth + 1);
    }
    return 0;
}

/* The struct is zeroed. */
static int decode_message(proto_decoder *d, const kc__etcd_proto_message *table, kc_str bytes,
                          char *message, unsigned depth)
{
    size_t counts[KC__ETCD_PROTO_MAX_FIELDS] = {0};
    assert(table->n_fields <= KC_COUNT(counts));
    if (depth > KC__ETCD_PROTO_MAX_DEPTH)
        return kc_error_set(d->err, KC_TOO_LARGE, "%s is nested too deeply", table->name);
    if (count_elements(d, table, bytes, counts) < 0 ||
        allocate_lists(d, table, counts, message) < 0)
        return kc_error_result(d->err);
    for (kc_str rest = bytes; rest.n;) {
        wire_field wire;
        if (take_field(&rest, &wire))
            break; /* The first pass would have failed. */
        const kc__etcd_proto_field *field = find_proto_field(table, wire.number);
        if (field && store_field(d, field, &wire, message + field->offset, depth) < 0)
            return kc_error_result(d->err);
    }
    return 0;
}

int kc__etcd_proto_decode(const kc__etcd_proto_message *table, kc_str bytes,
                          const kc__etcd_proto_limits *limits, kc_arena *arena, void *ret_message,
                          kc_error *err)
{
    proto_decoder d = {.start = bytes.p, .arena = arena, .err = err};
    d.elements_left =
        limits && limits->max_elements ? limits->max_elements : KC__ETCD_PROTO_MAX_ELEMENTS;
    memset(ret_message, 0, table->size);
    return decode_message(&d, table, bytes, ret_message, 0);
}
