/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_encode_internal.h: declarations shared by the files of the protobuf encoder.
 *
 *     protobuf_encode.c         envelope, messages, lists, maps
 *     protobuf_encode_value.c   one value: scalars, and messages whose JSON is not an object
 *     protobuf_graft.c          unknown fields of an older value in a new one
 */
#ifndef KC_APISERVER_PROTOBUF_ENCODE_INTERNAL_H
#define KC_APISERVER_PROTOBUF_ENCODE_INTERNAL_H

#include "apiserver/codec/protobuf_internal.h"
#include "kc/view.h"

typedef struct kc__protobuf_encoder {
    kc_buf *out;
    const kc_value *left_out; /* The resource version, which is not stored. */
    unsigned depth;
    kc_error *err;
} kc__protobuf_encoder;

static inline bool kc__protobuf_is_set(const kc_value *value)
{
    return value && kc_value_type(value) != KC_JSON_NULL;
}

/* Append a number, the tag of an element, and a whole element. */
void kc__protobuf_put_varint(kc_buf *out, uint64_t number);
void kc__protobuf_put_tag(kc_buf *out, uint32_t number, kc__protobuf_wire wire);
void kc__protobuf_put_bytes(kc_buf *out, uint32_t number, kc_str bytes);
/* Begins an element with a length; the result is for kc__protobuf_end, after its contents. */
size_t kc__protobuf_begin(kc_buf *out, uint32_t number);
void kc__protobuf_end(kc_buf *out, size_t start);

/* The contents of a message. NULL is its zero value. */
int kc__protobuf_encode_message(kc__protobuf_encoder *e, const kc__type_message *message,
                                const kc_value *value);
/* One element: a single field, an item of a list, or the value of a map. NULL is the zero value. */
int kc__protobuf_encode_value(kc__protobuf_encoder *e, const kc__type_field *field, uint32_t number,
                              const kc_value *value);

#endif
