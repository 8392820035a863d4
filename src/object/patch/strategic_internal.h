/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_internal.h: shared by the strategic_*.c files.
 *
 *     strategic_apply.c      a patch into an object: $patch, $retainKeys, null, members
 *     strategic_list.c       lists into lists: by merge key, of values, $deleteFromPrimitiveList
 *     strategic_order.c      the order of a merged list: $setElementOrder
 *     strategic_key.c        keys that identify elements of a list; errors about them
 *     strategic_make.c       the difference of two objects, as a patch
 *     strategic_make_list.c  the difference of two lists
 *     strategic_make3.c      three-way patches
 *     strategic_conflict.c   detects conflicts of two patches
 *
 * Inputs are values of views and never change; results are nodes of an edit.
 */
#ifndef KC_STRATEGIC_INTERNAL_H
#define KC_STRATEGIC_INTERNAL_H

#include "object/patch/patch_internal.h"

#include "kc/strategic_patch.h"

#define KC__STRATEGIC_PATCH         "$patch"
#define KC__STRATEGIC_RETAIN_KEYS   "$retainKeys"
#define KC__STRATEGIC_SET_ORDER     "$setElementOrder"
#define KC__STRATEGIC_DELETE_VALUES "$deleteFromPrimitiveList"

/* The state of one call. */
typedef struct kc__strategic_patcher {
    kc_edit *edit; /* Of the result. */
    const kc_patch_schema *schema;
    /* Merge a patch into another patch, not into an object: keep directives and nulls. */
    bool of_patches;
    kc_arena scratch; /* For keys; freed when the call ends. */
    kc_error *err;
} kc__strategic_patcher;

/* Keys identify elements: the text of the merge key's value, or of the element itself in a list of
 * values, with a letter for its type before it. */
typedef KC_VEC(kc_str) kc__strategic_key_vec;

/* The schema of a member. `node` may be NULL: it then has no members. */
bool kc__strategic_knows(kc__strategic_patcher *s, const void *node, kc_str name,
                         kc_patch_field *ret);
/* The same, with an error when the member is unknown. */
int kc__strategic_field(kc__strategic_patcher *s, const void *node, kc_str name,
                        kc_patch_field *ret);
/* "$setElementOrder/finalizers" to "finalizers". False when the directive has another form. */
bool kc__strategic_directive_field(kc_str directive, const char *prefix, kc_str *ret);

/* Apply. Each returns the merged node, which may differ from `old`; NULL on error. */
kc_node *kc__strategic_object(kc__strategic_patcher *s, kc_node *old, const kc_value *patch,
                              const void *node);
/* `live`, if set, contains the keys of the old list and receives the live order for a
 * $setElementOrder: new elements take the positions of deleted ones at the end. */
kc_node *kc__strategic_list(kc__strategic_patcher *s, kc_node *old, const kc_value *patch,
                            kc_str name, const kc_patch_field *field, kc__strategic_key_vec *live);
/* A part of the patch without an old value, without null members and without values that contain
 * "$patch"; NULL when nothing is left. */
kc_node *kc__strategic_adopt(kc__strategic_patcher *s, const kc_value *value);
/* Removes the values from the list. */
int kc__strategic_delete_values(kc__strategic_patcher *s, kc_node *list, const kc_value *values);

/* The type of a list's elements. Lists of lists and mixed lists are errors. */
typedef enum kc__strategic_kind {
    KC__STRATEGIC_NO_ELEMENTS,
    KC__STRATEGIC_VALUES,
    KC__STRATEGIC_OBJECTS
} kc__strategic_kind;

int kc__strategic_kind_of(kc__strategic_patcher *s, const kc_node *nodes, const kc_value *values,
                          kc__strategic_kind *ret);
int kc__strategic_kind_of_values(kc__strategic_patcher *s, const kc_value *a, const kc_value *b,
                                 kc__strategic_kind *ret);

/* The key of an element; merge_key is empty in a list of values. */
int kc__strategic_key(kc__strategic_patcher *s, const kc_value *element, kc_str merge_key,
                      kc_str *ret);
int kc__strategic_key_of_node(kc__strategic_patcher *s, const kc_node *element, kc_str merge_key,
                              kc_str *ret);
/* The keys of all elements. *ret must be empty; the caller frees it, on failure, too. */
int kc__strategic_keys(kc__strategic_patcher *s, const kc_value *list, kc_str merge_key,
                       kc__strategic_key_vec *ret);
int kc__strategic_keys_of_nodes(kc__strategic_patcher *s, const kc__patch_node_vec *nodes,
                                kc_str merge_key, kc__strategic_key_vec *ret);

/* Positions by key. Keys must outlive it. */
typedef struct kc__strategic_ranks {
    kc__strategic_key_vec few; /* Searched if there are few, */
    kc_map many;               /* else position + 1 of the first with that key. */
} kc__strategic_ranks;

#define KC__STRATEGIC_NO_RANK SIZE_MAX

kc__strategic_ranks kc__strategic_ranks_of(const kc__strategic_key_vec *keys);
/* The first position with that key, or KC__STRATEGIC_NO_RANK. */
size_t kc__strategic_rank(const kc__strategic_ranks *ranks, kc_str key);
void kc__strategic_ranks_done(kc__strategic_ranks *ranks);

/* Order. */
kc__patch_node_vec kc__strategic_nodes_of(const kc_node *list);
void kc__strategic_list_fill(kc_node *list, const kc__patch_node_vec *nodes);
/*
 * Sorts merged elements: those in `wanted` in its order, the others in the order of `live`, and
 * interleaves both so that the others stay before the elements they preceded. keys[i] belongs to
 * nodes[i].
 */
void kc__strategic_arrange(kc__patch_node_vec *nodes, const kc__strategic_key_vec *keys,
                           const kc__strategic_key_vec *wanted, const kc__strategic_key_vec *live);
/* Executes every $setElementOrder of a patch and merges their lists. *ret_any says whether there
 * was one; the patch's members of those names are then done. */
int kc__strategic_set_orders(kc__strategic_patcher *s, kc__node_fields *old, const kc_value *patch,
                             kc__value_members *in_patch, const void *node, bool *ret_any);

/* Errors, with Kubernetes' messages. Each returns a negative number. */
int kc__strategic_bad_type(kc__strategic_patcher *s, kc_json_type wanted, kc_json_type got);
int kc__strategic_no_merge_key(kc__strategic_patcher *s, const kc_value *element, kc_str merge_key);
int kc__strategic_bad_format(kc__strategic_patcher *s, const char *of_what);

/* Make. */
typedef enum kc__strategic_want {
    KC__STRATEGIC_WANT_CHANGES = 1,  /* Additions and changes. */
    KC__STRATEGIC_WANT_REMOVALS = 2, /* Null, "$patch": "delete", $deleteFromPrimitiveList. */
    KC__STRATEGIC_WANT_ORDER = 4,    /* $setElementOrder. */
    KC__STRATEGIC_WANT_KEYS = 8,     /* $retainKeys, for this object. */
} kc__strategic_want;

/* The patch from one object to another, {} when they are equal; NULL on error. */
kc_node *kc__strategic_diff(kc__strategic_patcher *s, const kc_value *from, const kc_value *to,
                            const void *node, unsigned want);
/* Adds the difference of two lists to the patch. */
int kc__strategic_diff_list(kc__strategic_patcher *s, kc_node *patch, kc_str name,
                            const kc_value *from, const kc_value *to, const kc_patch_field *field,
                            unsigned want);

/* Returns 1 when two patches change the same value differently, else 0; negative on error. */
int kc__strategic_conflict(kc__strategic_patcher *s, const kc_value *a, const kc_value *b,
                           const void *node);

#endif
