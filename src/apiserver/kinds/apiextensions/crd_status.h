/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_status.h: the status that the server writes for a CRD: which of its names are accepted, and
 * whether its objects are served.
 *
 *     kc_scoped(kc__crd_names) taken = {0};
 *     …
 *     kc__crd_names_add(&taken, kc_view_root(view));            for each CRD of its group
 *     kc_auto(kc_edit) *edit = kc_edit_of(crd);
 *     if (kc__crd_update_status(edit, kc_view_root(view), &taken, now))
 *         …                                                     the status must be written
 *
 * In Kubernetes four controllers write the status one after the other; here it is one step with the
 * same final result.
 */
#ifndef KC_APISERVER_CRD_STATUS_H
#define KC_APISERVER_CRD_STATUS_H

#include "kc/arena.h"
#include "kc/edit.h"
#include "kc/map.h"
#include "kc/time.h"

/* The accepted names of the CRDs of a group. The zero value is ready to use. */
typedef struct kc__crd_names {
    kc_map resources, kinds;
    kc_arena arena;
} kc__crd_names;

void kc__crd_names_done(kc__crd_names *names);
/* Adds the accepted names of a CRD, which may be the one whose status is computed. */
void kc__crd_names_add(kc__crd_names *names, const kc_value *crd);

/*
 * Updates acceptedNames and the conditions NamesAccepted, Established, NonStructuralSchema and
 * KubernetesAPIApprovalPolicyConformant. `edit` is an edit of the CRD `crd`. True if something
 * changed; then other CRDs of the group may get names that are free now, and the caller must update
 * their status again.
 */
bool kc__crd_update_status(kc_edit *edit, const kc_value *crd, const kc__crd_names *taken,
                           kc_time now);

/* The progress of the deletion of a CRD. */
typedef enum kc__crd_deletion {
    KC__CRD_DELETION_PENDING, /* Deletion requested; adds the finalizer. */
    KC__CRD_DELETION_RUNNING,
    KC__CRD_DELETION_FAILED, /* `why`: the error of the store. */
    KC__CRD_DELETION_DONE,   /* Removes the finalizer. */
    KC__CRD_DELETION_UNUSED, /* The same; the CRD never had objects. */
} kc__crd_deletion;

/* Sets the condition Terminating. `why` may be NULL. */
void kc__crd_set_deletion(kc_edit *edit, kc__crd_deletion how, const char *why, kc_time now);

/* Whether the group of the CRD is one of the server's own. An older version of this program
 * stored such a CRD. Its status reports the conflict, it is not served, and its objects are not
 * stored under the prefix of a built-in kind. */
bool kc__crd_group_is_builtin(const kc_value *crd);
/* Whether the objects of the CRD are served; whether they are served but no longer created. */
bool kc__crd_is_established(const kc_value *crd);
bool kc__crd_is_terminating(const kc_value *crd);

#endif
