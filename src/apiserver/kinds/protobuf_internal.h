/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_internal.h: shared by the files of the protobuf decoder.
 *
 *     protobuf.c            envelope, options, codec
 *     protobuf_wire.c       bytes to elements: a number and a value each
 *     protobuf_message.c    elements of a message, by field, to a JSON object; lists and maps
 *     protobuf_scalar.c     one value of a field to JSON
 *     protobuf_special.c    the same for messages whose JSON is no object: times, quantities …
 */
#ifndef KC_APISERVER_PROTOBUF_INTERNAL_H
#define KC_APISERVER_PROTOBUF_INTERNAL_H

#include "apiserver/kinds/protobuf.h"
#include "kc/vec.h"

/* How a value is laid out, the lower three bits of what stands before it. */
typedef enum kc__wire {
    KC__VARINT = 0,
    KC__FIXED64 = 1,
    KC__DELIMITED = 2,
    KC__FIXED32 = 5
} kc__wire;

/* A value as it stands in the bytes. */
typedef struct kc__element {
    uint32_t next; /* The next one of the same field: its place in `elements` plus one; 0: none. */
    uint8_t wire;
    union {
        uint64_t number;
        kc_str bytes;
    };
} kc__element;

/* Where a message's bytes are: one run, or (chain != 0) all elements of a chain, merged. */
typedef struct kc__input {
    kc_str bytes;
    uint32_t chain;
} kc__input;

/* Where the decoder is, for messages. */
typedef struct kc__step {
    const kc__field *field;
    size_t index; /* In a list; SIZE_MAX otherwise. */
} kc__step;

/*
 * One decoding. `elements` and `heads` are stacks: a message pushes its own, and takes them off
 * when it has been written, so memory grows with what is open, not with what was read. They move
 * when they grow: indexes, not pointers, are kept.
 */
typedef struct kc__decoder {
    kc_buf out;
    KC_VEC(kc__element) elements;
    KC_VEC(uint32_t) heads; /* Of each field of an open message, first and last of its chain. */
    kc__step path[KC__PROTOBUF_MAX_DEPTH + 1];
    unsigned depth;
    size_t elements_left;
    kc_error *err;
} kc__decoder;

/* Sets the error: the path, then the sentence. Negative. */
int kc__protobuf_fail(kc__decoder *d, const char *fmt, ...) KC_PRINTF(2, 3);

/* Takes the element at the front of *rest and its field number. Negative on error. */
int kc__element_next(kc__decoder *d, kc_str *rest, uint32_t *ret_number, kc__element *ret);
/* The varint at the front of *rest. False when it does not end, or does not fit 64 bits. */
bool kc__varint_next(kc_str *rest, uint64_t *ret);
/* The next number of a packed list, laid out as e->wire says. */
int kc__packed_next(kc__decoder *d, kc_str *rest, kc__element *e);
/* Negative unless the element is laid out so. */
int kc__element_expect(kc__decoder *d, const kc__element *e, kc__wire wire);

/* The last value of each of the fields 1 to n, of a message too small for a table; `wires` says how
 * they are laid out. Those not there keep what they had. */
int kc__elements_read(kc__decoder *d, kc__input in, const kc__wire *wires, size_t n,
                      kc__element *ret);

/* Writes {…}. `root` is written with kind and apiVersion first; NULL: it is not the root. */
typedef struct kc__root {
    kc_str api_version, kind;
} kc__root;
int kc__message_write(kc__decoder *d, const kc__message *message, kc__input in,
                      const kc__root *root);

kc__wire kc__scalar_wire(kc__field_kind kind);
int kc__scalar_write(kc__decoder *d, kc__field_kind kind, const kc__element *e);
/* A string, checked and quoted. */
int kc__string_write(kc__decoder *d, kc_str text);

/* Whether a field of this kind is such a message; writes one. An input without bytes is Go's zero.
 */
bool kc__is_special(kc__field_kind kind);
int kc__special_write(kc__decoder *d, kc__field_kind kind, kc__input in);

#endif
