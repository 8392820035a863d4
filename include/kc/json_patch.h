/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_patch.h: JSON patches (RFC 6902), read once, applied any number of times, and made.
 *
 *     kc_auto(kc_json_patch) *patch = kc_json_patch_parse(body, NULL, err);
 *     if (!patch)
 *         return -1;
 *     kc_auto(kc_edit) *edit = kc_edit_of(object);
 *     if (kc_json_patch_apply(patch, edit, err) < 0)
 *         return -1;
 *     return kc_edit_freeze(edit, err);
 *
 * Where the RFC leaves room, and in the few places where clients of Kubernetes count on more than
 * it grants, this does what a Kubernetes API server does:
 *
 *   - an operation without a value has the value null;
 *   - `replace` of a member that is not there adds it; of an element that is not there, it fails;
 *   - `test` of a member that is not there succeeds for null;
 *   - an index may be negative and then counts from the end: -1 is the last element, and for `add`
 *     the place behind it, as "-" is.
 *
 * A path is empty (the whole document, which cannot be removed or moved) or begins with '/'.
 * Numbers are equal when their values are: 1 and 1.0.
 *
 * Errors name the operation by its index, from 0. Those of reading are KC_BAD_REQUEST (not a list
 * of objects, wrong types), KC_TOO_LARGE (too many operations) and KC_INVALID (an operation that
 * can never apply); those of applying are KC_INVALID.
 */
#ifndef KC_JSON_PATCH_H
#define KC_JSON_PATCH_H

#include "kc/edit.h"

#define KC_JSON_PATCH_MAX_OPERATIONS 10000u
#define KC_JSON_PATCH_MAX_COPY_BYTES ((size_t)3 << 20)

typedef struct kc_json_patch kc_json_patch;

typedef struct kc_json_patch_opts {
    size_t max_operations; /* Defaults to KC_JSON_PATCH_MAX_OPERATIONS. */
    size_t max_copy_bytes; /* Of text that all copy operations together may add. Defaults to
                              KC_JSON_PATCH_MAX_COPY_BYTES. */
    kc_paths *unknown;     /* If set, gets the path of each member that no operation has, such as
                              "[0].vlaue" (at most 100). They are ignored otherwise. */
    kc_json_opts json;     /* For kc_json_patch_parse: limits of the text, duplicate members. */
} kc_json_patch_opts;

/* From text; opts may be NULL. The caller frees the result. NULL on error. */
kc_json_patch *kc_json_patch_parse(kc_str json, const kc_json_patch_opts *opts, kc_error *err);
/* From a list of operations, which must live as long as the patch does. null is an empty list. */
kc_json_patch *kc_json_patch_of(const kc_value *operations, const kc_json_patch_opts *opts,
                                kc_error *err);
kc_json_patch *kc_json_patch_free(kc_json_patch *patch);
KC_AUTO_DEFINE(kc_json_patch, kc_json_patch_free)

/* Operations in it. */
size_t kc_json_patch_len(const kc_json_patch *patch);

/*
 * Changes the edit's tree. 0, or negative: then the tree holds what the operations before the
 * failed one did, and the edit is to be thrown away. Any number of threads may apply one patch,
 * each to its own edit. Ten thousand operations on an array or object of a million take a fraction
 * of a second.
 */
int kc_json_patch_apply(const kc_json_patch *patch, kc_edit *edit, kc_error *err);

/*
 * An edit whose root is a list of add, remove and replace operations that turn `from` into `to`;
 * empty when they are equal. Members are compared by name; of arrays, equal elements at the start
 * and at the end are left alone and the rest is matched in order. Where the operations would be
 * longer than 16 MiB, one replaces the whole document. NULL is taken as null. The caller frees the
 * result.
 */
kc_edit *kc_json_patch_make(const kc_value *from, const kc_value *to);

#endif
