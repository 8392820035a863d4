/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_patch.h: JSON patches (RFC 6902): parsed once, applied any number of times, and created.
 *
 *     kc_auto(kc_json_patch) *patch = kc_json_patch_parse(body, NULL, err);
 *     if (!patch)
 *         return kc_error_result(err);
 *     kc_auto(kc_edit) *edit = kc_edit_of(object);
 *     if (kc_json_patch_apply(patch, edit, err) < 0)
 *         return kc_error_result(err);
 *     return kc_edit_freeze(edit, err);
 *
 * Where the RFC leaves room, and in the few places where Kubernetes clients rely on more than the
 * RFC grants, this implementation does what a Kubernetes API server does:
 *
 *   - an operation without a value has the value null;
 *   - `replace` of a missing member adds it; of a missing element, it fails;
 *   - `test` of a missing member succeeds for null;
 *   - an index may be negative and then counts from the end: -1 is the last element, and for `add`
 *     the position behind it, as "-" is.
 *
 * A path is empty (the whole document, which cannot be removed or moved) or begins with '/'.
 * Numbers are compared by value: 1 equals 1.0.
 *
 * Errors name the operation by its index, from 0. Parsing fails with KC_BAD_REQUEST (not a list of
 * objects, wrong types), KC_TOO_LARGE (too many operations) or KC_INVALID (an operation that can
 * never apply). Applying fails with KC_INVALID, or with KC_TOO_LARGE for a document that grows
 * beyond opts->max_result_bytes.
 */
#ifndef KC_JSON_PATCH_H
#define KC_JSON_PATCH_H

#include "kc/edit.h"

#define KC_JSON_PATCH_MAX_OPERATIONS 10000u
#define KC_JSON_PATCH_MAX_COPY_BYTES ((size_t)3 << 20)

typedef struct kc_json_patch kc_json_patch;

typedef struct kc_json_patch_opts {
    size_t max_operations;   /* Defaults to KC_JSON_PATCH_MAX_OPERATIONS. */
    size_t max_copy_bytes;   /* Bytes of text that all copy operations together may add. Defaults to
                              * KC_JSON_PATCH_MAX_COPY_BYTES. */
    size_t max_result_bytes; /* Approximate bytes of the patched document, after each operation;
                              * above: KC_TOO_LARGE. Defaults to no limit. */
    kc_paths *unknown; /* If set, receives the path of each unknown member, such as "[0].vlaue" (at
                        * most 100). Unknown members are ignored otherwise. */
    kc_json_opts json; /* For kc_json_patch_parse: limits of the text, duplicate members. */
} kc_json_patch_opts;

/* Parses text; opts may be NULL. The caller frees the result. NULL on error. */
kc_json_patch *kc_json_patch_parse(kc_str json, const kc_json_patch_opts *opts, kc_error *err);
/* From a list of operations, which must live as long as the patch. null is an empty list. */
kc_json_patch *kc_json_patch_of(const kc_value *operations, const kc_json_patch_opts *opts,
                                kc_error *err);
kc_json_patch *kc_json_patch_free(kc_json_patch *patch);
KC_AUTO_DEFINE(kc_json_patch, kc_json_patch_free)

/* The number of operations. */
size_t kc_json_patch_len(const kc_json_patch *patch);

/*
 * Applies the patch to the edit's tree. On error the tree contains the effects of the operations
 * before the failed one: discard the edit. Any number of threads may apply one patch, each to its
 * own edit. Ten thousand operations on an array or object of a million take a fraction of a second.
 */
int kc_json_patch_apply(const kc_json_patch *patch, kc_edit *edit, kc_error *err);

/*
 * Creates an edit whose root is a list of add, remove and replace operations that turn `from` into
 * `to`; empty when they are equal. Members are compared by name; in arrays, equal elements at the
 * start and at the end stay and the rest is matched in order. If the operations would exceed 16
 * MiB, one operation replaces the whole document. NULL counts as null. The caller frees the result.
 */
kc_edit *kc_json_patch_make(const kc_value *from, const kc_value *to);

#endif
