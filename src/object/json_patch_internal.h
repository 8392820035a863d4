/* SPDX-License-Identifier: Apache-2.0 */
/* json_patch_internal.h: a JSON patch as json_patch.c reads it and json_patch_apply.c applies it.
 */
#ifndef KC_JSON_PATCH_INTERNAL_H
#define KC_JSON_PATCH_INTERNAL_H

#include "kc/json_patch.h"

/* Kinds of operations: name, whether it has a "from". To add one, add a line here and a row to the
 * table in json_patch_apply.c. */
#define KC__JSON_OPS(X)          \
    X(ADD, "add", false)         \
    X(REMOVE, "remove", false)   \
    X(REPLACE, "replace", false) \
    X(MOVE, "move", true)        \
    X(COPY, "copy", true)        \
    X(TEST, "test", false)

typedef enum kc__json_op_kind {
#define KC__JSON_OP_ENUM(name, text, has_from) KC__OP_##name,
    KC__JSON_OPS(KC__JSON_OP_ENUM)
#undef KC__JSON_OP_ENUM
        KC__N_OPS
} kc__json_op_kind;

typedef struct kc__json_op {
    kc__json_op_kind kind;
    kc_str path, from;     /* Pointers as they were written; empty or beginning with '/'. */
    const kc_value *value; /* NULL is null. */
} kc__json_op;

/* As much of a pointer as a message shows. */
static inline kc_str kc__shown(kc_str pointer)
{
    return kc_str_sub(pointer, 0, 256);
}

struct kc_json_patch {
    kc_view *view; /* What the operations point into, if it is the patch's own. */
    size_t max_copy_bytes;
    KC_VEC(kc__json_op) ops;
};

#endif
