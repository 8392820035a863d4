/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_internal.h: what the strategic_*.c files share.
 *
 *     strategic_apply.c      a patch into an object: $patch, $retainKeys, null, members
 *     strategic_list.c       lists into lists: by merge key, of values, $deleteFromPrimitiveList
 *     strategic_order.c      the order of a merged list: $setElementOrder
 *     strategic_key.c        what makes two elements of a list "the same"; errors about them
 *     strategic_make.c       the difference of two objects, as a patch
 *     strategic_make_list.c  the difference of two lists
 *     strategic_make3.c      three-way patches
 *     strategic_conflict.c   whether two patches contradict each other
 *
 * Inputs are values of views, never changed; what is made are nodes of an edit.
 */
#ifndef KC_STRATEGIC_INTERNAL_H
#define KC_STRATEGIC_INTERNAL_H

#include "object/patch_internal.h"

#include "kc/strategic_patch.h"

#define KC__PATCH         "$patch"
#define KC__RETAIN_KEYS   "$retainKeys"
#define KC__SET_ORDER     "$setElementOrder"
#define KC__DELETE_VALUES "$deleteFromPrimitiveList"

/* What one call works with. */
typedef struct kc__smp {
    kc_edit *edit; /* Of the result. */
    const kc_patch_schema *schema;
    /* Not a patch into an object, but a patch into another patch: directives and nulls are kept. */
    bool of_patches;
    kc_arena scratch; /* For keys; freed when the call ends. */
    kc_error *err;
} kc__smp;

/* Elements are known by keys: the text of their merge key's value, or of the element itself in a
 * list of values, with a letter before it that tells types apart. */
typedef KC_VEC(kc_str) kc__keys;

/* What the schema says about a member. `node` may be NULL: then it knows none. */
bool kc__smp_knows(kc__smp *s, const void *node, kc_str name, kc_patch_field *ret);
/* The same, with an error when it knows none. */
int kc__smp_field(kc__smp *s, const void *node, kc_str name, kc_patch_field *ret);
/* "$setElementOrder/finalizers" to "finalizers". False when it is not written like that. */
bool kc__smp_directive_field(kc_str directive, const char *prefix, kc_str *ret);

/* Apply. Each gives the merged node, which may be another than `old`; NULL on error. */
kc_node *kc__smp_object(kc__smp *s, kc_node *old, const kc_value *patch, const void *node);
/* `live`, if set, holds the keys of the old list and gets the live order that a $setElementOrder is
 * to go by: new elements take the places that deleted ones leave at the end. */
kc_node *kc__smp_list(kc__smp *s, kc_node *old, const kc_value *patch, kc_str name,
                      const kc_patch_field *field, kc__keys *live);
/* A part of the patch that has no old value, without null members and without what holds "$patch";
 * NULL when nothing is left. */
kc_node *kc__smp_adopt(kc__smp *s, const kc_value *value);
/* Removes the values from the list. */
int kc__smp_delete_values(kc__smp *s, kc_node *list, const kc_value *values);

/* What a list has as elements. Lists of lists and mixtures are errors. */
typedef enum kc__smp_kind { KC__NO_ELEMENTS, KC__VALUES, KC__OBJECTS } kc__smp_kind;

int kc__smp_kind_of(kc__smp *s, const kc_node *nodes, const kc_value *values, kc__smp_kind *ret);
int kc__smp_kind_of_values(kc__smp *s, const kc_value *a, const kc_value *b, kc__smp_kind *ret);

/* The key of an element; merge_key is empty in a list of values. */
int kc__smp_key(kc__smp *s, const kc_value *element, kc_str merge_key, kc_str *ret);
int kc__smp_key_of_node(kc__smp *s, const kc_node *element, kc_str merge_key, kc_str *ret);
/* Of all elements. *ret must be empty, and is the caller's to free, on failure too. */
int kc__smp_keys(kc__smp *s, const kc_value *list, kc_str merge_key, kc__keys *ret);
int kc__smp_keys_of_nodes(kc__smp *s, const kc__nodes *nodes, kc_str merge_key, kc__keys *ret);

/* Positions by key. Keys must outlive it. */
typedef struct kc__ranks {
    kc__keys few; /* Looked through when there are few, */
    kc_map many;  /* else position + 1 of the first with that key. */
} kc__ranks;

#define KC__NO_RANK SIZE_MAX

kc__ranks kc__ranks_of(const kc__keys *keys);
/* The first position with that key, or KC__NO_RANK. */
size_t kc__rank(const kc__ranks *ranks, kc_str key);
void kc__ranks_done(kc__ranks *ranks);

/* Order. */
kc__nodes kc__nodes_of(const kc_node *list);
void kc__list_fill(kc_node *list, const kc__nodes *nodes);
/*
 * Sorts merged elements: those in `wanted` in its order, the others in the order of `live`, and
 * both woven together so that others stay before those they stood before. keys[i] is of nodes[i].
 */
void kc__smp_arrange(kc__nodes *nodes, const kc__keys *keys, const kc__keys *wanted,
                     const kc__keys *live);
/* Carries out every $setElementOrder of a patch, together with the lists they are for. *ret_any
 * says whether there was one; the patch's members of those names are then done with. */
int kc__smp_set_orders(kc__smp *s, kc__fields *old, const kc_value *patch, kc__members *in_patch,
                       const void *node, bool *ret_any);

/* Errors, in Kubernetes' words. Each returns negative. */
int kc__smp_bad_type(kc__smp *s, kc_type wanted, kc_type got);
int kc__smp_no_merge_key(kc__smp *s, const kc_value *element, kc_str merge_key);
int kc__smp_bad_format(kc__smp *s, const char *of_what);

/* Make. */
typedef enum kc__smp_want {
    KC__WANT_CHANGES = 1,  /* Additions and changes. */
    KC__WANT_REMOVALS = 2, /* Null, "$patch": "delete", $deleteFromPrimitiveList. */
    KC__WANT_ORDER = 4,    /* $setElementOrder. */
    KC__WANT_KEYS = 8,     /* $retainKeys, for this object. */
} kc__smp_want;

/* The patch from one object to another, {} when they are equal; NULL on error. */
kc_node *kc__smp_diff(kc__smp *s, const kc_value *from, const kc_value *to, const void *node,
                      unsigned want);
/* Adds to the patch what makes one list of the other. */
int kc__smp_diff_list(kc__smp *s, kc_node *patch, kc_str name, const kc_value *from,
                      const kc_value *to, const kc_patch_field *field, unsigned want);

/* Whether two patches change the same thing in different ways: 1, 0, or negative on error. */
int kc__smp_conflict(kc__smp *s, const kc_value *a, const kc_value *b, const void *node);

#endif
