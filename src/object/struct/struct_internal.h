/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct_internal.h: shared by the functions that traverse structs by their tables.
 *
 * A scalar type is a row of a table (struct_scalar.c): its size, and how to read, write and test
 * it. The traversals handle shapes (value, pointer, list, map) and structs. Each position holds one
 * value
 * (`…_one`): a scalar, a struct, or with KC_MEMBER_INNER again a member, at offset 0.
 */
#ifndef KC_OBJECT_STRUCT_INTERNAL_H
#define KC_OBJECT_STRUCT_INTERNAL_H

#include "kc/struct.h"

typedef struct kc__struct_scalar {
    size_t size;
    /* Decodes JSON; null was handled. Negative with a message that names the expected type. */
    int (*read)(const kc_value *value, const kc_member *member, kc_arena *arena, void *ret,
                kc_error *err);
    /* Appends JSON. */
    void (*write)(const void *from, const kc_member *member, kc_buf *out);
    bool (*is_empty)(const void *value);
} kc__struct_scalar;

/* Not for KC_MEMBER_STRUCT and KC_MEMBER_INNER. */
const kc__struct_scalar *kc__struct_scalar_of(const kc_member *member);
/* Size of one value of the member: a pointer's target, an item. */
size_t kc__struct_member_size(const kc_member *member);

/* A map's items are {char *key; value} pairs: the offset of the value, and the size of a pair. */
size_t kc__struct_pair_value_at(const kc_member *member);
size_t kc__struct_pair_size(const kc_member *member);

/* True if nothing in it would be written. */
bool kc__struct_is_empty(const kc_struct *type, const void *value);
bool kc__struct_member_is_empty(const kc_member *member, const void *base);
kc_object_meta *kc__struct_meta(const kc_struct *type, const void *value);

#endif
