/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_encode.c: encodes an object of a built-in kind as Kubernetes stores it.
 *
 *     6b 38 73 00 │ 1 typeMeta {1 apiVersion, 2 kind}   2 raw   3 ""   4 ""
 *
 * The bytes are those that Go writes for the same object: fields in the order of their numbers,
 * numbers, strings and structs also when they are zero, pointers and lists only when they are set,
 * maps sorted by key. So kube-apiserver finds the value that it would have written itself, and
 * recognizes a write that changes nothing.
 *
 * A nested message is written in place. One byte is reserved for its length; where that is not
 * enough, the message is moved. protobuf_encode_value.c encodes single values.
 */
#include "apiserver/codec/protobuf_encode_internal.h"

/* ---- elements ---- */

void kc__protobuf_put_varint(kc_buf *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        kc_buf_putc(out, (char)(number | 0x80));
    kc_buf_putc(out, (char)number);
}

void kc__protobuf_put_tag(kc_buf *out, uint32_t number, kc__protobuf_wire wire)
{
    kc__protobuf_put_varint(out, (uint64_t)number << 3 | (unsigned)wire);
}

void kc__protobuf_put_bytes(kc_buf *out, uint32_t number, kc_str bytes)
{
    kc__protobuf_put_tag(out, number, KC__PROTOBUF_DELIMITED);
    kc__protobuf_put_varint(out, bytes.n);
    kc_buf_append(out, bytes);
}

size_t kc__protobuf_begin(kc_buf *out, uint32_t number)
{
    kc__protobuf_put_tag(out, number, KC__PROTOBUF_DELIMITED);
    kc_buf_putc(out, 0);
    return out->n;
}

static size_t varint_size(uint64_t number)
{
    size_t n = 1;
    for (; number >= 0x80; number >>= 7)
        n++;
    return n;
}

void kc__protobuf_end(kc_buf *out, size_t start)
{
    if (out->failed)
        return;
    const size_t length = out->n - start, more = varint_size(length) - 1;
    if (more && !kc_buf_reserve(out, more))
        return;
    memmove(out->p + start + more, out->p + start, length);
    out->n = start - 1;
    kc__protobuf_put_varint(out, length);
    out->n += length;
}

/* ---- fields ---- */

static int encode_list(kc__protobuf_encoder *e, const kc__type_field *field, const kc_value *list)
{
    kc_value_each_item (list, item) {
        const int r = kc__protobuf_encode_value(e, field, field->number, item);
        if (r < 0)
            return r;
    }
    return 0;
}

typedef struct encoded_entry {
    kc_str key;
    const kc_value *value;
} encoded_entry;

typedef KC_VEC(encoded_entry) encoded_entries;

static void encoded_entries_done(encoded_entries *all)
{
    kc_vec_done(all);
}

static int compare_encoded(const void *a, const void *b)
{
    return kc_str_cmp(((const encoded_entry *)a)->key, ((const encoded_entry *)b)->key);
}

/* An entry is a message of key and value. Bytes that are null are absent. */
static int encode_map(kc__protobuf_encoder *e, const kc__type_field *field, const kc_value *map)
{
    kc_scoped(encoded_entries) all = {0};
    kc_value_each_member (map, name, value)
        kc_vec_push(&all, (encoded_entry){name, value});
    kc_vec_sort(&all, compare_encoded);
    kc_vec_each (&all, entry) {
        const bool none = field->kind == KC__FIELD_BYTES && !kc__protobuf_is_set(entry->value);
        const size_t start = kc__protobuf_begin(e->out, field->number);
        kc__protobuf_put_bytes(e->out, 1, entry->key);
        const int r = none ? 0 : kc__protobuf_encode_value(e, field, 2, entry->value);
        if (r < 0)
            return r;
        kc__protobuf_end(e->out, start);
    }
    return 0;
}

static bool has_member_of(const kc__type_message *message, const kc_value *object)
{
    kc_value_each_member (object, name, value)
        if (kc__protobuf_is_set(value) && kc__type_message_field(message, name))
            return true;
    return false;
}

/* The members of an embedded struct are those of its parent. */
static int encode_inline(kc__protobuf_encoder *e, const kc__type_field *field,
                         const kc_value *parent)
{
    if ((field->marks & KC__POINTER) && !has_member_of(field->message, parent))
        return 0;
    return kc__protobuf_encode_value(e, field, field->number, parent);
}

static int encode_field(kc__protobuf_encoder *e, const kc__type_field *field,
                        const kc_value *parent)
{
    if (field->marks & KC__INLINE)
        return encode_inline(e, field, parent);
    const kc_value *value = kc_value_get_str(parent, field->name);
    if (value == e->left_out)
        value = NULL;
    const bool is_nil = field->marks & KC__POINTER || field->kind == KC__FIELD_BYTES ||
                        field->kind == KC__FIELD_LIST || field->shape != KC__SINGLE;
    if (is_nil && !kc__protobuf_is_set(value))
        return 0;
    if (field->shape == KC__REPEATED)
        return encode_list(e, field, value);
    if (field->shape == KC__MAPPED)
        return encode_map(e, field, value);
    return kc__protobuf_encode_value(e, field, field->number, value);
}

int kc__protobuf_encode_message(kc__protobuf_encoder *e, const kc__type_message *message,
                                const kc_value *value)
{
    if (e->depth >= KC__PROTOBUF_MAX_DEPTH)
        return kc_error_set(e->err, KC_BAD_REQUEST, "protobuf: nested too deeply");
    if (kc__protobuf_is_set(value) && kc_value_type(value) != KC_JSON_OBJECT)
        return kc_error_set(e->err, KC_BAD_REQUEST, "protobuf: %s is not an object",
                            message->go_name);
    e->depth++;
    for (size_t i = 0; i < message->n_fields; i++) {
        const kc__type_field *field = &message->fields[message->by_number[i]];
        const int r = field->number ? encode_field(e, field, value) : 0;
        if (r < 0)
            return r;
    }
    e->depth--;
    return 0;
}

/* ---- the envelope ---- */

static void encode_type(kc_buf *out, kc_str api_version, kc_str kind)
{
    const size_t start = kc__protobuf_begin(out, 1);
    kc__protobuf_put_bytes(out, 1, api_version);
    kc__protobuf_put_bytes(out, 2, kind);
    kc__protobuf_end(out, start);
}

int kc__protobuf_encode(const kc_object *object, const kc__type_message *type, kc_str api_version,
                        kc_buf *out, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    kc__protobuf_encoder e = {
        .out = out,
        .left_out = kc_value_nested(root, "metadata.resourceVersion"),
        .err = err,
    };
    const size_t before = out->n;
    kc_buf_append(out, kc__protobuf_magic());
    encode_type(out, api_version, kc_object_kind(object));
    const size_t raw = kc__protobuf_begin(out, 2);
    if (kc__protobuf_encode_message(&e, type, root) < 0) {
        out->n = before;
        return kc_error_result(err);
    }
    kc__protobuf_end(out, raw);
    kc__protobuf_put_bytes(out, 3, (kc_str){0});
    kc__protobuf_put_bytes(out, 4, (kc_str){0});
    if (!out->failed)
        return 0;
    out->n = before;
    return kc_error_set(err, KC_TOO_LARGE, "protobuf: the object is too large");
}
