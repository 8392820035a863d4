/* SPDX-License-Identifier: Apache-2.0 */
/* json_patch_internal.h: a JSON patch as json_patch.c reads it and json_patch_apply.c applies it.
 */
#ifndef KC_JSON_PATCH_INTERNAL_H
#define KC_JSON_PATCH_INTERNAL_H

#include "kc/arena.h"
#include "kc/json_patch.h"
#include "kc/map.h"

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

/* What one application works with. */
typedef struct kc__applier {
    kc_edit *edit;
    const kc__json_op *op;
    kc_map visited; /* Long containers, by the bytes of their node's address. */
    kc_arena arena; /* Of visits. */
    kc_buf token;   /* The unescaped token of the place that was found last. */
    size_t copied, max_copy_bytes;
    size_t steps_left;
    kc_error *err;
} kc__applier;

/* Where an operation works. Good until the next one is found. */
typedef struct kc__place {
    kc_node *container; /* NULL: the whole document. */
    kc_str token;
    size_t depth; /* Tokens of the pointer. */
} kc__place;

/* False when there is no container for it. */
bool kc__find_place(kc__applier *a, kc_str pointer, kc__place *ret);
/* The value there. A member that is not there is NULL; an element must be there. */
int kc__get_at(kc__applier *a, const kc__place *p, kc_node **ret);
int kc__add_at(kc__applier *a, const kc__place *p, kc_node *value);
int kc__replace_at(kc__applier *a, const kc__place *p, kc_node *value);
/* Not of the whole document. */
int kc__remove_at(kc__applier *a, const kc__place *p);
void kc__applier_done(kc__applier *a);

#endif
