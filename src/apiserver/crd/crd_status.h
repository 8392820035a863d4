/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_status.h: what the server says of a definition: which of its names it got, and whether its
 * objects are served.
 *
 *     kc_scoped(kc__crd_names) taken = {0};
 *     …
 *     kc__crd_names_add(&taken, kc_view_root(view));            for each definition of its group
 *     kc_auto(kc_edit) *edit = kc_edit_of(crd);
 *     if (kc__crd_update_status(edit, kc_view_root(view), &taken, now))
 *         …                                                     the status is to be written
 *
 * In Kubernetes four controllers write the status one after the other; here it is one step, with
 * what stands there in the end.
 */
#ifndef KC_APISERVER_CRD_STATUS_H
#define KC_APISERVER_CRD_STATUS_H

#include "kc/arena.h"
#include "kc/edit.h"
#include "kc/map.h"
#include "kc/time.h"

/* The names that the definitions of a group have been given. A zeroed one is ready. */
typedef struct kc__crd_names {
    kc_map resources, kinds;
    kc_arena arena;
} kc__crd_names;

void kc__crd_names_done(kc__crd_names *names);
/* The accepted names of a definition, which may be the one whose status is made. */
void kc__crd_names_add(kc__crd_names *names, const kc_value *crd);

/*
 * Brings acceptedNames and the conditions NamesAccepted, Established, NonStructuralSchema and
 * KubernetesAPIApprovalPolicyConformant up to date. `edit` is of the definition `crd`. True when
 * something changed. When it did, others of the group may get names that are free now: the caller
 * makes their status anew.
 */
bool kc__crd_update_status(kc_edit *edit, const kc_value *crd, const kc__crd_names *taken,
                           kc_time now);

/* How far the deletion of a definition is. */
typedef enum kc__crd_deletion {
    KC__CRD_DELETION_PENDING, /* Asked for: it gets its finalizer, too. */
    KC__CRD_DELETION_RUNNING,
    KC__CRD_DELETION_FAILED, /* `why`: what the store said. */
    KC__CRD_DELETION_DONE,   /* Its finalizer goes. */
    KC__CRD_DELETION_UNUSED, /* The same; it never had objects. */
} kc__crd_deletion;

/* Sets the condition Terminating. `why` may be NULL. */
void kc__crd_set_deletion(kc_edit *edit, kc__crd_deletion how, const char *why, kc_time now);

/* Its objects are served; they are served, but none may be created any more. */
bool kc__crd_is_established(const kc_value *crd);
bool kc__crd_is_terminating(const kc_value *crd);

#endif
