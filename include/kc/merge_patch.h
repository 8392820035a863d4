/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_patch.h: JSON merge patches (RFC 7396). A patch has the shape of the object and contains
 * only changes; null removes a member.
 *
 *   {"spec": {"replicas": 3, "paused": null}}
 *
 * Lists are replaced as a whole; strategic_patch.h merges them. As in a Kubernetes API server, and
 * unlike the RFC, null members of objects inside a list of the patch are dropped (null elements are
 * not), so that a patch never adds a null member. Exception, as in Kubernetes: a list that replaces
 * an object is taken unchanged.
 */
#ifndef KC_MERGE_PATCH_H
#define KC_MERGE_PATCH_H

#include "kc/edit.h"

/*
 * Merges the patch into the edit's tree. A patch that is not an object becomes the root. Never
 * fails.
 */
void kc_merge_patch_apply(kc_edit *edit, const kc_value *patch);

typedef struct kc_merge_patch_opts {
    /* Members that the patch must not change, such as "kind" or "metadata.name", ended by NULL: if
     * it would, creating it fails. KC_UNCHANGED_IDENTITY is the usual list. Defaults to none. */
    const char *const *unchanged;
} kc_merge_patch_opts;

#define KC_UNCHANGED_IDENTITY ((const char *const[]){"apiVersion", "kind", "metadata.name", NULL})

/*
 * Two-way: an edit whose root is the patch that turns `from` into `to`, {} when they are equal. A
 * merge patch cannot express null members of `to`: they become absent. NULL counts as an empty
 * object; opts may be NULL. The caller frees the result. NULL on error: KC_INVALID when a member of
 * opts->unchanged changes, KC_BAD_REQUEST when an input is not an object.
 */
kc_edit *kc_merge_patch_make(const kc_value *from, const kc_value *to,
                             const kc_merge_patch_opts *opts, kc_error *err);

/*
 * Three-way, as in `kubectl apply`: the patch that turns `current` into `modified`, but removes
 * only members that `original` (the last applied state) contains and `modified` lacks. Members that
 * others added to `current` stay.
 */
kc_edit *kc_merge_patch_make3(const kc_value *original, const kc_value *modified,
                              const kc_value *current, const kc_merge_patch_opts *opts,
                              kc_error *err);

#endif
