/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_internal.h: declarations shared by the files of the protobuf decoder.
 *
 *     protobuf.c            envelope, options, codec
 *     protobuf_wire.c       bytes to elements: a field number and a value each
 *     protobuf_message.c    elements of a message, by field, to a JSON object; lists and maps
 *     protobuf_scalar.c     one scalar value of a field to JSON
 *     protobuf_special.c    messages whose JSON is not an object: times, quantities …
 */
#ifndef KC_APISERVER_PROTOBUF_INTERNAL_H
#define KC_APISERVER_PROTOBUF_INTERNAL_H

#include "apiserver/codec/protobuf.h"
#include "kc/vec.h"

/* The wire type of a value: the lower three bits of the tag before it. */
typedef enum kc__protobuf_wire {
    KC__PROTOBUF_VARINT = 0,
    KC__PROTOBUF_FIXED64 = 1,
    KC__PROTOBUF_DELIMITED = 2,
    KC__PROTOBUF_FIXED32 = 5
} kc__protobuf_wire;

/* A value as encoded in the bytes. */
typedef struct kc__protobuf_element {
    uint32_t next; /* Next element of the same field: index in `elements` plus one; 0: none. */
    uint8_t wire;
    union {
        uint64_t number;
        kc_str bytes;
    };
} kc__protobuf_element;

/* The bytes of a message: one run, or (chain != 0) all elements of a chain, merged. */
typedef struct kc__protobuf_input {
    kc_str bytes;
    uint32_t chain;
} kc__protobuf_input;

/* One step of the path to the value being decoded. */
typedef struct kc__protobuf_step {
    const kc__type_field *field;
    size_t index; /* Index in a list; SIZE_MAX otherwise. */
} kc__protobuf_step;

/*
 * The state of one decoding. `elements` and `heads` are stacks: a message pushes its elements and
 * pops them after it has been written, so memory grows with the nesting of open messages, not with
 * the input. The arrays move when they grow, so the decoder keeps indexes, not pointers.
 */
typedef struct kc__protobuf_decoder {
    kc_buf out;
    KC_VEC(kc__protobuf_element) elements;
    KC_VEC(uint32_t) heads; /* First and last of the chain of each field of an open message. */
    kc__protobuf_step path[KC__PROTOBUF_MAX_DEPTH + 1];
    unsigned depth;
    size_t elements_left;
    bool has_unknown; /* A field was skipped. */
    kc_error *err;
} kc__protobuf_decoder;

/* The first four bytes of a body. */
kc_str kc__protobuf_magic(void);

/* Sets the error: the path, then the message. Returns negative. */
int kc__protobuf_fail(kc__protobuf_decoder *d, const char *fmt, ...) KC_PRINTF(2, 3);

/* Reads the element at the front of *rest, and its field number. Negative on error. */
int kc__protobuf_element_next(kc__protobuf_decoder *d, kc_str *rest, uint32_t *ret_number,
                              kc__protobuf_element *ret);
/* Reads the varint at the front of *rest. False when it does not end or exceeds 64 bits. */
bool kc__protobuf_varint_next(kc_str *rest, uint64_t *ret);
/* Reads the next number of a packed list, with the wire type e->wire. */
int kc__protobuf_packed_next(kc__protobuf_decoder *d, kc_str *rest, kc__protobuf_element *e);
/* Negative unless the element has this wire type. */
int kc__protobuf_element_expect(kc__protobuf_decoder *d, const kc__protobuf_element *e,
                                kc__protobuf_wire wire);

/* Reads the last value of each of the fields 1 to n of a message that has no type table; `wires`
 * are their wire types. Entries of absent fields in `ret` stay unchanged. */
int kc__protobuf_elements_read(kc__protobuf_decoder *d, kc__protobuf_input in,
                               const kc__protobuf_wire *wires, size_t n, kc__protobuf_element *ret);

/* Writes a message as {…}. With `root`, kind and apiVersion come first; NULL: not the root
 * object. */
typedef struct kc__protobuf_root {
    kc_str api_version, kind;
} kc__protobuf_root;
int kc__protobuf_write_message(kc__protobuf_decoder *d, const kc__type_message *message,
                               kc__protobuf_input in, const kc__protobuf_root *root);

kc__protobuf_wire kc__protobuf_scalar_wire(kc__type_field_kind kind);
int kc__protobuf_write_scalar(kc__protobuf_decoder *d, kc__type_field_kind kind,
                              const kc__protobuf_element *e);
/* Checks a string and writes it quoted. */
int kc__protobuf_write_string(kc__protobuf_decoder *d, kc_str text);

/* Whether a field kind is a special message, and the function that writes one. Empty input is
 * Go's zero value. */
bool kc__protobuf_is_special(kc__type_field_kind kind);
int kc__protobuf_write_special(kc__protobuf_decoder *d, kc__type_field_kind kind,
                               kc__protobuf_input in);

#endif
