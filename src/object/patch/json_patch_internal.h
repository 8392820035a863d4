/* SPDX-License-Identifier: Apache-2.0 */
/* json_patch_internal.h: a JSON patch as json_patch.c parses it and json_patch_apply.c applies it.
 */
#ifndef KC_JSON_PATCH_INTERNAL_H
#define KC_JSON_PATCH_INTERNAL_H

#include "kc/arena.h"
#include "kc/json_patch.h"
#include "kc/map.h"

/* Operations: name, whether it has a "from". To add one, add a line here and a row to the table in
 * json_patch_apply.c. */
#define KC__PATCH_OPS(X)         \
    X(ADD, "add", false)         \
    X(REMOVE, "remove", false)   \
    X(REPLACE, "replace", false) \
    X(MOVE, "move", true)        \
    X(COPY, "copy", true)        \
    X(TEST, "test", false)

typedef enum kc__patch_op_kind {
#define KC__PATCH_OP_ENUM(name, text, has_from) KC__PATCH_OP_##name,
    KC__PATCH_OPS(KC__PATCH_OP_ENUM)
#undef KC__PATCH_OP_ENUM
        KC__N_OPS
} kc__patch_op_kind;

typedef struct kc__patch_op {
    kc__patch_op_kind kind;
    kc_str path, from;     /* Pointers as written; empty or beginning with '/'. */
    const kc_value *value; /* NULL means null. */
} kc__patch_op;

/* The part of a pointer that a message shows. */
static inline kc_str kc__patch_shown_pointer(kc_str pointer)
{
    return kc_str_sub(pointer, 0, 256);
}

struct kc_json_patch {
    kc_view *view; /* The document of the operations, if the patch owns it. */
    size_t max_copy_bytes, max_result_bytes;
    KC_VEC(kc__patch_op) ops;
};

/* The state of one application. */
typedef struct kc__patch_applier {
    kc_edit *edit;
    const kc__patch_op *op;
    kc_map visited; /* Long containers, by the bytes of their node's address. */
    kc_arena arena; /* Of visits. */
    kc_buf token;   /* The unescaped token of the last target. */
    size_t copied, max_copy_bytes;
    size_t size, max_size; /* Upper bound of the document's text; max_size 0: not counted. */
    size_t steps_left;
    kc_error *err;
} kc__patch_applier;

/* The target of an operation. Valid until the next one is found. */
typedef struct kc__patch_target {
    kc_node *container; /* NULL: the whole document. */
    kc_str token;
    size_t depth; /* Number of tokens of the pointer. */
} kc__patch_target;

/* False when its container does not exist. */
bool kc__patch_find_target(kc__patch_applier *a, kc_str pointer, kc__patch_target *ret);
/* The value at the target. A missing member is NULL; a missing element is an error. */
int kc__patch_get_at(kc__patch_applier *a, const kc__patch_target *p, kc_node **ret);
int kc__patch_add_at(kc__patch_applier *a, const kc__patch_target *p, kc_node *value);
int kc__patch_replace_at(kc__patch_applier *a, const kc__patch_target *p, kc_node *value);
/* Not for the whole document. */
int kc__patch_remove_at(kc__patch_applier *a, const kc__patch_target *p);
void kc__patch_applier_done(kc__patch_applier *a);

#endif
