/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct_internal.h: what walking structs by their tables shares.
 *
 * A scalar type is a line of a table (struct_scalar.c): its size, and how to read, write and judge
 * it. Shapes (value, pointer, list, map) and structs are the walkers' own. What a place holds is
 * one value (`…_one`): a scalar, a struct, or by KC_MEMBER_INNER a member again, at offset 0.
 */
#ifndef KC_OBJECT_STRUCT_INTERNAL_H
#define KC_OBJECT_STRUCT_INTERNAL_H

#include "kc/struct.h"

typedef struct kc__scalar {
    size_t size;
    /* From JSON; null was handled. Negative with a message that says what was expected. */
    int (*read)(const kc_value *value, const kc_member *member, kc_arena *arena, void *ret,
                kc_error *err);
    /* Appends JSON. */
    void (*write)(const void *from, const kc_member *member, kc_buf *out);
    bool (*is_empty)(const void *value);
} kc__scalar;

/* Of neither KC_MEMBER_STRUCT nor KC_MEMBER_INNER. */
const kc__scalar *kc__scalar_of(const kc_member *member);
/* Of one value of the member: what a pointer points to, an item. */
size_t kc__member_size(const kc_member *member);

/* A map's items are {char *key; value} pairs: where the value stands, and how long a pair is. */
size_t kc__pair_value_at(const kc_member *member);
size_t kc__pair_size(const kc_member *member);

/* Whether anything in it would be written. */
bool kc__struct_is_empty(const kc_struct *type, const void *value);
bool kc__member_is_empty(const kc_member *member, const void *base);
kc_object_meta *kc__struct_meta(const kc_struct *type, const void *value);

#endif
