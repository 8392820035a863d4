/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_patch.h: JSON merge patches (RFC 7396): a patch looks like the object, holds only what
 * changes, and null removes.
 *
 *     {"spec": {"replicas": 3, "paused": null}}
 *
 * Lists are replaced whole; strategic_patch.h merges them. As in a Kubernetes API server, and other
 * than in the RFC, null members of objects inside a list are dropped when the list is taken from
 * the patch (null elements are not), so that a patch never adds a null member. (Where the list
 * takes the place of an object it is taken as it is: a client may see that, so it is kept.)
 */
#ifndef KC_MERGE_PATCH_H
#define KC_MERGE_PATCH_H

#include "kc/edit.h"

/*
 * Merges the patch into the edit's tree. A patch that is no object becomes the root itself. Never
 * fails.
 */
void kc_merge_patch_apply(kc_edit *edit, const kc_value *patch);

typedef struct kc_merge_patch_opts {
    /* Members that the patch must not mention, such as "kind" or "metadata.name", ended by NULL:
     * if it does, making it fails. KC_UNCHANGED_IDENTITY is the usual list. Defaults to none. */
    const char *const *unchanged;
} kc_merge_patch_opts;

#define KC_UNCHANGED_IDENTITY ((const char *const[]){"apiVersion", "kind", "metadata.name", NULL})

/*
 * Two-way: an edit whose root is the patch that turns `from` into `to`, {} when they are equal.
 * What a merge patch cannot say is not in it: null members of `to` come out absent. NULL is taken
 * as an empty object, as opts may be. The caller frees the result. NULL on error: KC_INVALID when a
 * member of opts->unchanged changes, KC_BAD_REQUEST when an input is no object.
 */
kc_edit *kc_merge_patch_make(const kc_value *from, const kc_value *to,
                             const kc_merge_patch_opts *opts, kc_error *err);

/*
 * Three-way, as `kubectl apply` needs it: what turns `current` into `modified`, except that only
 * those members are removed which `original` (what was applied last) had and `modified` lacks.
 * What others added to `current` stays.
 */
kc_edit *kc_merge_patch_make3(const kc_value *original, const kc_value *modified,
                              const kc_value *current, const kc_merge_patch_opts *opts,
                              kc_error *err);

#endif
