/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto.h: protocol buffers, encoded from structs and decoded to structs by tables.
 *
 *     typedef struct lease { int64_t id; kc_str name; } lease;
 *     static const kc__etcd_proto_field fields[] = {
 *         KC__ETCD_PROTO_FIELD(1, lease, id),
 *         KC__ETCD_PROTO_FIELD(2, lease, name),
 *     };
 *     const kc__etcd_proto_message table = KC__ETCD_PROTO_MESSAGE("Lease", lease, fields);
 *
 * A field of a struct is a scalar, a slice, a pointer to a struct (NULL: absent), or a list of
 * slices or structs. The type of the member selects the wire type. A field with its zero value is
 * not encoded, as in proto3. Members of a oneof are pointers of which one is set.
 *
 * Decoded slices point into the message, decoded structs and lists are in the caller's arena. The
 * decoder reports malformed input with the field and its position, skips unknown fields, and
 * limits depth and the number of elements. Of a field that may occur once the last occurrence
 * counts. Any thread; nothing blocks.
 */
#ifndef KC_ETCD_PROTO_H
#define KC_ETCD_PROTO_H

#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/error.h"

#define KC__ETCD_PROTO_MAX_DEPTH    16u
#define KC__ETCD_PROTO_MAX_ELEMENTS ((size_t)1 << 24)
#define KC__ETCD_PROTO_MAX_FIELDS   16

typedef enum kc__etcd_proto_type {
    KC__ETCD_PROTO_BOOL,
    KC__ETCD_PROTO_INT32,         /* Enums, too. */
    KC__ETCD_PROTO_INT64,         /* int64 and uint64. */
    KC__ETCD_PROTO_BYTES,         /* bytes and string. */
    KC__ETCD_PROTO_PRESENT_BYTES, /* In a oneof: absent if its pointer is NULL, not if empty. */
    KC__ETCD_PROTO_BYTES_LIST,    /* kc__etcd_strs. */
    KC__ETCD_PROTO_STRUCT,        /* A pointer to a struct. */
    KC__ETCD_PROTO_STRUCT_LIST,   /* KC__ETCD_LIST of structs. */
} kc__etcd_proto_type;

typedef struct kc__etcd_proto_message kc__etcd_proto_message;

typedef struct kc__etcd_proto_field {
    uint32_t number;
    kc__etcd_proto_type type;
    size_t offset;                         /* In the struct. */
    const kc__etcd_proto_message *message; /* Of structs. */
} kc__etcd_proto_field;

struct kc__etcd_proto_message {
    const char *name; /* For errors. */
    size_t size;      /* Of the struct. */
    const kc__etcd_proto_field *fields;
    size_t n_fields; /* At most KC__ETCD_PROTO_MAX_FIELDS. */
};

/* A list in a message. All lists have this layout. */
#define KC__ETCD_LIST(type) \
    struct {                \
        const type *items;  \
        size_t n;           \
    }
typedef KC__ETCD_LIST(kc_str) kc__etcd_strs;

/* A row for a scalar, a slice or a list of slices: number, struct, member. */
#define KC__ETCD_PROTO_FIELD(field_number, type_name, member) \
    {.number = (field_number),                                \
     .type = _Generic(((type_name *)NULL)->member,            \
         bool: KC__ETCD_PROTO_BOOL,                           \
         int32_t: KC__ETCD_PROTO_INT32,                       \
         uint32_t: KC__ETCD_PROTO_INT32,                      \
         int64_t: KC__ETCD_PROTO_INT64,                       \
         uint64_t: KC__ETCD_PROTO_INT64,                      \
         kc_str: KC__ETCD_PROTO_BYTES,                        \
         kc__etcd_strs: KC__ETCD_PROTO_BYTES_LIST),           \
     .offset = offsetof(type_name, member)}
#define KC__ETCD_PROTO_PRESENT(field_number, type_name, member) \
    {.number = (field_number),                                  \
     .type = KC__ETCD_PROTO_PRESENT_BYTES,                      \
     .offset = offsetof(type_name, member)}
/* Rows for a struct and for a list of structs: number, struct, member, table of the inner struct.
 */
#define KC__ETCD_PROTO_NESTED(field_number, type_name, member, table) \
    {.number = (field_number),                                        \
     .type = KC__ETCD_PROTO_STRUCT,                                   \
     .offset = offsetof(type_name, member),                           \
     .message = &(table)}
#define KC__ETCD_PROTO_REPEATED(field_number, type_name, member, table) \
    {.number = (field_number),                                          \
     .type = KC__ETCD_PROTO_STRUCT_LIST,                                \
     .offset = offsetof(type_name, member),                             \
     .message = &(table)}
#define KC__ETCD_PROTO_MESSAGE(message_name, type_name, rows) \
    {.name = (message_name),                                  \
     .size = sizeof(type_name),                               \
     .fields = (rows),                                        \
     .n_fields = KC_COUNT(rows)}

/* Appends the encoded struct. */
void kc__etcd_proto_encode(const kc__etcd_proto_message *table, const void *message, kc_buf *out);

typedef struct kc__etcd_proto_limits {
    size_t max_elements; /* Structs and list elements in total. Defaults to
                            KC__ETCD_PROTO_MAX_ELEMENTS. */
} kc__etcd_proto_limits;

/*
 * Decodes `bytes` into a struct of `table`, which is set entirely. `limits` may be NULL. The result
 * points into `bytes` and `arena`. KC_BAD_REQUEST for malformed input, KC_TOO_LARGE beyond a limit
 * (also the arena's); the contents of *ret_message are undefined then.
 */
int kc__etcd_proto_decode(const kc__etcd_proto_message *table, kc_str bytes,
                          const kc__etcd_proto_limits *limits, kc_arena *arena, void *ret_message,
                          kc_error *err);

#endif
